"""`nutch import`: the crawl of a Nutch becomes ours (of 0.6 and 0.7: `nutch_import07`).

Guarantee: nothing of the source is changed, and no record of it is lost unsaid: what has no column
of ours is kept as metadata, with its class; what is left out is told. Each table is committed once
(`import:<name>`), and until all are no other step works on the crawl folder, so that the same
command goes on after a kill. Parts may come one after the other; none from two sources.
Source: Nutch 1.22 `CrawlDb`, `LinkDb`, the parts of a segment (`FetcherOutputFormat`,
`ParseOutputFormat`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from filbert.errors import UserError
from filbert.model.schemas import CRAWLDB, LINKDB
from filbert.nutch.damage import Damage
from filbert.nutch.sources import Source
from filbert.nutch.v07.sources import OldSource
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.links import Inlinks
from filbert.nutch.v1.rows import page_columns, place, sayable
from filbert.nutch.v1.values import texts_of
from filbert.rules.urls import url_hash
from filbert.steps.context import StepResult
from filbert.steps.nutch_import07 import import_old
from filbert.steps.nutch_segments import import_segment
from filbert.steps.nutch_tables import commit_in_buckets, note_absorbed, note_origins
from filbert.store.layout import is_segment_name
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
        UserError: The source is nothing of Nutch's, or the crawl folder has what it brings already,
            from elsewhere.
        CorruptDataError: The source is damaged.
    """
    crawl = context.crawl
    damage = Damage() if options.skip_bad else None
    old = OldSource.find(options.source)
    source = None if old is not None else Source.find(options.source, damage=damage)
    parts = _parts_of(old or source)
    where = str(options.source.resolve())
    _check_place(crawl, options.source)
    again = _check_parts(crawl, parts, where)
    crawl.imports.begin(where, parts)
    with crawl.scratch("import") as scratch:
        if old is not None:
            notes, counters = import_old(context, old, scratch, damage)
        else:
            assert source is not None
            work = _Import(context, source, where)
            notes, counters = work.run(scratch), work.counters
    if options.absorb_again and again:
        notes += ("--absorb-again came too late: the segments count as absorbed already",)
    note_absorbed(context, update=not options.absorb_again)
    crawl.imports.finish()
    said = "was imported already, " if again else "imported "
    return StepResult(
        step="nutch import",
        counters=counters,
        message=_message(f"{said}{options.source}", counters),
        notes=(*notes, *(damage.lines() if damage is not None else ())),
    )


def _parts_of(source: Source | OldSource | None) -> list[str]:
    """Return what an import brings: `crawldb`, `linkdb`, `segments/NAME`.

    Raises:
        UserError: A segment has a name that is none.
    """
    assert source is not None
    if isinstance(source, OldSource):
        names = ["crawldb", "linkdb"] if source.webdb is not None else []
    else:
        names = ["crawldb"] if source.crawldb is not None else []
        names += ["linkdb"] if source.linkdb is not None else []
    for folder in source.segments:
        if not is_segment_name(folder.name):
            raise UserError(
                f"{folder} is not called as segments are",
                hint="Rename it: 14 digits, a time such as 20060331120000.",
            )
        names.append(f"segments/{folder.name}")
    return names


def _check_place(crawl: CrawlFolder, source: Path) -> None:
    ours, theirs = crawl.path.resolve(), source.resolve()
    below = {theirs / name for name in ("crawldb", "linkdb", "segments", "db")}
    data = {one for one in below if one.is_dir()} or {theirs}
    if ours in (theirs, *theirs.parents) or data & set(ours.parents):
        raise UserError(
            f"{crawl.path} and the data of {source} lie in each other",
            hint="Import into a folder beside the source, which is not changed.",
        )


def _check_parts(crawl: CrawlFolder, parts: list[str], where: str) -> bool:
    """Refuse parts that are there from elsewhere; say whether all came from this source before."""
    there = [part for part in parts if _is_there(crawl, part)]
    for part in there:
        other = crawl.imports.source_of(part)
        if other != where:
            came = f"from {other}" if other else "of its own"
            raise UserError(
                f"{crawl.path} has already {_named(part)} {came}",
                hint="Import into a new crawl folder.",
            )
    return there == parts and not crawl.imports.unfinished()


def _is_there(crawl: CrawlFolder, part: str) -> bool:
    folder, _, name = part.partition("/")
    if name:
        return any(segment.name == name for segment in crawl.segments())
    table = crawl.table(folder)
    return table.transaction(f"import:{folder}") is not None or table.count() > 0


def _named(part: str) -> str:
    folder, _, name = part.partition("/")
    return f"a segment {name}" if name else f"a {folder}"


def _message(said: str, counters: Counter[str]) -> str:
    return (
        f"{said}: {counters['pages']:,} pages, {counters['links']:,} links,"
        f" {counters['segments']:,} segments with {counters['captures']:,} captures"
    )


class _Import:
    """One import.

    Attributes:
        counters: What the crawl folder has of the source in the end.
    """

    def __init__(self, context: StepContext, source: Source, where: str) -> None:
        self.counters: Counter[str] = Counter()
        self._context = context
        self._source = source
        self._where = where

    def run(self, scratch: Path) -> tuple[str, ...]:
        """Import everything; return what is to be told."""
        notes = [f"{folder} has no `current`: nothing of it came" for folder in self._source.empty]
        for folder in self._source.segments:
            counted, told = import_segment(
                self._context, self._source, folder, scratch / folder.name
            )
            self.counters.update(counted)
            self.counters["segments"] += 1
            notes += told
        self._linkdb(scratch)
        self._crawldb(scratch)
        return tuple(notes)

    def _linkdb(self, scratch: Path) -> None:
        folder, table = self._source.linkdb, self._context.crawl.table("linkdb")
        if folder is None:
            return
        if table.transaction("import:linkdb") is None:
            with ParquetSink(LINKDB, scratch / "links", "links") as sink:
                sink.extend(self._links(folder, table.buckets))
            commit_in_buckets(self._context, table, sink.files, scratch / "linkdb")
        self.counters["links"] += table.count()

    def _crawldb(self, scratch: Path) -> None:
        folder, table = self._source.crawldb, self._context.crawl.table("crawldb")
        if folder is None:
            return
        if table.transaction("import:crawldb") is None:
            seq = table.next_version()
            with ParquetSink(CRAWLDB, scratch / "pages", "pages") as sink:
                sink.extend(self._pages(folder, table.buckets, seq))
            note_origins(self._context, sink.files, scratch, self._where)
            commit_in_buckets(self._context, table, sink.files, scratch / "crawldb")
        self.counters["pages"] += table.count()

    def _pages(self, folder: Path, buckets: int, seq: int) -> Iterator[dict[str, Any]]:
        for entry in self._source.records(folder, CrawlDatum):
            url = sayable(entry.url)
            row = page_columns(cast("CrawlDatum", entry.record)) | place(url)
            yield row | {"bucket": url_hash(url) % buckets, "seq": seq}

    def _links(self, folder: Path, buckets: int) -> Iterator[dict[str, Any]]:
        for entry in self._source.records(folder, Inlinks):
            url = sayable(entry.url)
            bucket = url_hash(url) % buckets
            for link in cast("Inlinks", entry.record).inlinks:
                texts, _ = texts_of(link.metadata)
                yield {
                    "url": url,
                    "from_url": link.from_url,
                    "anchor": link.anchor,
                    "bucket": bucket,
                    "metadata": texts or None,
                }
