"""`nutch export`: a crawl of ours becomes one of Nutch 1.x.

Guarantee: a new folder, never over one that is there; the crawl folder is not changed. Memory for
one record, or one page with its links. What was imported from Nutch comes out as it was.
Source: Nutch 1.22 `CrawlDb`, `LinkDb`, `fetcher.FetcherOutputFormat`, `parse.ParseOutputFormat`.
"""

from __future__ import annotations

import heapq
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from filbert.engine.base import Files, Query, WriteFiles
from filbert.errors import UserError
from filbert.nutch.map_file import MapFileWriter
from filbert.nutch.sequence_writer import Compression, Form, SequenceFileWriter
from filbert.nutch.simple import Text
from filbert.nutch.v1 import names
from filbert.nutch.v1.captures import content_of, fetched_extra
from filbert.nutch.v1.content import Content
from filbert.nutch.v1.crawl_datum import CrawlDatum, Status
from filbert.nutch.v1.links import Inlink, Inlinks, Outlink
from filbert.nutch.v1.parsed import ParseData, ParseText
from filbert.nutch.v1.rows import datum_of, outlink_metadata, page_datum, parse_data_of
from filbert.nutch.v1.values import map_of
from filbert.steps.context import StepResult
from filbert.steps.nutch_export07 import export07
from filbert.store.parquet import read_rows
from filbert.store.warc import read_capture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from filbert.nutch.writable import Writable
    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment
    from filbert.store.tables import Table

__all__ = ["ExportOptions", "run"]

