"""What the tools of old print: `readdb`, `segread`, and the fetch list's own.

Guarantee: pieces of text that are, joined, what the old program writes, in UTC; only the number
behind `WebDBReader@`, which Java draws anew each time, is 0, and the log's time is left out.
Source: Nutch 0.7 `db.WebDBReader.main`, `segment.SegmentReader.main`, `pagedb.FetchListEntry.main`.
"""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from filbert.nutch import utf8
from filbert.nutch.v1.java_text import iso_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from filbert.nutch.v07.link import Link
    from filbert.nutch.v07.page import FetchListEntry, Page
    from filbert.nutch.v07.segment import OldSegment
    from filbert.nutch.v07.webdb import WebDB

__all__ = [
    "all_links",
    "all_pages",
    "fetch_list_urls",
    "found",
    "segment_list",
    "segment_records",
    "stats",
    "top_pages",
]

_READER = "org.apache.nutch.db.WebDBReader@0"


def stats(db: WebDB) -> Iterator[str]:
    """Yield the text of `readdb -stats`."""
    yield f"Stats for {_READER}\n{'-' * 31}\n{db.stats}\n"


def all_pages(pages: Iterable[Page]) -> Iterator[str]:
    """Yield the text of `readdb -dumppageurl` (`WebDB.pages`), `-dumppagemd5` (`pages_by_md5`)."""
    yield f"{_READER}\n\n"
    for number, page in enumerate(pages, 1):
        yield f"Page {number}: {page}\n\n"


def all_links(db: WebDB) -> Iterator[str]:
    """Yield the text of `readdb -dumplinks`."""
    yield f"{_READER}\n\n"
    for page in db.pages_by_md5():
        targets = [f" to {link.url}\n" for link in db.links_from(page.md5)]
        if targets:
            yield f"from {page.url}\n{''.join(targets)}\n"


def found(records: Sequence[Page] | Sequence[Link], name: str) -> Iterator[str]:
    """Yield the text of `readdb -pagemd5`, `-linkurl`, `-linkmd5`.

    Args:
        records: What was found.
        name: What it is: `page`, `link`.
    """
    yield f"Found {len(records)} {name}s.\n"
    for number, record in enumerate(records):
        yield f"{name.capitalize()} {number}: {record}\n"


def top_pages(pages: Iterable[Page], count: int) -> Iterator[str]:
    """Yield the text of `readdb -toppages`: the best last; of equal ones at the limit, the first.

    Args:
        pages: All pages, by URL.
        count: How many.
    """
    best: list[tuple[float, bytes, bytes, str]] = []
    for page in pages:
        if len(best) == count and (not best or best[0][0] >= page.score):
            continue
        insort(best, (page.score, page.md5.value, utf8.encode(page.url), str(page)))
        del best[:-count]
    for number, (*_, shown) in enumerate(best):
        yield f"Page {number}: {shown}\n\n"


def segment_list(segments: Iterable[OldSegment]) -> Iterator[str]:
    """Yield the text of `segread -list`."""
    yield "PARSED?\tSTARTED\t\t\tFINISHED\t\tCOUNT\tDIR NAME\n"
    total = number = 0
    for number, segment in enumerate(segments, 1):  # noqa: B007 - counted
        span = segment.span()
        total += span.count
        parsed = "true" if segment.is_parsed else "false"
        times = f"{_stamp(span.started)}\t{_stamp(span.finished)}"
        yield f"{parsed}\t{times}\t{span.count}\t{segment.path}\n"
    yield f"TOTAL: {total} entries in {number} segments.\n"


def segment_records(segment: OldSegment) -> Iterator[str]:
    """Yield the text of `segread -dump`."""
    for number, one in enumerate(segment.captures()):
        output, data = (one.output, one.data) if one.old_status is None else one.of_06()
        parts = (
            ("FetcherOutput", output),
            ("Content", one.content),
            ("ParseData", None if one.data is None else data),
            ("ParseText", one.text),
        )
        shown = (f"{name}::\n{part}\n" for name, part in parts if part is not None)
        yield f"Recno:: {number}\n{''.join(shown)}\n"


def fetch_list_urls(entries: Iterable[FetchListEntry]) -> Iterator[str]:
    """Yield the text of `FetchListEntry -dumpurls`."""
    for number, entry in enumerate(entries):
        yield f"Recno {number}: {entry.page.url}\n"


def _stamp(millis: int) -> str:
    day, _, clock = iso_seconds(millis, " ").partition(" ")
    return f"{day.replace('-', '')}-{clock}"
