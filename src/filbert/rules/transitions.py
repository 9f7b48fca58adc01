"""What becomes of a page: old status × what a round says of it → act and new status.

Guarantee: every status that a page can have (and having none), with everything that a round can
say, has an entry in `TRANSITIONS`; the SQL is made from it, and so is the table in the docs.
Source: Nutch `CrawlDbReducer.reduce`; `TestCrawlDbStates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from filbert.model.statuses import FetchStatus, PageStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["LINKED", "TRANSITIONS", "UNTOUCHED", "Act", "Detail", "Transition", "case_sql"]

UNTOUCHED = 0
"""Event: the round says nothing of the page."""

LINKED = 67
"""Event: the page was linked but not fetched (Nutch: `STATUS_LINKED`)."""


class Detail(IntEnum):
    """What makes a difference beside the event."""

    NONE = 0
    MODIFIED = 1
    NOT_MODIFIED = 2
    GIVEN_UP = 3  # failed as often as update.retry_max allows


class Act(StrEnum):
    """Which times, interval and retries a page gets."""

    KEPT = "kept"  # what it had
    FIRST = "first"  # initializeSchedule
    SCHEDULED = "scheduled"  # setFetchSchedule
    RETRIED = "retried"  # setPageRetrySchedule
    GONE = "gone"  # setPageGoneSchedule


@dataclass(frozen=True, slots=True)
class Transition:
    """What a page gets; status None: it keeps its own."""

    act: Act
    status: PageStatus | None


def _to(act: Act, status: PageStatus) -> dict[PageStatus | None, Transition]:
    """Whatever the page was: a fetch overwrites its status."""
    return dict.fromkeys((None, *PageStatus), Transition(act, status))


def _keeps() -> dict[PageStatus | None, Transition]:
    return dict.fromkeys(PageStatus, Transition(Act.KEPT, None))


_F, _P, _D = FetchStatus, PageStatus, Detail

TRANSITIONS: Mapping[tuple[int, Detail], Mapping[PageStatus | None, Transition]] = {
    (UNTOUCHED, _D.NONE): _keeps(),
    (LINKED, _D.NONE): {None: Transition(Act.FIRST, _P.DB_UNFETCHED), **_keeps()},
    (_F.FETCH_SUCCESS, _D.NONE): _to(Act.SCHEDULED, _P.DB_FETCHED),
    (_F.FETCH_SUCCESS, _D.MODIFIED): _to(Act.SCHEDULED, _P.DB_FETCHED),
    (_F.FETCH_SUCCESS, _D.NOT_MODIFIED): _to(Act.SCHEDULED, _P.DB_NOTMODIFIED),
    (_F.FETCH_NOTMODIFIED, _D.NOT_MODIFIED): _to(Act.SCHEDULED, _P.DB_NOTMODIFIED),
    (_F.FETCH_REDIR_TEMP, _D.NONE): _to(Act.SCHEDULED, _P.DB_REDIR_TEMP),
    (_F.FETCH_REDIR_PERM, _D.NONE): _to(Act.SCHEDULED, _P.DB_REDIR_PERM),
    (_F.FETCH_RETRY, _D.NONE): _to(Act.RETRIED, _P.DB_UNFETCHED),
    (_F.FETCH_RETRY, _D.GIVEN_UP): _to(Act.GONE, _P.DB_GONE),
    (_F.FETCH_GONE, _D.NONE): _to(Act.GONE, _P.DB_GONE),
    (_F.PARSE_FAILED, _D.NONE): _to(Act.GONE, _P.DB_PARSE_FAILED),
}
"""(event, detail) → old status, None for a page not seen before → transition.

After it, a page that was scheduled with an interval beyond `schedule.interval_max_s` is fetched
again by force (`forceRefetch`): it is db_unfetched, without signature.
"""


def case_sql(value: Callable[[Transition], str]) -> str:
    """Return a CASE over `event`, `detail` and `old_status`; `value` writes a transition as SQL."""
    whens = [
        f"when event = {event:d} and detail = {detail:d} then {_by_old(by_old, value)}"
        for (event, detail), by_old in TRANSITIONS.items()
    ]
    return "case " + "\n      ".join([*whens, "end"])


def _by_old(
    by_old: Mapping[PageStatus | None, Transition], value: Callable[[Transition], str]
) -> str:
    known = {value(transition) for old, transition in by_old.items() if old is not None}
    if len(known) > 1:
        whens = [f"when {old:d} then {value(t)}" for old, t in by_old.items() if old is not None]
        seen = f"case old_status {' '.join(whens)} end"
    else:
        (seen,) = known
    if None not in by_old or value(by_old[None]) == seen:
        return seen
    return f"case when old_status is null then {value(by_old[None])} else {seen} end"