Row = dict[str, Any]
_TEXT = "org.apache.hadoop.io.Text"
_PART = "part-r-00000"
_PLAIN = frozenset({"crawldb", "crawl_generate"})
_SAID = (
    "from_url, case kind when 'signature' then 0 when 'parse_metadata' then 1"
    " when 'adjust' then 3 else 2 end, ordinal"
)
"""The order in which a parse is said: the page itself, its links, what they give back to it."""
_STATUSES = {
    "signature": Status.SIGNATURE,
    "parse_metadata": Status.PARSE_METADATA,
    "subdocument": Status.FETCH_SUCCESS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """Where to, and how.

    Attributes:
        dest: The folder; it must not be there, or be empty.
        compression: Of all files; None: each as Nutch writes it by default.
        codec: By our name or Hadoop's class.
        as_07: As a crawl of Nutch 0.7, which packs nothing.
    """

    dest: Path
    compression: Compression | None = None
    codec: str = "default"
    as_07: bool = False


def run(context: StepContext, options: ExportOptions) -> StepResult:
    """Export a crawl.

    Raises:
        UserError: The folder has something in it; the codec is not known.
        DataError: A file of the crawl folder is damaged.
    """
    dest = options.dest
    if dest.exists() and (not dest.is_dir() or any(dest.iterdir())):
        raise UserError(f"{dest} is not empty", hint="Name a new folder.")
    ours = context.crawl.path.resolve()
    if ours in dest.resolve().parents:
        raise UserError(f"{dest} lies in the crawl folder", hint="Name a folder beside it.")
    if options.as_07:
        counted = export07(context, dest)
        return StepResult(step="nutch export", counters=counted, message=_message(counted, dest))
    work = _Export(context, options)
    with context.crawl.scratch("export") as scratch:
        work.crawldb(scratch / "crawldb")
        work.linkdb(scratch / "linkdb")
        for segment in context.crawl.segments():
            work.segment(segment, scratch / segment.name)
    message = _message(work.counters, dest)
    return StepResult(step="nutch export", counters=work.counters, message=message)


def _message(counted: Counter[str], dest: Path) -> str:
    links = (
        f"{counted['links']:,} links" if counted["links"] else f"{counted['linked']:,} with links"
    )
    return (
        f"exported to {dest}: {counted['pages']:,} pages, {links},"
        f" {counted['segments']:,} segments with {counted['crawl_fetch']:,} captures"
    )


class _Export:
    def __init__(self, context: StepContext, options: ExportOptions) -> None:
        self.counters: Counter[str] = Counter()
        self._context = context
        self._options = options

    def crawldb(self, scratch: Path) -> None:
        folder = self._options.dest / "crawldb" / "current"
        with self._map(folder, CrawlDatum) as add:
            for row in self._sorted(self._context.crawl.table("crawldb"), scratch, "url"):
                add(row["url"], page_datum(row))
                self.counters["pages"] += 1

    def linkdb(self, scratch: Path) -> None:
        table = self._context.crawl.table("linkdb")
        with self._map(self._options.dest / "linkdb" / "current", Inlinks) as add:
            rows = self._sorted(table, scratch, "url, from_url, anchor")
            for url, links in groupby(rows, itemgetter("url")):
                add(url, Inlinks(tuple(_inlink(row) for row in links)))
                self.counters["linked"] += 1

    def segment(self, segment: Segment, scratch: Path) -> None:
        self.counters["segments"] += 1
        dest = self._options.dest / "segments" / segment.name
        self._fetch_list(segment, dest / "crawl_generate", scratch)
        if segment.has("crawl_fetch"):
            self._fetches(segment, dest, scratch)
        if segment.has("parse_data"):
            self._parses(segment, dest, scratch)

    def _fetch_list(self, segment: Segment, folder: Path, scratch: Path) -> None:
        rows = self._sorted(segment.table("crawl_generate"), scratch, "part, position")
        folder.mkdir(parents=True)
        for part, several in groupby(rows, itemgetter("part")):
            path = folder / f"part-r-{part:05d}"
            with SequenceFileWriter(
                path, _TEXT, _java(CrawlDatum), self._form("crawl_generate")
            ) as file:
                for row in several:
                    file.append(Text(row["url"]).to_bytes(), page_datum(row).to_bytes())

    def _fetches(self, segment: Segment, dest: Path, scratch: Path) -> None:
        fetched = segment.table("crawl_fetch")
        redirects = self._sorted(
            segment.table("crawl_parse"), scratch, "url, ordinal", "kind = 'redirect'"
        )
        fetches = self._sorted(fetched, scratch, "url, position, hop")
        both = heapq.merge(
            ((row["url"].encode(), row["position"], row) for row in fetches),
            ((row["url"].encode(), row["ordinal"], row) for row in redirects),
            key=itemgetter(0, 1),
        )
        with self._map(dest / "crawl_fetch", CrawlDatum) as add:
            for _, _, row in both:
                is_fetch = "position" in row
                status = row["status"] if is_fetch else Status.LINKED
                extra = fetched_extra(row) if is_fetch else {}
                add(row["url"], datum_of(row, status, row["fetch_time"], extra))
                self.counters["crawl_fetch"] += is_fetch
        with self._map(dest / "content", Content) as add:
            captured = self._sorted(fetched, scratch, "url, hop", "warc_file is not null")
            for row in captured:
                add(row["url"], _content(segment, row))

    def _parses(self, segment: Segment, dest: Path, scratch: Path) -> None:
        links = segment.table("crawl_parse")
        path = dest / "crawl_parse" / _PART
        path.parent.mkdir(parents=True)
        with SequenceFileWriter(path, _TEXT, _java(CrawlDatum), self._form("crawl_parse")) as file:
            said = self._sorted(links, scratch, _SAID, "to_db and kind <> 'redirect'")
            for row in said:
                status = _STATUSES.get(row["kind"], Status.LINKED)
                datum = datum_of(row, status, row["fetch_time"])
                file.append(Text(row["url"]).to_bytes(), datum.to_bytes())
        with self._map(dest / "parse_data", ParseData) as add:
            named = self._sorted(links, scratch, "from_url, ordinal", "to_linkdb")
            rows = self._sorted(segment.table("parse_data"), scratch, "url")
            for row, several in _with_links(rows, named):
                add(row["url"], parse_data_of(row, map(_outlink, several)))
        with self._map(dest / "parse_text", ParseText) as add:
            for row in self._sorted(segment.table("parse_text"), scratch, "url"):
                add(row["url"], ParseText(row["text"]))

    def _sorted(self, table: Table, scratch: Path, order: str, where: str = "") -> Iterator[Row]:
        """Yield the rows of a table in an order; it may be larger than memory."""
        condition = f" where {where}" if where else ""
        target = WriteFiles(
            schema=table.schema, directory=scratch, stem="sorted", order_by=order, scratch=True
        )
        query = Query(name="export", sql=f"select * from given{condition}")
        files = self._context.engine.execute(query, {"given": table.files()}, target).files
        yield from read_rows(
            Files(schema=table.schema, paths=tuple(str(file.path) for file in files))
        )
        for file in files:
            file.path.unlink()

    def _form(self, name: str) -> Form:
        chosen = self._options.compression
        if chosen is None:
            chosen = Compression.NONE if name in _PLAIN else Compression.RECORD
        return Form(compression=chosen, codec=self._options.codec)

    @contextmanager
    def _map(self, folder: Path, cls: type[Writable]) -> Iterator[Any]:
        """Open the one part of a folder; give what takes a key and a record."""
        form = self._form(folder.parent.name if folder.name == "current" else folder.name)
        with MapFileWriter(folder / _PART, _TEXT, _java(cls), form) as file:

            def add(url: str, record: Writable) -> None:
                file.append(Text(url), record.to_bytes())

            yield add


def _java(cls: type[Writable]) -> str:
    return next(name for name, known in names.record_classes().items() if known is cls)


def _inlink(row: Row) -> Inlink:
    return Inlink(row["from_url"], row["anchor"], map_of(row["metadata"] or {}, None))


def _outlink(row: Row) -> Outlink:
    return Outlink(row["url"], row["anchor"] or "", outlink_metadata(row))


def _with_links(pages: Iterable[Row], links: Iterable[Row]) -> Iterator[tuple[Row, list[Row]]]:
    """Yield each page with its links; both come by URL."""
    groups = groupby(links, itemgetter("from_url"))
    source, several = next(groups, ("", iter(())))
    for page in pages:
        url = page["url"].encode()
        while source is not None and source.encode() < url:
            source, several = next(groups, (None, iter(())))
        yield page, list(several) if source == page["url"] else []


def _content(segment: Segment, row: Row) -> Content:
    capture = read_capture(
        segment.content_dir, row["warc_file"], row["warc_offset"], row["warc_length"]
    )
    content_type = row["content_type"] or capture.content_type or ""
    notes = {
        "nutch.segment.name": (segment.name,),
        "nutch.crawl.score": (str(row["score"]),),
        "_fst_": (str(row["status"]),),
    }
    return content_of(row["url"], capture.headers, capture.body, content_type, notes)
