"""`nutch export --as 0.7`: a crawl of ours becomes one of Nutch 0.7.

Guarantee: a new folder, never over one that is there: `db` with a web database, and `segments`.
What was imported from there comes out as it was; pages of today are cut to what that time could
say: an interval of whole days up to 127, strings of 65,535 bytes, statuses that it knew.
Source: Nutch 0.7 `tools.CrawlTool`, `db.WebDBWriter`, `fetcher.Fetcher.outputPage`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from filbert.engine.base import Query, WriteFiles
from filbert.model.schemas import CRAWL_FETCH, CRAWL_PARSE, LINKDB, Column, TableSchema, Type
from filbert.model.statuses import FetchStatus
from filbert.nutch.simple import MD5Hash
from filbert.nutch.v07.fetched import Content
from filbert.nutch.v07.handle import (
    Outputs,
    handle_fetch,
    handle_no_fetch,
    parse_data_of,
    status_of,
)
from filbert.nutch.v07.link import Link
from filbert.nutch.v07.parsed import ParseText
from filbert.nutch.v07.rows import NUM_OUTLINKS, entry_of, page_of, parsed_of
from filbert.nutch.v07.segment import OldSegmentWriter, write_fetch_list
from filbert.nutch.v07.status import ProtocolStatus
from filbert.nutch.v07.webdb import write_webdb
from filbert.nutch.v1.captures import content_of
from filbert.rules.urls import host_of
from filbert.steps.nutch_tables import view_of
from filbert.store.parquet import read_rows
from filbert.store.warc import read_capture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.engine.base import Files
    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment

__all__ = ["export07"]

Row = dict[str, Any]
_SIGNATURE = Column("from_signature", Type.BINARY, "Signature of the page that links.")
_OUTLINKS = Column("target_metadata", Type.STRING_MAP, "Metadata of the target.")
_LINKED = TableSchema(name="linked", key=(), columns=(*LINKDB.columns, _SIGNATURE, _OUTLINKS))
_FETCHED = TableSchema(
    name="fetched",
    key=(),
    columns=(
        *CRAWL_FETCH.columns,
        Column("title", Type.STRING, "Of parse_data."),
        Column("major", Type.SMALLINT, "Of parse_data; null: not parsed."),
        Column("minor", Type.SMALLINT, "Of parse_data."),
        Column("parse_message", Type.STRING, "Of parse_data."),
        Column("content_metadata", Type.STRING_LISTS, "Of parse_data."),
        Column("parse_metadata", Type.STRING_LISTS, "Of parse_data."),
        Column("text", Type.STRING, "Of parse_text."),
    ),
)
_LINKED_SQL = (
    "select l.*, s.signature as from_signature, t.metadata as target_metadata from linkdb l"
    " join crawldb s on s.url = l.from_url left join crawldb t on t.url = l.url"
)
_FETCHED_SQL = (
    "select f.*, d.title, d.major, d.minor, d.parse_message, d.content_metadata,"
    " d.parse_metadata, t.text"
    " from crawl_fetch f left join parse_data d on d.url = f.url"
    " left join parse_text t on t.url = f.url"
)
_LINKS_SQL = (
    "select p.*, f.position from crawl_parse p join crawl_fetch f on f.url = p.from_url"
    " where p.kind = 'outlink' and p.to_linkdb"
)
_PLACED = TableSchema(
    name="placed", key=(), columns=(*CRAWL_PARSE.columns, CRAWL_FETCH["position"])
)


def export07(context: StepContext, dest: Path) -> Counter[str]:
    """Export a crawl; `dest` is a new folder, or an empty one."""
    work = _Export07(context, dest)
    with context.crawl.scratch("export") as scratch:
        work.webdb(scratch)
        for segment in context.crawl.segments():
            work.segment(segment, scratch / segment.name)
    return work.counters


class _Export07:
    def __init__(self, context: StepContext, dest: Path) -> None:
        self.counters: Counter[str] = Counter()
        self._context = context
        self._dest = dest

    def webdb(self, scratch: Path) -> None:
        """Write the web database."""
        crawl = self._context.crawl
        pages = crawl.table("crawldb").files()
        views = {"linkdb": crawl.table("linkdb").files(), "crawldb": pages}
        order = "url, from_signature, from_url, anchor"
        linked = self._written(_LINKED_SQL, views, (_LINKED, order), scratch)
        (self._dest / "db").mkdir(parents=True)
        stats = write_webdb(
            self._dest / "db",
            lambda: map(page_of, read_rows(pages)),
            lambda: _links(read_rows(linked)),
        )
        self.counters.update(pages=stats.pages, links=stats.links)

    def segment(self, segment: Segment, scratch: Path) -> None:
        """Write a segment."""
        self.counters["segments"] += 1
        dest = self._dest / "segments" / segment.name
        dest.mkdir(parents=True)
        generated = segment.table("crawl_generate").files()
        views = {"listed": generated}
        listed = self._written(
            "select * from listed", views, (generated.schema, "part, position"), scratch
        )
        write_fetch_list(dest, map(entry_of, read_rows(listed)))
        if segment.has("crawl_fetch"):
            self._outputs(segment, dest, scratch)

    def _outputs(self, segment: Segment, dest: Path, scratch: Path) -> None:
        names = ("crawl_fetch", "crawl_parse", "parse_data", "parse_text")
        views = {name: segment.table(name).files() for name in names}
        fetched = self._written(_FETCHED_SQL, views, (_FETCHED, "position, url, hop"), scratch)
        order = "position, from_url, ordinal"
        links = _Links(read_rows(self._written(_LINKS_SQL, views, (_PLACED, order), scratch)))
        with OldSegmentWriter(dest) as writer:
            for row in read_rows(fetched):
                found = links.of(row["position"], row["url"])
                writer.output_page(*_outputs_of(segment, row, found))
                self.counters["crawl_fetch"] += 1

    def _written(
        self, sql: str, views: dict[str, Files], into: tuple[TableSchema, str], scratch: Path
    ) -> Files:
        """Write the rows of a query in an order; return them as a view."""
        schema, order = into
        target = WriteFiles(
            schema=schema, directory=scratch, stem=schema.name, order_by=order, scratch=True
        )
        written = self._context.engine.execute(Query(name="export07", sql=sql), views, target)
        return view_of(schema, written.files)


class _Links:
    """Links in the order of the pages that they are on."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._pages = groupby(rows, itemgetter("position", "from_url"))
        self._next = next(self._pages, None)

    def of(self, position: int, url: str) -> list[Row]:
        """Return the links of a page; pages are asked for in order."""
        wanted = (position, url)
        while self._next is not None and self._next[0] < wanted:
            self._next = next(self._pages, None)
        if self._next is None or self._next[0] != wanted:
            return []
        return list(self._next[1])


