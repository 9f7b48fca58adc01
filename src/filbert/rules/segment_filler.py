"""The one greedy choice of generate: a cap per host across several segments that fill up.

Guarantee: a URL handed in gets the segment that Nutch's reducer gives it, quirks included: a host
that a full segment sends on begins there with this URL uncounted, and the last segment takes more
than `top_n` when others could not be filled. One pass over the candidates, best first.
Source: Nutch `Generator.SelectorReducer`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Placement", "SegmentFiller"]


class Placement(NamedTuple):
    """Where a URL would go: the segment (0: over the cap); then its key's count and segment."""

    segment: int
    of_key: int
    key_segment: int


class SegmentFiller:
    """Gives URLs, best first, their segments.

    Args:
        top_n: URLs per segment; None: no limit.
        max_count: URLs per key and segment; 0 or below: no cap.
        segments: How many segments there may be.
    """

    def __init__(self, *, top_n: int | None, max_count: int, segments: int) -> None:
        self._top_n = top_n
        self._max_count = max_count
        self._segments = segments
        self._filled = [0] * segments
        self._keys: dict[str, tuple[int, int]] = {}
        self._total = 0

    @property
    def is_full(self) -> bool:
        """Whether nothing more is taken."""
        return self._top_n is not None and self._total >= self._top_n * self._segments

    def peek(self, key: str) -> Placement:
        """Return where the next URL of `key` would go."""
        if self._max_count <= 0:
            number = 1 if not self._top_n else self._total // self._top_n + 1
            return Placement(number, 0, number)
        segment, count = self._keys.get(key, (1, 0))
        count += 1
        while self._is_filled(segment) and segment < self._segments:
            segment, count = segment + 1, 0
        if count <= self._max_count:
            return Placement(segment, count, segment)
        if segment < self._segments:
            return Placement(segment + 1, 1, segment + 1)
        return Placement(0, count, segment)

    def place(self, key: str) -> Placement:
        """Take the next URL of `key` and return where it goes."""
        placement = self.peek(key)
        self._keys[key] = (placement.key_segment, placement.of_key)
        if placement.segment:
            self._filled[placement.segment - 1] += 1
            self._total += 1
        return placement

    def _is_filled(self, segment: int) -> bool:
        return self._top_n is not None and self._filled[segment - 1] >= self._top_n
