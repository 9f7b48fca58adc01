"""What `readseg -list` prints of segments.

Guarantee: character for character; what a segment lacks is a question mark. Memory for one record.
Source: Nutch 1.22 `segment.SegmentReader.list`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from filbert.nutch.parts import records
from filbert.nutch.v1.crawl_datum import FETCH_DIR_NAME, GENERATE_DIR_NAME, CrawlDatum
from filbert.nutch.v1.java_text import iso_seconds
from filbert.nutch.v1.parsed import DATA_DIR_NAME, ParseData

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["SegmentStats", "segments_list", "stats_of"]

_HEAD: Final = "NAME\t\tGENERATED\tFETCHER START\t\tFETCHER END\t\tFETCHED\tPARSED\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentStats:
    """Counts of a segment; None: it has no such part.

    Attributes:
        generated: Pages of the fetch list.
        start, end: When the first and the last fetch was, in ms.
        fetched: Records of the fetch.
        parsed, parse_errors: Pages that were parsed, and those of them that failed.
    """

    generated: int | None = None
    start: int | None = None
    end: int | None = None
    fetched: int | None = None
    parsed: int | None = None
    parse_errors: int | None = None


def stats_of(segment: Path) -> SegmentStats:
    """Count a segment.

    Raises:
        CorruptDataError: A part of it is damaged.
    """
    generated = start = end = fetched = parsed = errors = None
    if (segment / GENERATE_DIR_NAME).is_dir():
        generated = sum(1 for _ in records(segment / GENERATE_DIR_NAME))
    if (segment / FETCH_DIR_NAME).is_dir():
        start, end, fetched = 2**63 - 1, -(2**63), 0
        for record in records(segment / FETCH_DIR_NAME):
            time = CrawlDatum.from_bytes(record.value).fetch_time
            start, end, fetched = min(start, time), max(end, time), fetched + 1
    if (segment / DATA_DIR_NAME).is_dir():
        parsed = errors = 0
        for record in records(segment / DATA_DIR_NAME):
            parsed += 1
            errors += not ParseData.from_bytes(record.value).status.is_success
    return SegmentStats(
        generated=generated,
        start=start,
        end=end,
        fetched=fetched,
        parsed=parsed,
        parse_errors=errors,
    )


def segments_list(segments: Iterable[Path]) -> Iterator[str]:
    """Yield the lines of `readseg -list`, in the order of the segments given."""
    yield _HEAD
    for segment in segments:
        stats = stats_of(segment)
        start = "?\t" if stats.start is None else iso_seconds(stats.start)
        end = "?" if stats.end is None else iso_seconds(stats.end)
        yield (
            f"{segment.name}\t{_shown(stats.generated)}\t\t{start}\t{end}\t"
            f"{_shown(stats.fetched)}\t{_shown(stats.parsed)}\n"
        )


def _shown(count: int | None) -> str:
    return "?" if count is None else str(count)
