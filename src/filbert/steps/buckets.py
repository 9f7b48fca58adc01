"""Rewriting a table bucket by bucket, each bucket one file.

Guarantee: a bucket's rows leave the table only with the files that hold them and nothing else;
where a file holds several buckets, all of them are rewritten. Nothing is committed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.engine.base import Query, WriteFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from filbert.engine.base import Files, WrittenFile
    from filbert.steps.context import StepContext
    from filbert.store.tables import Table

__all__ = ["rewritten"]


def rewritten(
    context: StepContext,
    table: Table,
    touched: Collection[int],
    job: Callable[[int], tuple[Query, dict[str, Files]]],
    scratch: Path,
) -> tuple[tuple[WrittenFile, ...], tuple[str, ...]]:
    """Run a query for each touched bucket, the view named as the table being its rows.

    Args:
        context: The step's.
        table: A table in buckets.
        touched: The buckets to rewrite.
        job: Gives a bucket's query and the views that it reads besides; a view of the table's
            name stands for the bucket's rows.
        scratch: Where the files are written.

    Returns:
        The new files, and the paths of those that they replace.
    """
    buckets = table.bucket_files()
    wanted = set(buckets) if any(buckets[b].where for b in touched) else set(touched)
    added: list[WrittenFile] = []
    removed: dict[str, None] = {}
    for bucket in sorted(wanted):
        query, views = job(bucket)
        target = WriteFiles(schema=table.schema, directory=scratch, stem=f"bucket-{bucket:04d}")
        written = context.engine.execute(query, {table.name: buckets[bucket], **views}, target)
        added.extend(written.files)
        removed.update(dict.fromkeys(buckets[bucket].paths))
    return tuple(added), tuple(removed)
