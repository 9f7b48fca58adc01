"""`nutch import`: the crawl of a Nutch becomes ours (of 0.6 and 0.7: `nutch_import07`).

Guarantee: nothing of the source is changed, and no record of it is lost: what has no column of ours
is kept as metadata, with its class. Each table is committed once (`import:<name>`), the crawldb
last, so that the same command goes on after a kill. A crawl folder that has pages already is
refused.
Source: Nutch 1.22 `CrawlDb`, `LinkDb`, the parts of a segment (`FetcherOutputFormat`,
`ParseOutputFormat`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from filbert.errors import UserError
from filbert.model.schemas import CRAWLDB, LINKDB
from filbert.nutch.simple import Text
from filbert.nutch.sources import Source
from filbert.nutch.v07.segment import OldSegment
from filbert.nutch.v07.sources import OldSource
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.links import Inlinks
from filbert.nutch.v1.rows import page_columns, place
from filbert.nutch.v1.values import texts_of
from filbert.rules.urls import url_hash
from filbert.steps.context import StepResult
from filbert.steps.nutch_import07 import import_old_segment, import_webdb
from filbert.steps.nutch_segments import import_segment
from filbert.steps.nutch_tables import commit_in_buckets, note_origins
from filbert.store.layout import is_segment_name
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.nutch.sequence_file import Record
    from filbert.steps.context import StepContext
    from filbert.store.crawl import CrawlFolder

__all__ = ["ImportOptions", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What to import.

    Attributes:
        source: A crawl of Nutch 1.x, or its crawldb, linkdb, segments or one segment.
        skip_bad: Go on behind damaged records.
        absorb_again: Leave parsed segments to the next updatedb, as if the crawldb had not seen
            them.
    """

    source: Path
    skip_bad: bool = False
    absorb_again: bool = False


def run(context: StepContext, options: ImportOptions) -> StepResult:
    """Import a crawl.

    Raises:
        UserError: The source is nothing of Nutch's, or the crawl folder is not empty.
        CorruptDataError: The source is damaged.
    """
    crawl = context.crawl
    old = OldSource.find(options.source)
    if old is not None:
        _refuse_pages(crawl)
        counters = _import_old(context, old, options)
        return StepResult(
            step="nutch import", counters=counters, message=_message(counters, options.source)
        )
    source = Source.find(options.source, skip_bad=options.skip_bad)
    _refuse_pages(crawl)
    work = _Import(context, source, options)
    with crawl.scratch("import") as scratch:
        work.segments(scratch)
        work.linkdb(scratch)
        work.crawldb(scratch)
    return StepResult(
        step="nutch import",
        counters=work.counters,
        message=_message(work.counters, options.source),
        notes=tuple(f"left out: {one}" for one in source.skipped[:10]),
    )


def _refuse_pages(crawl: CrawlFolder) -> None:
    """Refuse a crawl folder with pages that did not come by this import.

    Raises:
        UserError: It has such.
    """
    crawldb = crawl.table("crawldb")
    if crawldb.transaction("import:crawldb") is None and crawldb.count():
        raise UserError(f"{crawl.path} has pages already", hint="Import into a new crawl folder.")


def _import_old(context: StepContext, source: OldSource, options: ImportOptions) -> Counter[str]:
    """Import what Nutch 0.6 or 0.7 left."""
    counters: Counter[str] = Counter()
    fetched = [one.name for one in source.segments if OldSegment(one).is_fetched]
    with context.crawl.scratch("import") as scratch:
        for folder in source.segments:
            if not is_segment_name(folder.name):
                raise UserError(
                    f"{folder} is not called as segments are",
                    hint="Rename it: 14 digits, a time such as 20060331120000.",
                )
            counters += import_old_segment(
                context, folder, folder.name, scratch / folder.name, skip_bad=options.skip_bad
            )
            counters["segments"] += 1
        if source.webdb is not None:
            absorbed = () if options.absorb_again else fetched
            counters += import_webdb(
                context, source.webdb, scratch, absorbed, skip_bad=options.skip_bad
            )
    return counters


def _message(counters: Counter[str], source: Path) -> str:
    return (
        f"imported {source}: {counters['pages']:,} pages, {counters['links']:,} links,"
        f" {counters['segments']:,} segments with {counters['captures']:,} captures"
    )


class _Import:
    """One import.

    Attributes:
        counters: What came over.
    """

    def __init__(self, context: StepContext, source: Source, options: ImportOptions) -> None:
        self.counters: Counter[str] = Counter()
        self._context = context
        self._source = source
        self._options = options

    def segments(self, scratch: Path) -> None:
        """Import the segments."""
        for folder in self._source.segments:
            counted = import_segment(self._context, self._source, folder, scratch / folder.name)
            self.counters.update(counted)
            self.counters["segments"] += 1

    def linkdb(self, scratch: Path) -> None:
        """Import the linkdb; segments that it was made of are not inverted again."""
        table = self._context.crawl.table("linkdb")
        if self._source.linkdb is None or table.transaction("import:linkdb") is not None:
            return
        with ParquetSink(LINKDB, scratch / "links", "links") as sink:
            sink.extend(self._links(table.buckets))
        names = self._parsed()
        done = {f"invert:{name}": 1 for name in names}
        self.counters["links"] += commit_in_buckets(
            self._context, table, sink.files, scratch / "linkdb", done
        )

    def crawldb(self, scratch: Path) -> None:
        """Import the crawldb; segments that it absorbed are not absorbed again."""
        table = self._context.crawl.table("crawldb")
        if self._source.crawldb is None or table.transaction("import:crawldb") is not None:
            return
        seq = table.next_version()
        with ParquetSink(CRAWLDB, scratch / "pages", "pages") as sink:
            sink.extend(self._pages(table.buckets, seq))
        note_origins(self._context, sink.files, scratch, str(self._options.source))
        absorbed = () if self._options.absorb_again else self._parsed()
        done = {f"update:{name}": 1 for name in absorbed}
        self.counters["pages"] += commit_in_buckets(
            self._context, table, sink.files, scratch / "crawldb", done
        )

    def _parsed(self) -> list[str]:
        return [folder.name for folder in self._source.segments if self._source.is_parsed(folder)]

    def _pages(self, buckets: int, seq: int) -> Iterator[dict[str, Any]]:
        assert self._source.crawldb is not None
        for record in self._source.records(self._source.crawldb):
            url = _url(record)
            datum = CrawlDatum.from_bytes(record.value)
            row = page_columns(datum) | place(url)
            yield row | {"bucket": url_hash(url) % buckets, "seq": seq}

    def _links(self, buckets: int) -> Iterator[dict[str, Any]]:
        assert self._source.linkdb is not None
        for record in self._source.records(self._source.linkdb):
            url = _url(record)
            bucket = url_hash(url) % buckets
            for link in Inlinks.from_bytes(record.value).inlinks:
                texts, _ = texts_of(link.metadata)
                yield {
                    "url": url,
                    "from_url": link.from_url,
                    "anchor": link.anchor,
                    "bucket": bucket,
                    "metadata": texts or None,
                }


def _url(record: Record) -> str:
    """Return the URL that a record is about; what is no UTF-8 in it is replaced."""
    return Text.from_bytes(record.key).value.encode("utf-8", "replace").decode()
