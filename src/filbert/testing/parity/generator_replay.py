"""Equal scores: could these segments come from our rule under some order of the equal rows?

Guarantee: a yes is a proof: the rule itself was run on such an order. A no after many tries is
taken for a no. Rows of one key and score are alike; a key's segments can only rise, so all that is
open is which key is next.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import groupby, permutations
from random import Random
from typing import TYPE_CHECKING

from filbert.rules.segment_filler import SegmentFiller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from filbert.settings.generate import GenerateSettings

__all__ = ["Tied", "can_be_replayed"]

_TRIES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Tied:
    """A row that may be chosen: its number, what it counts by, its sort value."""

    number: int
    key: str
    score: float


def can_be_replayed(
    eligible: Sequence[Tied], segments: Sequence[frozenset[int]], settings: GenerateSettings
) -> bool:
    """Say whether the rule gives these segments, in whatever order they are listed."""
    chosen = frozenset[int]().union(*segments)
    if not chosen <= {row.number for row in eligible}:
        return False
    best_first = sorted(eligible, key=lambda row: -row.score)
    groups = [list(rows) for _, rows in groupby(best_first, key=lambda row: row.score)]
    for order in permutations(range(1, len(segments) + 1)):
        wanted = {
            number: segment
            for segment, numbers in zip(order, segments, strict=True)
            for number in numbers
        }
        if any(_replayed(groups, wanted, settings, Random(seed)) for seed in range(_TRIES)):
            return True
    return False


def _replayed(
    groups: Sequence[Sequence[Tied]],
    wanted: Mapping[int, int],
    settings: GenerateSettings,
    random: Random,
) -> bool:
    filler = SegmentFiller(
        top_n=settings.top_n if settings.top_n >= 0 else None,
        max_count=settings.max_count,
        segments=settings.max_num_segments,
    )
    return all(_placed(filler, rows, wanted, random) for rows in groups)


def _placed(
    filler: SegmentFiller, rows: Sequence[Tied], wanted: Mapping[int, int], random: Random
) -> bool:
    """Place the rows of one score; keys take turns at random, each where it has to go."""
    left: dict[str, list[int]] = defaultdict(list)
    over: Counter[str] = Counter()
    for row in rows:
        if row.number in wanted:
            left[row.key].append(wanted[row.number])
        else:
            over[row.key] += 1
    for segments in left.values():
        segments.sort(reverse=True)
    while left:
        ready = [key for key in sorted(left) if filler.peek(key).segment == left[key][-1]]
        if not ready or filler.is_full:
            return False
        key = random.choice(ready)
        filler.place(key)
        left[key].pop()
        if not left[key]:
            del left[key]
    # What is not in the list must be over the cap, or come when all is full.
    return filler.is_full or all(filler.peek(key).segment == 0 for key in over)
