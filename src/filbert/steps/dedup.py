"""Dedup: mark pages of equal content, all but the best.

Guarantee: one commit, or none if there is nothing new to mark; only buckets with new duplicates
are rewritten. A marked page stays in the crawldb and is fetched again when it is due.
Source: Nutch `DeduplicationJob`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from filbert.engine.base import Collect, Files, Query, WriteFiles
from filbert.rules.dedup import DUPLICATES, duplicates, mark
from filbert.rules.plural import count_of
from filbert.steps.buckets import rewritten
from filbert.steps.context import StepResult
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from filbert.settings.dedup import DedupSettings
    from filbert.steps.context import StepContext

__all__ = ["DedupOptions", "run", "show_sql"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupOptions:
    """How to compare; None: the setting's.

    Attributes:
        group: Compare all pages, or only those of one host or domain.
        compare_order: What decides, in order.
    """

    group: Literal["none", "host", "domain"] | None = None
    compare_order: tuple[str, ...] | None = None


def run(context: StepContext, options: DedupOptions) -> StepResult:
    """Mark duplicates.

    Raises:
        UserError: The order of comparison is wrong.
    """
    settings = _settings(context, options)
    sql = duplicates(settings)
    table = context.crawl.table("crawldb")
    read_version = table.version()
    with context.crawl.scratch("dedup") as scratch:
        target = WriteFiles(schema=DUPLICATES, directory=scratch, stem="duplicates")
        query = Query(name="dedup", sql=sql)
        files = context.engine.execute(query, {"crawldb": table.files()}, target).files
        count = sum(file.rows for file in files)
        if files:
            marked = Files(schema=DUPLICATES, paths=tuple(str(file.path) for file in files))
            marking = Query(name="dedup_mark", sql=mark(table.next_version()))
            added, removed = rewritten(
                context,
                table,
                _buckets(context, marked),
                lambda _bucket: (marking, {"duplicates": marked}),
                scratch / "crawldb",
            )
            table.commit(
                Commit(
                    step="dedup",
                    add=added,
                    remove=removed,
                    metadata={"duplicates": str(count)},
                    read_version=read_version,
                )
            )
    return StepResult(
        step="dedup",
        counters={"duplicates": count},
        message=f"{count_of(count, 'page')} marked as duplicate{'s' * (count != 1)}",
        nothing_to_do=count == 0,
    )


def show_sql(context: StepContext, options: DedupOptions) -> str:
    """Return the query that `run` would ask."""
    return duplicates(_settings(context, options)) + ";\n"


def _settings(context: StepContext, options: DedupOptions) -> DedupSettings:
    given = {"group": options.group, "compare_order": options.compare_order}
    return context.settings.dedup.model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )


def _buckets(context: StepContext, marked: Files) -> list[int]:
    sql = "select distinct bucket from duplicates"
    query = Query(name="dedup_buckets", sql=sql)
    table = context.engine.execute(query, {"duplicates": marked}, Collect()).table
    assert table is not None
    found: list[int] = table["bucket"].to_pylist()
    return found
