"""Segments of Nutch 1.x become segments of ours.

Guarantee: one segment at a time, in memory the records of one URL at a time; a segment that was
imported is left alone, one that was cut off is begun anew. A part without the one that it belongs
to (a parse without its fetch) is left out, and told. A link of crawl_parse and the link of
parse_data that it came from are one row here; what has no partner is kept by itself.
Source: Nutch 1.22 `fetcher.FetcherOutputFormat`, `parse.ParseOutputFormat`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from filbert.engine.base import Files, Query, WriteFiles
from filbert.model.schemas import CRAWL_GENERATE, CRAWL_PARSE, PARSE_DATA, PARSE_TEXT, TableSchema
from filbert.nutch.sources import SEGMENT_PARTS, has_part
from filbert.nutch.v1.captures import fetch_record, protocol_output
from filbert.nutch.v1.content import Content
from filbert.nutch.v1.crawl_datum import CrawlDatum, Status
from filbert.nutch.v1.parsed import ParseData, ParseText
from filbert.nutch.v1.rows import (
    datum_columns,
    outlink_columns,
    page_columns,
    parse_columns,
    place,
    sayable,
)
from filbert.rules.nutch_links import LINKED, NAMED, joined_links_sql
from filbert.rules.urls import url_hash
from filbert.steps.nutch_tables import commit_once
from filbert.store.captures import CaptureLog, CaptureOptions
from filbert.store.parquet import ParquetSink
from filbert.store.seal import seal
from filbert.store.segments import Segment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.nutch.sources import Source
    from filbert.nutch.v1.folders import Entry
    from filbert.nutch.writable import Writable
    from filbert.steps.context import StepContext

__all__ = ["import_segment"]

_FETCHED = frozenset(range(Status.FETCH_SUCCESS, Status.FETCH_NOTMODIFIED + 1))
_COUNTED = (
    ("generated", "crawl_generate"),
    ("captures", "crawl_fetch"),
    ("parsed", "parse_data"),
)
_OF_FETCH = ("content", "crawl_parse", "parse_data", "parse_text")
_OF_PARSE = ("crawl_parse", "parse_text")
_KINDS = {
    Status.LINKED: "outlink",
    Status.SIGNATURE: "signature",
    Status.PARSE_METADATA: "parse_metadata",
}


def import_segment(
    context: StepContext, source: Source, folder: Path, scratch: Path
) -> tuple[Counter[str], list[str]]:
    """Import a segment.

    Args:
        context: The step's.
        source: What it belongs to.
        folder: The segment.
        scratch: Where files are written.

    Returns:
        What is here of it in the end, and what is to be told.

    Raises:
        CorruptDataError: It is damaged.
    """
    path = context.crawl.segments_dir / folder.name
    path.mkdir(parents=True, exist_ok=True)
    segment = Segment(path, clock=context.clock)
    work = _Segment(context, source, folder, segment, scratch)
    work.run()
    return work.counters, work.notes


class _Segment:
    def __init__(
        self,
        context: StepContext,
        source: Source,
        folder: Path,
        segment: Segment,
        scratch: Path,
    ) -> None:
        self.counters: Counter[str] = Counter()
        self.notes: list[str] = []
        self._parts: set[str] = set()
        self._context = context
        self._source = source
        self._folder = folder
        self._segment = segment
        self._scratch = scratch

    def run(self) -> None:
        parts = self._parts = self._whole_parts()
        if "crawl_generate" in parts:
            commit_once(self._segment.table("crawl_generate"), self._fetch_list)
        if "crawl_fetch" in parts:
            self._fetches()
        if "parse_data" in parts:
            commit_once(self._segment.table("parse_text"), self._texts)
            commit_once(self._segment.table("parse_data"), self._parses)
        for said, name in _COUNTED:
            self.counters[said] += self._segment.table(name).count()

    def _whole_parts(self) -> set[str]:
        """Return the parts that come; tell which are missing, and which do not come for that."""
        there = {name for name in SEGMENT_PARTS if has_part(self._folder, name)}
        needs = (("crawl_fetch", set(_OF_FETCH)), ("parse_data", set(_OF_PARSE)))
        for needed, others in needs:
            if needed not in there and (left := there & others):
                names = ", ".join(sorted(left))
                self.notes.append(f"{self._folder} has no {needed}: left out {names}")
                there -= left
        if "crawl_fetch" in there and "content" not in there:
            self.notes.append(f"{self._folder} has no content: its captures have no body")
        if "parse_data" in there:
            self.notes += [
                f"{self._folder} has no {name}" for name in _OF_PARSE if name not in there
            ]
        return there

    def _fetches(self) -> None:
        """Import what the fetch left; a cut-off one is begun anew."""
        table = self._segment.table("crawl_fetch")
        if table.transaction("import:crawl_fetch") is not None:
            return
        files, redirects = self._captures()
        commit_once(self._segment.table("crawl_parse"), lambda: (*redirects, *self._links()))
        commit_once(table, lambda: files)
        shutil.rmtree(self._segment.journal_dir, ignore_errors=True)

    def _records(self, name: str, cls: type[Writable]) -> Iterator[tuple[str, Any]]:
        """Yield the URLs and records of a part; none if it is not there, or does not come."""
        if name in self._parts:
            for entry in self._source.records(self._folder / name, cls):
                yield sayable(entry.url), entry.record

    def _fetch_list(self) -> tuple[WrittenFile, ...]:
        buckets = self._context.crawl.table("crawldb").buckets
        with ParquetSink(CRAWL_GENERATE, self._scratch, "generate") as sink:
            for position, (url, datum) in enumerate(self._records("crawl_generate", CrawlDatum)):
                row = page_columns(datum) | place(url)
                more = {"bucket": url_hash(url) % buckets, "seq": 0, "part": 0}
                sink.append(row | more | {"position": position})
        return sink.files

    # ------------------------------------------------------------------ fetches

    def _captures(self) -> tuple[tuple[WrittenFile, ...], tuple[WrittenFile, ...]]:
        """Write the captures; return the files of crawl_fetch, and of links of redirects."""
        for folder in (self._segment.content_dir, self._segment.journal_dir):
            shutil.rmtree(folder, ignore_errors=True)
        options = CaptureOptions.from_settings(self._context.settings)
        with (
            CaptureLog(
                self._segment.content_dir,
                self._segment.journal_dir,
                0,
                options=options,
                clock=self._context.clock,
            ) as log,
            ParquetSink(CRAWL_PARSE, self._scratch, "redirects") as redirects,
        ):
            # Both kinds are numbered through, so that an export has them in the same order.
            for position, (url, datum, content) in enumerate(self._fetched()):
                if datum.status in _FETCHED:
                    fetched = fetch_record(url, datum, position)
                    log.append(fetched, protocol_output(content, fetched) if content else None)
                else:
                    redirects.append({**_parse_row(url, datum, position), "kind": "redirect"})
        sealed = seal(self._segment.journal_dir, 0, self._scratch)
        return sealed.files["crawl_fetch"], redirects.files

    def _fetched(self) -> Iterator[tuple[str, CrawlDatum, Content | None]]:
        """Yield the records of crawl_fetch, by URL, each with its content."""
        contents = _Contents(self._folder, self._source)
        fetches = self._source.records(self._folder / "crawl_fetch", CrawlDatum).merged()
        for key, several in groupby(fetches, attrgetter("key")):
            data = [cast("CrawlDatum", entry.record) for entry in several]
            found = contents.of(key)
            for datum, content in zip(data, _dealt(found, data), strict=True):
                yield sayable(key.decode("utf-8", "surrogateescape")), datum, content
        self.notes += [f"{self._folder}: {told}" for told in contents.left()]

    # ------------------------------------------------------------------ parses

    def _links(self) -> tuple[WrittenFile, ...]:
        """Write the rows of crawl_parse, each joined to the link that it came from."""
        linked, named = self._sink(LINKED, "linked"), self._sink(NAMED, "named")
        with linked, named, ParquetSink(CRAWL_PARSE, self._scratch, "parse") as others:
            for number, (url, datum) in enumerate(self._records("crawl_parse", CrawlDatum)):
                row = _parse_row(url, datum, number)
                if datum.status == Status.LINKED:
                    linked.append({**row, "kind": None, "number": number})
                else:
                    kind = _KINDS.get(Status(datum.status), "adjust")
                    others.append({**row, "kind": kind, "from_url": url})
            for page, (url, parse) in enumerate(self._records("parse_data", ParseData)):
                for ordinal, link in enumerate(parse.outlinks):
                    named.append(
                        {
                            **place(link.to_url),
                            "from_url": url,
                            "page": page,
                            "ordinal": ordinal,
                            "anchor": link.anchor,
                            "link_metadata": outlink_columns(link.metadata),
                        }
                    )
        views = {"linked": _files(LINKED, linked.files), "named": _files(NAMED, named.files)}
        interval = self._context.settings.schedule.interval_default_s
        query = Query(name="import_links", sql=joined_links_sql(interval))
        target = WriteFiles(schema=CRAWL_PARSE, directory=self._scratch, stem="links")
        return (*others.files, *self._context.engine.execute(query, views, target).files)

    def _sink(self, schema: TableSchema, stem: str) -> ParquetSink:
        return ParquetSink(schema, self._scratch, stem)

    def _parses(self) -> tuple[WrittenFile, ...]:
        with ParquetSink(PARSE_DATA, self._scratch, "data") as sink:
            for url, parse in self._records("parse_data", ParseData):
                sink.append(parse_columns(url, parse, None))
        return sink.files

    def _texts(self) -> tuple[WrittenFile, ...]:
        with ParquetSink(PARSE_TEXT, self._scratch, "text") as sink:
            for url, text in self._records("parse_text", ParseText):
                sink.append({"url": url, "text": text.text})
        return sink.files


class _Contents:
    """The contents of a segment, asked for in the order of their URLs."""

    def __init__(self, segment: Path, source: Source) -> None:
        records: Iterator[Entry] = iter(())
        if has_part(segment, "content"):
            records = source.records(segment / "content", Content).merged()
        self._groups = groupby(records, attrgetter("key"))
        self._next = next(self._groups, None)
        self._alone: list[bytes] = []  # the first URL of contents without a fetch
        self._count = 0

    def of(self, key: bytes) -> list[Content]:
        """Return the contents of a URL."""
        self._pass_over(lambda other: other < key)
        if self._next is None or self._next[0] != key:
            return []
        found = [cast("Content", entry.record) for entry in self._next[1]]
        self._next = next(self._groups, None)
        return found

    def left(self) -> list[str]:
        """Return what is to be told of contents that were not asked for."""
        self._pass_over(lambda _: True)
        if not self._count:
            return []
        url = self._alone[0].decode("utf-8", "replace")
        return [f"left out {self._count:,} contents without a fetch, the first that of {url}"]

    def _pass_over(self, is_wanted: Callable[[bytes], bool]) -> None:
        while self._next is not None and is_wanted(self._next[0]):
            self._alone = self._alone or [self._next[0]]
            self._count += 1
            self._next = next(self._groups, None)


def _dealt(contents: list[Content], fetches: list[CrawlDatum]) -> list[Content | None]:
    """Return the content of each fetch of one URL: those that were good have one first."""
    chosen: list[Content | None] = [None] * len(fetches)
    good = [n for n, datum in enumerate(fetches) if datum.status == Status.FETCH_SUCCESS]
    rest = [n for n, datum in enumerate(fetches) if datum.status in _FETCHED and n not in good]
    for place_, content in zip((*good, *rest), contents, strict=False):
        chosen[place_] = content
    return chosen


def _parse_row(url: str, datum: CrawlDatum, ordinal: int) -> dict[str, Any]:
    return {
        **datum_columns(datum),
        **place(url),
        "ordinal": ordinal,
        "to_db": True,
        "to_linkdb": False,
        "fetch_time": datum.fetch_time,
    }


def _files(schema: TableSchema, files: tuple[WrittenFile, ...]) -> Files:
    return Files(schema=schema, paths=tuple(str(file.path) for file in files))
