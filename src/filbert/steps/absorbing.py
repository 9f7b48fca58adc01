"""Which segments the crawldb has absorbed, which it will absorb by itself, and which again.

Guarantee: read from the logs of the crawldb and of the segments alone. A segment that a rollback
left out is absorbed when it is named, and never by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.model.clock import iso
from filbert.store.history import in_force

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from filbert.store.crawl import CrawlFolder
    from filbert.store.segments import Segment
    from filbert.store.tables import Table

__all__ = ["absorbed_again", "absorbed_already", "to_absorb"]


def to_absorb(crawl: CrawlFolder, names: Iterable[str] = ()) -> list[Segment]:
    """Return the segments that are not in the crawldb, of those named, or all but those left out.

    Raises:
        UserError: A segment that was named is not there.
    """
    crawldb = crawl.table("crawldb").load()
    named = [crawl.segment(name) for name in names]
    return [
        segment
        for segment in named or crawl.segments()
        if not in_force(crawldb.transaction_version(_app_id(segment)))
        and (named or not segment.left_out)
    ]


def absorbed_already(crawl: CrawlFolder) -> list[Segment]:
    """Return the segments that are in the crawldb."""
    crawldb = crawl.table("crawldb").load()
    return [
        segment
        for segment in crawl.segments()
        if in_force(crawldb.transaction_version(_app_id(segment)))
    ]


def absorbed_again(crawldb: Table, segments: Iterable[Segment]) -> Iterator[str]:
    """Say of each segment that was rolled back that it comes back."""
    log = crawldb.load()
    undone = [
        segment
        for segment in segments
        if (number := log.transaction_version(_app_id(segment))) is not None
        and not in_force(number)
    ]
    history = crawldb.history() if undone else []
    for segment in undone:
        app = _app_id(segment)
        when = next((r.time_ms for r in history if r.transactions.get(app, 0) < 0), None)
        since = f" at {iso(when)}" if when is not None else " before"
        yield f"segment {segment.name}, rolled back{since}, is absorbed again"


def _app_id(segment: Segment) -> str:
    return f"update:{segment.name}"
