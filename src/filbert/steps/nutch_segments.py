"""Segments of Nutch 1.x become segments of ours.

Guarantee: one segment at a time, in memory one record at a time; a segment that was imported is
left alone, one that was cut off is begun anew. A link of crawl_parse and the link of parse_data
that it came from are one row here; what has no partner is kept by itself.
Source: Nutch 1.22 `fetcher.FetcherOutputFormat`, `parse.ParseOutputFormat`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from filbert.engine.base import Files, Query, WriteFiles
from filbert.model.schemas import CRAWL_GENERATE, CRAWL_PARSE, PARSE_DATA, PARSE_TEXT, TableSchema
from filbert.nutch.map_file import MapFile, is_map_file
from filbert.nutch.simple import Text
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
)
from filbert.rules.nutch_links import LINKED, NAMED, joined_links_sql
from filbert.rules.urls import url_hash
from filbert.store.captures import CaptureLog, CaptureOptions
from filbert.store.parquet import ParquetSink
from filbert.store.seal import seal
from filbert.store.segments import Segment
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.nutch.sequence_file import Record
    from filbert.nutch.sources import Source
    from filbert.steps.context import StepContext

__all__ = ["import_segment"]

_FETCHED = frozenset(range(Status.FETCH_SUCCESS, Status.FETCH_NOTMODIFIED + 1))
_KINDS = {
    Status.LINKED: "outlink",
    Status.SIGNATURE: "signature",
    Status.PARSE_METADATA: "parse_metadata",
}


def import_segment(
    context: StepContext, source: Source, folder: Path, scratch: Path
) -> Counter[str]:
    """Import a segment.

    Args:
        context: The step's.
        source: What it belongs to.
        folder: The segment.
        scratch: Where files are written.

    Returns:
        What came over.

    Raises:
        CorruptDataError: It is damaged.
    """
    path = context.crawl.segments_dir / folder.name
    path.mkdir(parents=True, exist_ok=True)
    segment = Segment(path, clock=context.clock)
    work = _Segment(context, source, folder, segment, scratch)
    work.run()
    return work.counters


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
        self._context = context
        self._source = source
        self._folder = folder
        self._segment = segment
        self._scratch = scratch

    def run(self) -> None:
        if self._is_wanted("crawl_generate"):
            self._commit("crawl_generate", self._fetch_list())
        parsed = self._source.is_parsed(self._folder)
        if self._is_wanted("crawl_fetch"):
            files, redirects = self._captures()
            self._commit("crawl_parse", (*redirects, *self._links()))
            self._commit("crawl_fetch", files)
            shutil.rmtree(self._segment.journal_dir, ignore_errors=True)
        if parsed and self._is_wanted("parse_data"):
            self._commit("parse_text", self._texts())
            self._commit("parse_data", self._parses())

    def _is_wanted(self, name: str) -> bool:
        """Say whether a part is there and was not imported yet."""
        transaction = self._segment.table(name).transaction(f"import:{name}")
        return transaction is None and (self._folder / name).is_dir()

    def _commit(self, name: str, files: tuple[WrittenFile, ...]) -> None:
        table = self._segment.table(name)
        if table.transaction(f"import:{name}") is None:
            table.commit(
                Commit(step="import", add=files, transactions={f"import:{name}": 1}, remove="all")
            )

    def _records(self, name: str) -> Iterator[tuple[str, Record]]:
        for record in self._source.records(self._folder / name):
            url = Text.from_bytes(record.key).value
            yield url.encode("utf-8", "replace").decode(), record

    def _fetch_list(self) -> tuple[WrittenFile, ...]:
        with ParquetSink(CRAWL_GENERATE, self._scratch, "generate") as sink:
            for position, (url, record) in enumerate(self._records("crawl_generate")):
                row = page_columns(CrawlDatum.from_bytes(record.value)) | place(url)
                buckets = self._context.crawl.table("crawldb").buckets
                more = {"bucket": url_hash(url) % buckets, "seq": 0, "part": 0}
                sink.append(row | more | {"position": position})
        self.counters["generated"] += sink.rows
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
            ExitStack() as stack,
        ):
            contents = [
                stack.enter_context(MapFile(part))
                for part in sorted((self._folder / "content").glob("part-*"))
                if is_map_file(part)
            ]
            # Both kinds are numbered through, so that an export has them in the same order.
            for position, (url, record) in enumerate(self._records("crawl_fetch")):
                datum = CrawlDatum.from_bytes(record.value)
                if datum.status in _FETCHED:
                    fetched = fetch_record(url, datum, position)
                    content = _content(contents, record.key)
                    log.append(fetched, protocol_output(content, fetched) if content else None)
                    self.counters["captures"] += 1
                else:
                    redirects.append({**_parse_row(url, datum, position), "kind": "redirect"})
        sealed = seal(self._segment.journal_dir, 0, self._scratch)
        return sealed.files["crawl_fetch"], redirects.files

    # ------------------------------------------------------------------ parses

    def _links(self) -> tuple[WrittenFile, ...]:
        """Write the rows of crawl_parse, each joined to the link that it came from."""
        linked, named = self._sink(LINKED, "linked"), self._sink(NAMED, "named")
        with linked, named, ParquetSink(CRAWL_PARSE, self._scratch, "parse") as others:
            for number, (url, record) in enumerate(self._records("crawl_parse")):
                datum = CrawlDatum.from_bytes(record.value)
                row = _parse_row(url, datum, number)
                if datum.status == Status.LINKED:
                    linked.append({**row, "kind": None, "number": number})
                else:
                    kind = _KINDS.get(Status(datum.status), "adjust")
                    others.append({**row, "kind": kind, "from_url": url})
            for page, (url, record) in enumerate(self._records("parse_data")):
                for ordinal, link in enumerate(ParseData.from_bytes(record.value).outlinks):
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
        joined = self._context.engine.execute(query, views, target).files
        self.counters["outlinks"] += sum(file.rows for file in joined)
        return (*others.files, *joined)

    def _sink(self, schema: TableSchema, stem: str) -> ParquetSink:
        return ParquetSink(schema, self._scratch, stem)

    def _parses(self) -> tuple[WrittenFile, ...]:
        with ParquetSink(PARSE_DATA, self._scratch, "data") as sink:
            for url, record in self._records("parse_data"):
                sink.append(parse_columns(url, ParseData.from_bytes(record.value), None))
        self.counters["parsed"] += sink.rows
        return sink.files

    def _texts(self) -> tuple[WrittenFile, ...]:
        with ParquetSink(PARSE_TEXT, self._scratch, "text") as sink:
            for url, record in self._records("parse_text"):
                sink.append({"url": url, "text": ParseText.from_bytes(record.value).text})
        return sink.files


def _content(files: list[MapFile], key: bytes) -> Content | None:
    for file in files:
        value = file.get(Text.from_bytes(key))
        if value is not None:
            return Content.from_bytes(value)
    return None


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
