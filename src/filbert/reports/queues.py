"""What the queues of a running fetch wait for, seen from another process.

Guarantee: reads what the fetch says of itself each second; asks nothing of it, and holds no lock.
Source: the complaint that "0 URIs/sec" tells nobody whether a crawl is stalled (heritrix3#203).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.fetcher.progress import read_progress

if TYPE_CHECKING:
    from filbert.fetcher.progress import PartProgress, QueueWait
    from filbert.store.crawl import CrawlFolder

__all__ = ["RunningFetch", "running_fetch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningFetch:
    """A fetch that is going on, or was stopped on its way.

    Attributes:
        segment: What is fetched.
        parts: How each part is going.
    """

    segment: str
    parts: tuple[PartProgress, ...]

    @property
    def said_at(self) -> int:
        """When the youngest of this was said, epoch ms."""
        return max(part.now for part in self.parts)

    def slowest(self, most: int) -> list[QueueWait]:
        """Return the queues that will be empty last, that one first."""
        queues = (queue for part in self.parts for queue in part.slowest)
        return sorted(queues, key=lambda queue: (-queue.empty_at, queue.key))[:most]


def running_fetch(crawl: CrawlFolder) -> RunningFetch | None:
    """Return the newest fetch that says how it is going; None: there is none."""
    for segment in reversed(crawl.segments()):
        if parts := read_progress(segment.journal_dir):
            return RunningFetch(segment=segment.name, parts=tuple(parts))
    return None
