"""Where updatedb differs from Nutch's CrawlDbReducer on purpose, as predicates over the input.

Guarantee: a case is "by decision" only if the decision's predicate holds for its input and our
result is what the decision says it should be, worked out here without our queries.
Source: docs/from-nutch.md, under the same names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from filbert.model.statuses import FetchStatus, PageStatus
from filbert.rules.schedule import float32
from filbert.testing.parity.datums import Datum, expected_metadata, metadata_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Case", "Outcome", "decided", "differences"]

NOW = -1
"""Stands for the time of the update in an outcome's fetch time."""

_LINKED, _PARSE_FAILED, _FIRST_FETCH, _LAST_FETCH = 67, 69, 32, 63
_BYTE_MAX = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A row of the crawldb in Nutch's terms."""

    status: int
    fetch_time: int
    modified_time: int
    retries: int
    interval: int
    score: float
    signature: str | None
    metadata: Mapping[str, tuple[str, Any]]

    @classmethod
    def of_row(cls, row: Mapping[str, Any], *, now: int) -> Self:
        """Make it of a row of ours."""
        signature = row["signature"]
        return cls(
            status=row["status"],
            fetch_time=NOW if row["fetch_time"] == now else row["fetch_time"],
            modified_time=row["modified_time"] or 0,
            retries=row["retries"],
            interval=row["fetch_interval"],
            score=row["score"],
            signature=None if signature is None else signature.hex(),
            metadata=metadata_of(row),
        )

    @classmethod
    def of_datum(cls, datum: Datum, *, uses_now: bool) -> Self:
        """Make it of what Nutch wrote."""
        return cls(
            status=datum["status"],
            fetch_time=NOW if uses_now else datum["fetchTime"],
            modified_time=datum["modifiedTime"],
            retries=datum["retries"],
            interval=datum["interval"],
            score=datum["score"],
            signature=datum["signature"],
            metadata=expected_metadata(datum),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call of the reducer."""

    number: int
    config: Mapping[str, Any]
    now: int
    url: str
    inputs: Sequence[Datum]
    theirs: Outcome | None

    @classmethod
    def read(cls, case: Mapping[str, Any]) -> Self:
        """Make it of a line of the file; the URL becomes one of its own."""
        result = case["result"]
        return cls(
            number=case["id"],
            config=case["config"],
            now=case["now"],
            url=f"{case['url']}?case={case['id']}",
            inputs=case["inputs"],
            theirs=result and Outcome.of_datum(result, uses_now=case["usesNow"]),
        )

    @property
    def links(self) -> list[Datum]:
        """The inlinks, best first, earlier ones first among equals."""
        links = [datum for datum in self.inputs if datum["status"] == _LINKED]
        return sorted(links, key=lambda datum: -float(datum["score"]))

    @property
    def old(self) -> Datum | None:
        """What the crawldb had: the newest, the first of equals."""
        return _newest([datum for datum in self.inputs if datum["status"] < _FIRST_FETCH])

    @property
    def fetch(self) -> Datum | None:
        """What the fetch brought: the newest, the first of equals."""
        return _newest([datum for datum in self.inputs if _is_fetch(datum["status"])])


def _newest(datums: Sequence[Datum]) -> Datum | None:
    return max(datums, key=lambda datum: int(datum["fetchTime"]), default=None)


def _is_fetch(status: int) -> bool:
    return _FIRST_FETCH < status <= _LAST_FETCH or status == _PARSE_FAILED


def differences(
    theirs: Outcome | None, ours: Outcome | None, case: Case
) -> list[tuple[str, object, object]]:
    """Return the fields on which two outcomes differ, with both values."""
    if theirs is None or ours is None:
        return [] if theirs is ours else [("outcome", theirs, ours)]
    wrong: list[tuple[str, object, object]] = []
    for name in Outcome.__slots__:
        expected, got = getattr(theirs, name), getattr(ours, name)
        same = _close(expected, got, case) if name == "score" else expected == got
        if not same:
            wrong.append((name, expected, got))
    return wrong


def _close(expected: float, got: float, case: Case) -> bool:
    scale = abs(expected) + sum(abs(link["score"]) for link in case.links)
    return math.isclose(expected, got, rel_tol=0, abs_tol=1e-6 * scale)


def decided(case: Case, ours: Outcome | None) -> str | None:
    """Return the names of the decisions that together explain our outcome, or None."""
    outcome = case.theirs
    names = []
    for name, applies, change in _DECISIONS:
        if outcome is not None and applies(case):
            outcome = change(case, outcome)
            names.append(name)
    return " + ".join(names) if names and not differences(outcome, ours, case) else None


BEST_INLINKS = "best-inlinks"
"""Of more than `update.max_inlinks` links, those of best score count; Nutch's queue evicts them."""


def _has_too_many_links(case: Case) -> bool:
    return len(case.links) > int(case.config["db.update.max.inlinks"])


def _with_best_links(case: Case, outcome: Outcome) -> Outcome:
    kept = case.links[: case.config["db.update.max.inlinks"]]
    best = kept[0]
    if case.old is None and case.fetch is None:
        outcome = replace(
            outcome,
            score=best["score"],
            modified_time=best["modifiedTime"],
            signature=best["signature"],
            metadata=expected_metadata(best),
        )
    if case.config["scoring"] == "opic":
        before = case.old or case.fetch
        base = before["score"] if before else 0.0
        outcome = replace(outcome, score=base + sum(link["score"] for link in kept))
    return outcome


RETRIES_GROW = "retries-grow"
"""After 127 retries comes 128; Nutch's byte goes on at -128, and the page is never gone."""


def _is_retried_too_often(case: Case) -> bool:
    fetch = case.fetch
    return (
        fetch is not None
        and fetch["status"] == FetchStatus.FETCH_RETRY
        and fetch["retries"] == _BYTE_MAX
    )


def _gone_after_retries(case: Case, outcome: Outcome) -> Outcome:
    assert case.fetch is not None
    grown = float32(float32(case.fetch["interval"]) * float32(1.5))
    longest = float32(case.config["db.fetch.interval.max"])
    interval = int((grown if grown < longest else float32(longest * float32(0.9))) + 0.5)
    return replace(
        outcome,
        status=int(PageStatus.DB_GONE),
        retries=_BYTE_MAX + 1,
        interval=interval,
        fetch_time=case.fetch["fetchTime"] + 1000 * interval,
    )


_DECISIONS: tuple[tuple[str, Callable[[Case], bool], Callable[[Case, Outcome], Outcome]], ...] = (
    (BEST_INLINKS, _has_too_many_links, _with_best_links),
    (RETRIES_GROW, _is_retried_too_often, _gone_after_retries),
)
