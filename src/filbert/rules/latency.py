"""Response times as counters that can be added up, and percentiles out of them.

Guarantee: bounded: sixty-one counters, however many requests; a percentile is right to a quarter
of itself, since each bucket ends at 10^(1/10) times the one before. Counters of several parts, or
of several calls, add up to those of all.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["BOUNDS_MS", "LATENCY", "buckets_of", "counter_of", "percentiles"]

LATENCY = "latency."
"""What the names of the counters begin with; behind it stands the bucket's upper bound, in ms."""

BOUNDS_MS = tuple(sorted({round(10 ** (step / 10)) for step in range(61)}))
"""Upper bounds of the buckets, ms: 1, 2, 3, 4, 5, 6, 8, 10, 13 … 1,000,000; the last has no end."""


def counter_of(ms: int) -> str:
    """Return the counter that a response time of so many milliseconds belongs to."""
    return f"{LATENCY}{BOUNDS_MS[min(bisect_left(BOUNDS_MS, ms), len(BOUNDS_MS) - 1)]}"


def buckets_of(counters: Mapping[str, int]) -> list[tuple[int, int]]:
    """Return (upper bound in ms, requests) of each bucket that has any, in order."""
    found = {
        int(name.removeprefix(LATENCY)): count
        for name, count in counters.items()
        if name.startswith(LATENCY)
    }
    return sorted(found.items())


def percentiles(counters: Mapping[str, int], wanted: Iterable[float]) -> list[int] | None:
    """Return the response times, in ms, that shares of the requests did not exceed.

    Args:
        counters: Some of them response times.
        wanted: Shares, such as 0.5 and 0.99.

    Returns:
        The bound of the bucket that each share falls into; None if nothing was counted.
    """
    buckets = buckets_of(counters)
    total = sum(count for _, count in buckets)
    if not total:
        return None
    return [_reached(buckets, share * total) for share in wanted]


def _reached(buckets: list[tuple[int, int]], rank: float) -> int:
    before = 0
    for bound, count in buckets:
        before += count
        if before >= rank:
            return bound
    return buckets[-1][0]
