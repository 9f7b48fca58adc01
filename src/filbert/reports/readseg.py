"""`filbert readseg`: what is in a segment: a line each, one URL, or everything.

Guarantee: only reads; memory does not grow with the segment: the tables are read in the order of
their URLs and merged.
Source: Nutch's `SegmentReader`.
"""

from __future__ import annotations

import contextlib
import heapq
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from filbert.engine.duck import quoted
from filbert.errors import DataError
from filbert.reports.catalog import SEGMENT_VIEWS
from filbert.reports.sql import answer
from filbert.reports.views import open_files, view_sql
from filbert.rules.explain_words import cut_by
from filbert.store.warc import read_capture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder
    from filbert.store.segments import Segment
    from filbert.store.warc import Capture

__all__ = ["BLOCKS", "Record", "SegmentLine", "list_segments", "records"]

BLOCKS = {
    "content": "Content",
    "generate": "Crawl Generate",
    "fetch": "Crawl Fetch",
    "parse": "Crawl Parse",
    "parse_data": "ParseData",
    "parse_text": "ParseText",
}
_TABLES = {
    "generate": "crawl_generate",
    "fetch": "crawl_fetch",
    "parse": "crawl_parse",
    "parse_data": "parse_data",
    "parse_text": "parse_text",
}
_CONTENT_LIMIT = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentLine:
    """A segment on one line; None: there is no such table yet."""

    name: str
    state: str
    absorbed: bool
    left_out: bool
    generated: int | None
    fetcher_start: datetime | None
    fetcher_end: datetime | None
    fetched: int | None
    parsed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """All that a segment has under one URL: block to rows."""

    segment: str
    url: str
    blocks: dict[str, list[dict[str, Any]]]


def list_segments(
    crawl: CrawlFolder, segments: Iterable[Segment], settings: EngineSettings
) -> Iterator[SegmentLine]:
    """Yield a line for each segment."""
    crawldb = crawl.table("crawldb")
    for segment in segments:
        counts = {
            name: segment.table(name).count() if segment.has(name) else None
            for name in ("crawl_generate", "crawl_fetch", "parse_data")
        }
        start, end = _span(segment, settings)
        yield SegmentLine(
            name=segment.name,
            state=segment.state.value,
            absorbed=crawldb.transaction(f"update:{segment.name}") is not None,
            left_out=segment.left_out,
            generated=counts["crawl_generate"],
            fetcher_start=start,
            fetcher_end=end,
            fetched=counts["crawl_fetch"],
            parsed=counts["parse_data"],
        )


def _span(segment: Segment, settings: EngineSettings) -> tuple[datetime | None, datetime | None]:
    paths = segment.table("crawl_fetch").files().paths
    if not paths:
        return None, None
    source = view_sql(SEGMENT_VIEWS["crawl_fetch"], paths)
    with open_files(settings, paths) as connection:
        sql = f"select min(fetch_time), max(fetch_time) from ({source})"
        row = connection.execute(sql).fetchone()
    return (row[0], row[1]) if row else (None, None)


def records(
    segment: Segment,
    settings: EngineSettings,
    *,
    url: str | None = None,
    blocks: Sequence[str] = tuple(BLOCKS),
    recode: bool = False,
) -> Iterator[Record]:
    """Yield what a segment has, URL by URL in order.

    Args:
        segment: The segment.
        settings: Memory and threads.
        url: Only this one.
        blocks: Which blocks: keys of `BLOCKS`.
        recode: Decode content by the charset that the parser found; else as UTF-8.
    """
    wanted = [block for block in BLOCKS if block in blocks]
    read = {block for block in wanted if block in _TABLES}
    read |= {"fetch", "parse_data"} if "content" in wanted else set()
    with contextlib.ExitStack() as stack:
        streams = [
            _stream(stack, segment, block, settings, url) for block in BLOCKS if block in read
        ]
        merged = heapq.merge(*streams, key=itemgetter(0))
        for key, group in groupby(merged, key=itemgetter(0)):
            found: dict[str, list[dict[str, Any]]] = {}
            for _, block, row in group:
                found.setdefault(block, []).append(row)
            if "content" in wanted:
                found["content"] = list(_contents(segment, found, recode=recode))
            shown = {block: found[block] for block in wanted if found.get(block)}
            if shown:
                yield Record(segment=segment.name, url=key, blocks=shown)


def _stream(
    stack: contextlib.ExitStack,
    segment: Segment,
    block: str,
    settings: EngineSettings,
    url: str | None,
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (url, block, row) in the order of the URLs."""
    name = _TABLES[block]
    paths = segment.table(name).files().paths
    if not paths:
        return iter(())
    connection = stack.enter_context(open_files(settings, paths))
    connection.execute("create temp view rows as " + view_sql(SEGMENT_VIEWS[name], paths))
    where = "true" if url is None else f"url = {quoted(url)}"
    # DuckDB orders by bytes, heapq by code points: in UTF-8 that is the same order.
    order = ", ".join(SEGMENT_VIEWS[name].table.key)
    rows = answer(connection, f"select * from rows where {where} order by {order}", settings).rows
    return ((row["url"], block, row) for row in rows)


def _contents(
    segment: Segment, found: dict[str, list[dict[str, Any]]], *, recode: bool
) -> Iterator[dict[str, Any]]:
    charsets = [row["charset"] for row in found.get("parse_data", []) if row["charset"]]
    charset = charsets[0] if recode and charsets else "utf-8"
    for row in found.get("fetch", []):
        if row["warc_file"] is None:
            continue
        try:
            capture = read_capture(
                segment.content_dir,
                row["warc_file"],
                row["warc_offset"],
                row["warc_length"],
                limit=_CONTENT_LIMIT,
            )
        except DataError as error:
            yield {"error": str(error)}
            continue
        yield {
            "http_status": capture.http_status,
            "content_type": capture.content_type,
            "headers": {name: list(values) for name, values in capture.headers.items()},
            "truncated": capture.truncated,
            "length": len(capture.body),
            "cut": _cut(row["url"], capture),
            "content": _decoded(capture.body, charset),
        }


def _cut(url: str, capture: Capture) -> str | None:
    """Return why the length shown is not that of the page; None: it is."""
    length = len(capture.body)
    reasons = []
    if length == _CONTENT_LIMIT:
        reasons.append("readseg shows no more of a capture")
    if capture.truncated:
        reasons.append(cut_by(capture.truncated, url))
    return f"only the first {length} bytes: {'; '.join(reasons)}" if reasons else None


def _decoded(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")
