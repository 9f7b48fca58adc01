"""The decisions of `index`, as a table."""

from __future__ import annotations

from filbert.model.statuses import PageStatus
from filbert.rules.index import CLEANED, UNTRUE, IndexRules, decisions, documents_sql, untrue_sql


def test_decisions_in_nutch_order() -> None:
    """With everything on, the decisions stand in the order of Nutch's reduce."""
    every = IndexRules(
        delete=True, delete_noindex=True, delete_failed_parse=True, skip_notmodified=True
    )
    got = [one.verdict for one in decisions(every)]
    assert got == [
        "delete_noindex",
        "delete_parse_failed",
        "delete_gone",
        "delete_redirect",
        "delete_orphan",
        "delete_duplicate",
        "skip_not_fetched",
        "skip_not_parsed",
        "skip_not_modified",
        "skip_parse_failed",
        "skip_no_text",
    ]


def test_nothing_is_deleted_unless_asked() -> None:
    """Without settings pages are only added or skipped, as in Nutch without -deleteGone."""
    got = {one.verdict.partition("_")[0] for one in decisions(IndexRules())}
    assert got == {"skip"}


def test_each_segment_has_its_views() -> None:
    """The nth segment is read from the views with its number, under its own name."""
    sql = documents_sql(["20260101000000", "20260102000000"], IndexRules(), 4)
    got = [view in sql for view in ("fetch_1", "rows_1", "data_1", "text_1", "'20260102000000'")]
    assert got == [True] * 5


def test_cleaned_are_untrue() -> None:
    """What `clean` deletes is a part of what may not be in the index, each with a reason."""
    got = (set(CLEANED) <= set(UNTRUE), PageStatus.DB_FETCHED in UNTRUE, "'gone'" in untrue_sql())
    assert got == (True, False, True)
