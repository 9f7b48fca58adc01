"""`index`: documents of what was fetched and parsed, into the index.

Guarantee: the index changes in one commit, which also notes the segments and the crawldb version
it has absorbed: a second run does nothing and says so. The embedded index is kept true to the
crawldb: pages that are gone, redirect or are duplicates now are deleted, whichever segment they
were in; after a rollback it is made anew or, where segments were vacuumed that it could not be made
from, loses what was undone. A rebuild that would lose such documents is refused; one of an index
that cannot be read goes ahead. Other writers get deletions as the settings say.
Source: Nutch `IndexingJob`, `IndexerMapReduce`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from filbert.engine.base import Collect, Files, Part, Query, WriteFiles
from filbert.errors import DataError, UserError
from filbert.model.schemas import CRAWL_FETCH
from filbert.plugins.contracts import RememberingWriter
from filbert.rules import index as rules
from filbert.rules.plural import count_of
from filbert.steps.context import StepResult
from filbert.steps.documents import MakeDocuments, read_changes
from filbert.steps.writers import (
    CRAWLDB,
    SEGMENTS,
    absorbed_segments,
    open_writers,
    remembering,
)
from filbert.store.segments import SegmentState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from filbert.engine.base import PartResult
    from filbert.plugins.contracts import IndexWriter
    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment

__all__ = ["IndexOptions", "run"]

_log = structlog.get_logger(__name__)
_CHUNK_ROWS = 2000
_SEGMENT_VIEWS = {
    "fetch": "crawl_fetch",
    "rows": "crawl_parse",
    "data": "parse_data",
    "text": "parse_text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOptions:
    """What `index` is to do.

    Attributes:
        segments: Which; none: all that are parsed and absorbed by updatedb.
        rebuild: Make the embedded index anew, from all segments that are kept.
    """

    segments: tuple[str, ...] = ()
    rebuild: bool = False


@dataclass(slots=True)
class _Job:
    """What there is to do, and what was counted."""

    segments: list[Segment]
    remembered: frozenset[str]
    undone: list[Segment]
    version: int
    counters: Counter[str] = field(default_factory=Counter)


def run(context: StepContext, options: IndexOptions) -> StepResult:
    """Index segments; see the module.

    Raises:
        UserError: A segment is unknown, not parsed, or not absorbed by updatedb; or a rebuild
            would lose documents of vacuumed segments.
        DataError: The index is damaged, or being written by another process.
    """
    writers = context.plugins.index_writers()
    absorbed = _absorbed(context)
    memory = _memory(context, writers, absorbed, options)
    rebuild = options.rebuild or (bool(memory.undone) and not memory.lost)
    memory.check(rebuild=rebuild)
    if memory.undone:
        options = IndexOptions()
    if rebuild:
        options = IndexOptions(rebuild=True)
        for writer in remembering(writers):
            writer.clear()
    with open_writers(writers):
        job = _job(context, options, writers, absorbed)
        if job is None:
            return StepResult(step="index", message="the index is up to date", nothing_to_do=True)
        with context.crawl.scratch("index") as scratch:
            documents = _write_documents(context, job, writers, scratch)
            _make_true(context, job, writers, documents)
        _commit(job, writers)
    return StepResult(
        step="index",
        counters=job.counters,
        message=_message(job, rebuilt=rebuild),
        segments=tuple(segment.name for segment in job.segments),
    )


def _absorbed(context: StepContext) -> Callable[[str], bool]:
    """Return the question whether the crawldb has absorbed a segment."""
    crawldb = context.crawl.table("crawldb").load()

    def absorbed(name: str) -> bool:
        found = crawldb.transaction_version(f"update:{name}")
        return found is not None and found >= 0  # below 0: a rollback undid it

    return absorbed


def _undone(remembered: frozenset[str], absorbed: Callable[[str], bool]) -> frozenset[str]:
    """Return the segments that a rollback took out of the crawldb."""
    return frozenset(name for name in remembered if not absorbed(name))


@dataclass(frozen=True, slots=True)
class _Memory:
    """Segments that the index has absorbed and that need a thought.

    Attributes:
        undone: A rollback took them out of the crawldb.
        lost: They were vacuumed: no document can be made from them again.
    """

    undone: frozenset[str]
    lost: frozenset[str]

    @classmethod
    def of(
        cls,
        context: StepContext,
        writers: Sequence[IndexWriter],
        absorbed: Callable[[str], bool],
    ) -> _Memory:
        """Ask the indexes what they remember."""
        with open_writers(remembering(writers)):
            remembered = absorbed_segments(writers)
        there = {segment.name for segment in context.crawl.segments()}
        undone = _undone(remembered, absorbed)
        return cls(undone, remembered - undone - there)

    def check(self, *, rebuild: bool) -> None:
        """Say what becomes of the documents of vacuumed segments.

        Raises:
            UserError: They would be lost.
        """
        if not self.lost:
            return
        if rebuild:
            raise UserError(
                f"the index has documents of {count_of(len(self.lost), 'segment')} vacuumed since: "
                "made anew, it would lose them",
                hint="leave out --rebuild; or, if they may go, remove the index folder first",
            )
        if self.undone:
            text = "they were vacuumed: their documents stay; only what was undone goes"
            _log.warning("index.segments_gone", segments=sorted(self.lost), text=text)


def _memory(
    context: StepContext,
    writers: Sequence[IndexWriter],
    absorbed: Callable[[str], bool],
    options: IndexOptions,
) -> _Memory:
    """Ask the indexes what they remember; a rebuild needs none that can be read."""
    try:
        return _Memory.of(context, writers, absorbed)
    except DataError as error:
        if not options.rebuild:
            raise
        _log.warning("index.not_read", text=error.message)
        return _Memory(frozenset(), frozenset())


def _fresh(
    context: StepContext,
    options: IndexOptions,
    remembered: frozenset[str],
    absorbed: Callable[[str], bool],
) -> list[Segment]:
    """Return the segments to index: those asked for, less those that are in the index."""
    crawl = context.crawl
    if not options.segments:
        return [
            segment
            for segment in crawl.segments()
            if segment.name not in remembered
            and absorbed(segment.name)
            and segment.state is SegmentState.PARSED
        ]
    asked = {segment.name: segment for segment in map(crawl.segment, options.segments)}
    fresh = [asked[name] for name in sorted(asked) if name not in remembered]
    for segment in fresh:
        if segment.state is not SegmentState.PARSED:
            raise UserError(
                f"segment {segment.name} is {segment.state}, not parsed",
                hint=f"run `filbert parse {crawl.path} {segment.name}` first",
            )
        if not absorbed(segment.name):
            raise UserError(
                f"the crawldb has not absorbed segment {segment.name}",
                hint=f"run `filbert updatedb {crawl.path} {segment.name}` first",
            )
    return fresh


def _commit(job: _Job, writers: Sequence[IndexWriter]) -> None:
    segments = sorted(job.remembered | {segment.name for segment in job.segments})
    memory = {SEGMENTS: " ".join(segments), CRAWLDB: str(job.version)}
    for writer in writers:
        if isinstance(writer, RememberingWriter):
            writer.remember(memory)
        writer.commit()


def _job(
    context: StepContext,
    options: IndexOptions,
    writers: Sequence[IndexWriter],
    absorbed: Callable[[str], bool],
) -> _Job | None:
    """Return what is left to do; None if nothing is."""
    remembered = absorbed_segments(writers)
    there = {segment.name: segment for segment in context.crawl.segments()}
    undone = _undone(remembered, absorbed)
    if undone:  # what is kept is written again, over what was undone
        remembered = remembered - undone - set(there)
    version = context.crawl.table("crawldb").version()
    fresh = _fresh(context, options, remembered, absorbed)
    seen = {int(writer.memory().get(CRAWLDB, "-1")) for writer in remembering(writers)}
    if not fresh and seen <= {version}:
        return None
    return _Job(
        segments=fresh,
        remembered=remembered,
        undone=[there[name] for name in sorted(undone) if name in there],
        version=version,
    )


def _write_documents(
    context: StepContext, job: _Job, writers: Sequence[IndexWriter], scratch: Path
) -> Files:
    """Write the documents of the segments; return the judged pages."""
    documents = Files(schema=rules.DOCUMENTS)
    if not job.segments:
        return documents
    rows = sum(segment.table("parse_data").count() for segment in job.segments)
    chunks = max(1, -(-rows // _CHUNK_ROWS))
    documents = _judged(context, job, writers, scratch, chunks)
    task = MakeDocuments(
        settings=context.settings,
        folder=context.crawl.path,
        documents=documents,
        inlinks=_inlinks(context, documents, scratch),
        into=scratch,
    )
    parts = [Part(number=number) for number in range(chunks)]
    results = [task(parts[0])] if chunks == 1 else context.engine.run(task, parts)
    for result in results:
        job.counters.update(_pass_on(result, writers))
    return documents


def _judged(
    context: StepContext, job: _Job, writers: Sequence[IndexWriter], scratch: Path, chunks: int
) -> Files:
    settings = context.settings
    decided = rules.IndexRules(
        delete=settings.index.delete_gone or any(remembering(writers)),
        delete_noindex=settings.index.delete_robots_noindex,
        delete_failed_parse=settings.parse.delete_failed_parse,
        skip_notmodified=settings.index.skip_notmodified,
    )
    names = [segment.name for segment in job.segments]
    views = {"crawldb": context.crawl.table("crawldb").files()}
    for number, segment in enumerate(job.segments):
        for view, table in _SEGMENT_VIEWS.items():
            views[f"{view}_{number}"] = segment.table(table).files()
    return _written(
        context,
        Query(name="index", sql=rules.documents_sql(names, decided, chunks)),
        views,
        WriteFiles(
            schema=rules.DOCUMENTS,
            directory=scratch,
            stem="documents",
            order_by="chunk, url",
            row_group_rows=_CHUNK_ROWS,
        ),
    )


def _inlinks(context: StepContext, documents: Files, scratch: Path) -> Files:
    return _written(
        context,
        Query(name="index inlinks", sql=rules.inlinks_sql()),
        {"documents": documents, "linkdb": context.crawl.table("linkdb").files()},
        WriteFiles(
            schema=rules.INLINKS,
            directory=scratch,
            stem="inlinks",
            order_by="chunk, url, from_url, anchor",
            row_group_rows=10 * _CHUNK_ROWS,
        ),
    )


def _written(
    context: StepContext, query: Query, views: Mapping[str, Files], target: WriteFiles
) -> Files:
    written = context.engine.execute(query, views, target)
    return Files(schema=target.schema, paths=tuple(str(file.path) for file in written.files))


def _pass_on(result: PartResult, writers: Sequence[IndexWriter]) -> Counter[str]:
    """Do the changes of a chunk to every index; a deletion counts where there was something."""
    counters = Counter(result.counters)
    path = Path(str(result.payload))
    for change in read_changes(path):
        if change.document is not None:
            for writer in writers:
                writer.write(change.document)
            continue
        deleted = [_delete(writer, change.url) for writer in writers]
        counters[f"{'delete' if any(deleted) else 'skip'}_{change.reason}"] += 1
    path.unlink()
    return counters


def _delete(writer: IndexWriter, url: str) -> bool:
    """Delete a page from an index; False if it is known to have none."""
    if isinstance(writer, RememberingWriter) and not writer.holds(url):
        return False
    writer.delete(url)
    return True


def _make_true(
    context: StepContext, job: _Job, writers: Sequence[IndexWriter], documents: Files
) -> None:
    """Delete what the crawldb says may not be there, from the indexes that can be asked."""
    asked = remembering(writers)
    if not asked:
        return
    crawldb = context.crawl.table("crawldb").files()
    views = {"crawldb": crawldb, "documents": documents}
    queries = {rules.untrue_sql(): views}
    if job.undone:
        paths = [p for s in job.undone for p in s.table("crawl_fetch").files().paths]
        undone = Files(schema=CRAWL_FETCH, paths=tuple(paths))
        queries[rules.undone_sql()] = views | {"undone": undone}
    for sql, given in queries.items():
        answer = context.engine.execute(Query(name="index truth", sql=sql), given, Collect())
        assert answer.table is not None
        for batch in answer.table.to_batches():
            for row in batch.to_pylist():
                deleted = [_delete(writer, row["url"]) for writer in asked]
                if any(deleted):
                    job.counters[f"delete_{row['reason']}"] += 1


def _message(job: _Job, *, rebuilt: bool) -> str:
    deleted = sum(n for name, n in job.counters.items() if name.startswith("delete_"))
    skipped = sum(n for name, n in job.counters.items() if name.startswith("skip_"))
    text = f"{count_of(job.counters['indexed'], 'document')} indexed, {deleted:,} deleted"
    text += f", {skipped:,} skipped"
    return f"{text}; the index was made anew" if rebuilt else text
