"""`clean`: delete from every index what the crawldb says is gone or a duplicate.

Guarantee: one commit, or none. The embedded index also loses what the crawldb no longer knows at
all, such as pages that were purged or that a new filter refuses.
Source: Nutch `CleaningJob`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.engine.base import Collect, Files, Query
from filbert.plugins.contracts import RememberingWriter
from filbert.rules import index as rules
from filbert.rules.plural import count_of
from filbert.search.searcher import SearchIndex
from filbert.steps.context import StepResult
from filbert.steps.writers import open_writers
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.steps.context import StepContext

__all__ = ["CleanOptions", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanOptions:
    """`clean` has no options of its own."""


def run(context: StepContext, options: CleanOptions) -> StepResult:
    """Delete; see the module.

    Raises:
        DataError: An index is damaged, or being written by another process.
    """
    del options
    writers = context.plugins.index_writers()
    counters: Counter[str] = Counter()
    with open_writers(writers), context.crawl.scratch("clean") as scratch:
        for url, reason in _to_delete(context, scratch):
            for writer in writers:
                if not isinstance(writer, RememberingWriter) or writer.holds(url):
                    writer.delete(url)
                    counters[f"delete_{reason}"] += 1
        if counters:
            for writer in writers:
                writer.commit()
    message = (
        f"{count_of(counters.total(), 'document')} deleted" if counters else "nothing to clean"
    )
    return StepResult(step="clean", counters=counters, message=message, nothing_to_do=not counters)


def _to_delete(context: StepContext, scratch: Path) -> Iterator[tuple[str, str]]:
    crawldb = context.crawl.table("crawldb").files()
    none = Files(schema=rules.DOCUMENTS)
    cleaned = Query(name="clean", sql=rules.untrue_sql(rules.CLEANED))
    yield from _rows(context, cleaned, {"crawldb": crawldb, "documents": none})
    if "embedded" not in context.settings.index.writers:
        return
    indexed = _indexed(context, scratch)
    unknown = Query(name="clean unknown", sql=rules.unknown_sql())
    yield from _rows(context, unknown, {"crawldb": crawldb, "indexed": indexed})


def _rows(context: StepContext, query: Query, views: dict[str, Files]) -> Iterator[tuple[str, str]]:
    answer = context.engine.execute(query, views, Collect())
    assert answer.table is not None
    for batch in answer.table.to_batches():
        for row in batch.to_pylist():
            yield row["url"], row["reason"]


def _indexed(context: StepContext, scratch: Path) -> Files:
    """Return the keys in the embedded index, as a view."""
    index = SearchIndex.open(context.crawl.index_dir, context.settings.search)
    with ParquetSink(rules.INDEXED, scratch, "indexed") as sink:
        sink.extend({"url": url} for url in index.urls())
    return Files(schema=rules.INDEXED, paths=tuple(str(file.path) for file in sink.files))
