"""Committing what an import wrote: once, and in buckets where a table has them.

Guarantee: a table that has a part of an import already is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.engine.base import Files, Query, WriteFiles
from filbert.model.schemas import CRAWLDB, ORIGINS
from filbert.store.parquet import ParquetSink, read_rows
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.model.schemas import TableSchema
    from filbert.steps.context import StepContext
    from filbert.store.tables import Table

__all__ = ["commit_in_buckets", "commit_once", "note_absorbed", "note_origins", "view_of"]


def view_of(schema: TableSchema, files: tuple[WrittenFile, ...], where: str = "") -> Files:
    """Return files that were just written as a view."""
    return Files(schema=schema, paths=tuple(str(file.path) for file in files), where=where)


def commit_once(table: Table, make: Callable[[], tuple[WrittenFile, ...]]) -> None:
    """Commit the files of a table, whatever lay there; not if that was done before.

    Args:
        table: The table.
        make: Writes the files.
    """
    transaction = f"import:{table.name}"
    if table.transaction(transaction) is None:
        files = make()
        table.commit(Commit(step="import", add=files, transactions={transaction: 1}, remove="all"))


def commit_in_buckets(
    context: StepContext, table: Table, files: tuple[WrittenFile, ...], scratch: Path
) -> None:
    """Write the rows of files as a file per bucket, and commit them.

    Args:
        context: The step's.
        table: A table in buckets.
        files: The rows, with their buckets.
        scratch: Where the files are written.
    """
    added: list[WrittenFile] = []
    for bucket in range(table.buckets):
        rows = view_of(table.schema, files, f"bucket = {bucket}")
        target = WriteFiles(schema=table.schema, directory=scratch, stem=f"bucket-{bucket:04d}")
        query = Query(name="import", sql="select * from given")
        added += context.engine.execute(query, {"given": rows}, target).files
    table.commit(
        Commit(
            step="import",
            add=tuple(added),
            transactions={f"import:{table.name}": 1},
            read_version=table.version(),
        )
    )


def note_absorbed(context: StepContext, *, update: bool) -> None:
    """Note that imported segments are in the imported linkdb, and in the crawldb.

    Args:
        context: The step's.
        update: They are in the crawldb, too; else the next updatedb absorbs them.
    """
    parsed = [
        segment.name
        for segment in context.crawl.segments()
        if segment.table("parse_data").transaction("import:parse_data") is not None
    ]
    for name, step in (("linkdb", "invert"), *((("crawldb", "update"),) if update else ())):
        table = context.crawl.table(name)
        if table.transaction(f"import:{name}") is None:
            continue
        new = [f"{step}:{one}" for one in parsed if table.transaction(f"{step}:{one}") is None]
        if new:
            table.commit(Commit(step="import", transactions=dict.fromkeys(new, 1)))


def note_origins(
    context: StepContext, pages: tuple[WrittenFile, ...], scratch: Path, where: str
) -> None:
    """Commit that pages came by an import; `where` is its source."""
    origins = context.crawl.table("origins")
    if origins.transaction("import:origins") is not None:
        return
    now = context.clock.now_ms()
    with ParquetSink(ORIGINS, scratch / "origins", "origins") as sink:
        for row in read_rows(view_of(CRAWLDB, pages), ("url",)):
            sink.append({**row, "origin": "import", "origin_url": where, "first_seen": now})
    origins.commit(Commit(step="import", add=sink.files, transactions={"import:origins": 1}))