def _links(rows: Iterator[Row]) -> Iterator[Link]:
    """Yield each link once per content that it is on."""
    last: tuple[str, bytes] | None = None
    for row in rows:
        signature = row["from_signature"] or b""
        source = MD5Hash(signature) if len(signature) == 16 else MD5Hash.digest(row["from_url"])
        if last == (row["url"], source.value):
            continue
        last = row["url"], source.value
        link = Link.of(source, row["url"], host_of(row["from_url"]), row["anchor"])
        outlinks = int((row["target_metadata"] or {}).get(NUM_OUTLINKS, 0))
        yield replace(link, target_has_outlink=outlinks > 0)


def _outputs_of(segment: Segment, row: Row, links: list[Row]) -> Outputs:
    entry = entry_of({**row, "status": None})
    status = status_of(row)
    if not entry.fetch:
        status = ProtocolStatus(code=status.code)
    if not entry.fetch or row["status"] != FetchStatus.FETCH_SUCCESS or row["warc_file"] is None:
        made = handle_no_fetch(entry, status, row["fetch_time"])
        kept = parsed_of(row)
        return made if kept is None else made._replace(text=kept[0], data=kept[1])
    place = (row["warc_file"], row["warc_offset"], row["warc_length"])
    capture = read_capture(segment.content_dir, *place)
    kind = row["content_type"] or capture.content_type or ""
    new = content_of(row["url"], capture.headers, capture.body, kind, {})
    content = Content(
        url=row["url"],
        base=new.base,
        content=new.content,
        content_type=new.content_type,
        metadata={name: values[-1] for name, values in new.metadata.values.items()},
    )
    data = parse_data_of(row if row["major"] is not None else None, links, content)
    return handle_fetch(entry, row["fetch_time"], content, ParseText(text=row["text"] or ""), data)
