"""`nutch import`: the crawl of a Nutch 1.x becomes ours.

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

from filbert.engine.base import Files, Query, WriteFiles
from filbert.errors import UserError
from filbert.model.schemas import CRAWLDB, LINKDB, ORIGINS
from filbert.nutch.simple import Text
from filbert.nutch.sources import Source
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.links import Inlinks
from filbert.nutch.v1.rows import page_columns, place
from filbert.nutch.v1.values import texts_of
from filbert.rules.urls import url_hash
from filbert.steps.context import StepResult
from filbert.steps.nutch_segments import import_segment
from filbert.store.parquet import ParquetSink, read_rows
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.model.schemas import TableSchema
    from filbert.nutch.sequence_file import Record
    from filbert.steps.context import StepContext
    from filbert.store.tables import Table

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
    source = Source.find(options.source, skip_bad=options.skip_bad)
    crawl = context.crawl
    crawldb = crawl.table("crawldb")
    if crawldb.transaction("import:crawldb") is None and crawldb.count():
        raise UserError(
            f"{crawl.path} has pages already",
            hint="Import into a new crawl folder.",
        )
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
        self.counters["links"] += self._commit_in_buckets(
            table, LINKDB, sink.files, scratch / "linkdb", {f"invert:{name}": 1 for name in names}
        )

    def crawldb(self, scratch: Path) -> None:
        """Import the crawldb; segments that it absorbed are not absorbed again."""
        table = self._context.crawl.table("crawldb")
        if self._source.crawldb is None or table.transaction("import:crawldb") is not None:
            return
        seq = table.next_version()
        with ParquetSink(CRAWLDB, scratch / "pages", "pages") as sink:
            sink.extend(self._pages(table.buckets, seq))
        self._note_origins(sink.files, scratch)
        absorbed = () if self._options.absorb_again else self._parsed()
        self.counters["pages"] += self._commit_in_buckets(
            table, CRAWLDB, sink.files, scratch / "crawldb", {f"update:{n}": 1 for n in absorbed}
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

    def _note_origins(self, pages: tuple[WrittenFile, ...], scratch: Path) -> None:
        origins = self._context.crawl.table("origins")
        if origins.transaction("import:origins") is not None:
            return
        now, where = self._context.clock.now_ms(), str(self._options.source)
        with ParquetSink(ORIGINS, scratch / "origins", "origins") as sink:
            for row in read_rows(_files(CRAWLDB, pages), ("url",)):
                sink.append({**row, "origin": "import", "origin_url": where, "first_seen": now})
        origins.commit(Commit(step="import", add=sink.files, transactions={"import:origins": 1}))

    def _commit_in_buckets(
        self,
        table: Table,
        schema: TableSchema,
        files: tuple[WrittenFile, ...],
        scratch: Path,
        transactions: dict[str, int],
    ) -> int:
        """Write the rows of files as a file per bucket, and commit them; return their number."""
        added: list[WrittenFile] = []
        for bucket in range(table.buckets):
            rows = _files(schema, files, f"bucket = {bucket}")
            target = WriteFiles(schema=schema, directory=scratch, stem=f"bucket-{bucket:04d}")
            query = Query(name="import", sql="select * from given")
            added += self._context.engine.execute(query, {"given": rows}, target).files
        table.commit(
            Commit(
                step="import",
                add=tuple(added),
                transactions={f"import:{schema.name}": 1, **transactions},
                read_version=table.version(),
            )
        )
        return sum(file.rows for file in added)


def _url(record: Record) -> str:
    """Return the URL that a record is about; what is no UTF-8 in it is replaced."""
    return Text.from_bytes(record.key).value.encode("utf-8", "replace").decode()


def _files(schema: TableSchema, files: tuple[WrittenFile, ...], where: str = "") -> Files:
    return Files(schema=schema, paths=tuple(str(file.path) for file in files), where=where)
