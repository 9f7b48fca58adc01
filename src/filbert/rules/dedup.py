"""Which of several equal pages stays, as SQL.

Guarantee: a page that is strictly worse than another of its group by the criteria is marked, one
that nothing tells apart from the best is not: where Nutch's result does not depend on the order in
which pages come, ours is Nutch's. The same pages give the same marks.
Source: Nutch `DeduplicationJob`; the fold of its reducer is written down in tests/rules.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.model.schemas import CRAWLDB, TableSchema
from filbert.model.statuses import PageStatus
from filbert.rules.sql import literal, render

if TYPE_CHECKING:
    from filbert.settings.dedup import DedupSettings

__all__ = ["DUPLICATES", "duplicates", "mark"]

DUPLICATES = TableSchema(
    name="duplicates", key=("url",), columns=CRAWLDB.select("d", ("url", "bucket")).columns
)
"""Pages to be marked."""

_CONSIDERED = f"({literal(PageStatus.DB_FETCHED)}, {literal(PageStatus.DB_NOTMODIFIED)})"

_LEFT = "case when is_left then {value} end"
# Criterion → what a page must be, among those of its group that are left, to be left itself.
_CRITERIA = {
    "score": f"score = max({_LEFT.format(value='score')}) over (partition by {{group}})",
    "fetchTime": (
        f"fetch_time = max({_LEFT.format(value='fetch_time')}) over (partition by {{group}})"
    ),
    "urlLength": (
        f"url_length = min({_LEFT.format(value='url_length')}) over (partition by {{group}})"
    ),
    "httpsOverHttp": (
        "not (is_http and max(case when is_left and is_https then 1 else 0 end)"
        " over (partition by {group}, bare_url) = 1)"
    ),
}
_MUST = ("score", "fetchTime", "urlLength")
_COLUMNS = (
    "url, bucket, host, domain, signature, score, fetch_time, url_length, is_https, is_http,"
    " bare_url"
)


def duplicates(settings: DedupSettings) -> str:
    """SQL: the pages to be marked. View: `crawldb`.

    Raises:
        UserError: The order of comparison has an unknown criterion, or lacks one.
    """
    group = "signature" if settings.group == "none" else f"signature, {settings.group}"
    sieved = render("dedup_groups.sql", considered=_CONSIDERED)
    for name in _checked(settings.compare_order):
        test = _CRITERIA[name].format(group=group)
        sieved = f"select {_COLUMNS}, is_left and {test} as is_left from ({sieved}) by_{name}"
    return render("dedup.sql", sieved=sieved)


def mark(seq: int) -> str:
    """SQL: one bucket with its duplicates marked. Views: `crawldb`, `duplicates`."""
    others = (name for name in CRAWLDB.names if name not in {"status", "seq"})
    return render(
        "dedup_mark.sql",
        other_columns=", ".join(f"page.{name} as {name}" for name in others),
        duplicate=literal(PageStatus.DB_DUPLICATE),
        seq=literal(seq),
    )


def _checked(order: tuple[str, ...]) -> tuple[str, ...]:
    for name in order:
        if name not in _CRITERIA:
            near = get_close_matches(name, _CRITERIA, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(_CRITERIA)}."
            raise UserError(f"dedup.compare_order: there is no criterion {name!r}", hint=hint)
    missing = [name for name in _MUST if name not in order]
    if missing or len(set(order)) < len(order):
        what = f"{', '.join(missing)} is missing" if missing else "a criterion stands twice"
        raise UserError(
            f"dedup.compare_order = {','.join(order)}: {what}",
            hint=f"Name {', '.join(_MUST)} and, if wanted, httpsOverHttp, each once, in any order.",
        )
    return order
