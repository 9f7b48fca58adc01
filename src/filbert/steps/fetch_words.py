"""What a fetch says in one line when it has ended, and what it says loudly.

Guarantee: a fetch that fetched nothing never looks like a success: the line says so first, and why
(firecrawl#2287, NUTCH-2630).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.fetcher.left_due import REASONS
from filbert.rules.latency import LATENCY, percentiles
from filbert.rules.plural import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from filbert.fetcher.left_due import LeftUrl

__all__ = ["examples", "logged", "summary"]

_MOST_EXAMPLES = 5
_PERCENTILES = ("response_ms_p50", "response_ms_p90", "response_ms_p99")

_SHOWN = {
    "fetch_success": "fetched",
    "fetch_notmodified": "not modified",
    "fetch_redir_temp": "temporary redirect",
    "fetch_redir_perm": "permanent redirect",
    "fetch_gone": "gone",
    "fetch_retry": "to be tried again",
}


def summary(segment: str, counters: Mapping[str, int], took_ms: int, *, stopped: bool) -> str:
    """Return the line.

    Args:
        segment: Its name.
        counters: What was counted.
        took_ms: How long it took.
        stopped: It was asked to stop.
    """
    counted = [
        count_of(counters[key], word, f"{word}s" if "redirect" in word else word)
        for key, word in _SHOWN.items()
        if counters.get(key)
    ]
    left = _left(counters)
    seconds = max(took_ms, 1) / 1000
    pages = sum(counters.get(key, 0) for key in _SHOWN)
    before = 0 if stopped else counters.get("captured_by_earlier_calls", 0)
    pace = f"{counters.get('bytes', 0) / 1e6:,.1f} MB in {seconds:,.1f} s, "
    pace += f"{max(pages - before, 0) / seconds:,.1f} pages/s"
    if times := percentiles(counters, (0.5, 0.9, 0.99)):
        half, most, all_but = (f"{ms:,} ms" for ms in times)
        pace += f"; answers within {half} (half), {most} (90 %), {all_but} (99 %)"
    pace += f" (by this call; {before:,} were captured before)" if before else ""
    if stopped:
        return f"stopped as asked; the same command goes on with segment {segment} ({pace})"
    if not pages:
        return f"NOTHING WAS FETCHED of segment {segment}: {left or 'its fetch list is empty'}"
    text = f"segment {segment}: {', '.join(counted)}; {pace}"
    good = counters.get("fetch_success", 0) + counters.get("fetch_notmodified", 0)
    moved = counters.get("fetch_redir_temp", 0) + counters.get("fetch_redir_perm", 0)
    if not good and not moved:
        text = f"NO PAGE WAS FETCHED: {_errors(counters)}. {text}"
    return "; ".join(part for part in (text, left, _cut(counters)) if part)


def logged(counters: Mapping[str, int]) -> dict[str, int]:
    """Return what a log line has of the counters: percentiles in place of response times."""
    shown = {name: count for name, count in counters.items() if not name.startswith(LATENCY)}
    times = percentiles(counters, (0.5, 0.9, 0.99)) or ()
    return shown | dict(zip(_PERCENTILES, times, strict=False))


def _cut(counters: Mapping[str, int]) -> str:
    """Return what of an earlier run was damaged."""
    cut = counters.get("journal.cut_bytes", 0)
    words = "bytes that a kill or a damage left torn were cut off and asked again"
    return f"{cut:,} {words}" if cut else ""


def _left(counters: Mapping[str, int]) -> str:
    """Return how many URLs were left due, and why."""
    total = counters.get("left_due", 0)
    if not total:
        return ""
    named = [
        f"{counters[key]:,} {REASONS[reason]}"
        for reason in REASONS
        if counters.get(key := f"left_due.{reason}")
    ]
    return f"{total:,} left to a later round: " + "; ".join(named)


def _errors(counters: Mapping[str, int]) -> str:
    """Return the commonest failures by name."""
    found = {
        name.removeprefix("error."): number
        for name, number in counters.items()
        if name.startswith("error.")
    }
    first = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:3]
    return ", ".join(f"{number:,} {name}" for name, number in first) or "no answer was a page"


def examples(left: Iterable[LeftUrl]) -> tuple[str, ...]:
    """Return the details of why URLs were left due, each once, the first few."""
    found: dict[str, None] = {}
    for one in left:
        if one.detail and one.detail not in found:
            if len(found) == _MOST_EXAMPLES:
                return (*found, "…")
            found[one.detail] = None
    return tuple(found)
