"""Old status × event → act and new status."""

from __future__ import annotations

import itertools

import duckdb
import pytest

from filbert.model.statuses import FetchStatus, PageStatus
from filbert.rules.sql import literal
from filbert.rules.transitions import LINKED, TRANSITIONS, UNTOUCHED, Act, Detail, case_sql


def test_every_fetch_status_has_an_entry_for_every_old_status() -> None:
    """Whatever the page was, and whether it was known: each fetch status has its transition."""
    events = {event for event, _ in TRANSITIONS}
    assert events == {UNTOUCHED, LINKED, *FetchStatus}
    for (event, _), by_old in TRANSITIONS.items():
        expected = {*PageStatus} if event == UNTOUCHED else {None, *PageStatus}
        assert set(by_old) == expected


@pytest.mark.parametrize("event", FetchStatus)
def test_a_fetch_overwrites_whatever_the_page_was(event: FetchStatus) -> None:
    """The new status depends on the fetch alone, not on the old status."""
    for (one, _), by_old in TRANSITIONS.items():
        if one == event:
            assert len(set(by_old.values())) == 1


def test_a_link_makes_a_page_and_changes_none() -> None:
    """A link to an unknown page makes it db_unfetched; one to a known page leaves its status."""
    by_old = TRANSITIONS[LINKED, Detail.NONE]
    new = by_old[None]
    assert (new.act, new.status) == (Act.FIRST, PageStatus.DB_UNFETCHED)
    assert {by_old[old].status for old in PageStatus} == {None}


def test_the_sql_says_what_the_table_says() -> None:
    """The CASE gives the table's value for each event, detail and old status."""
    acts = case_sql(lambda transition: literal(transition.act.value))
    statuses = case_sql(lambda t: "old_status" if t.status is None else literal(t.status))
    rows = [
        (event, detail, old, transition)
        for (event, detail), by_old in TRANSITIONS.items()
        for old, transition in by_old.items()
    ]
    given = " union all ".join(
        f"select {number} as number, {event:d} as event, {detail:d} as detail,"
        f" {literal(old)} as old_status"
        for number, (event, detail, old, _) in enumerate(rows)
    )
    sql = f"select {acts}, {statuses} from ({given}) order by number"
    assert duckdb.execute(sql).fetchall() == [
        (transition.act.value, old if transition.status is None else transition.status)
        for _, _, old, transition in rows
    ]


def test_no_detail_is_left_out() -> None:
    """Each event has the details that updatedb can work out for it, and no other."""
    details = {
        event: {d for e, d in TRANSITIONS if e == event}
        for event in [UNTOUCHED, LINKED, *FetchStatus]
    }
    assert details[FetchStatus.FETCH_SUCCESS] == {
        Detail.NONE,
        Detail.MODIFIED,
        Detail.NOT_MODIFIED,
    }
    assert details[FetchStatus.FETCH_NOTMODIFIED] == {Detail.NOT_MODIFIED}
    assert details[FetchStatus.FETCH_RETRY] == {Detail.NONE, Detail.GIVEN_UP}
    others = set(itertools.chain(*(d for e, d in details.items() if e not in _WITH_DETAILS)))
    assert others == {Detail.NONE}


_WITH_DETAILS = {
    FetchStatus.FETCH_SUCCESS,
    FetchStatus.FETCH_NOTMODIFIED,
    FetchStatus.FETCH_RETRY,
}
