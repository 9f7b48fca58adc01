"""What reports cannot show, since it stands only in the journal of a fetch that has not ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.rules.plural import count_of
from filbert.store.unsealed import captures_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from filbert.store.segments import Segment

__all__ = ["not_shown"]


def not_shown(segments: Iterable[Segment]) -> Iterator[str]:
    """Yield a line for each of the segments that is being fetched, or whose fetch was stopped."""
    for segment in segments:
        captures = captures_of(segment)
        if captures is not None:
            yield (
                f"the fetch of segment {segment.name} has not ended; its journal has"
                f" {count_of(captures, 'capture')}, not shown here until it has gone on to its end"
            )
