"""The URL chains over the whole crawldb again, bucket by bucket.

Guarantee: nothing is committed here; a bucket that no verdict touches is handed back as it is.
Source: Nutch's `-filterNormalizeAll` of inject, `-filter -normalize` of updatedb.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.engine.base import Collect, Files, Query, WriteFiles
from filbert.rules.reapply import MOVED, moved, reapplied
from filbert.steps.url_chain import judged

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path

    from filbert.steps.context import StepContext
    from filbert.steps.url_chain import Judging
    from filbert.store.tables import Table

__all__ = ["cleaned_buckets"]


def cleaned_buckets(
    context: StepContext, table: Table, judging: Judging, scratch: Path
) -> tuple[dict[int, Files], Counter[str]]:
    """Apply the chains to all pages of the crawldb.

    Returns:
        The files of each bucket that changes, and the rejected URLs counted by reason.
    """
    whole = table.files()
    verdicts, counters = judged(
        context, "select url from crawldb", {"crawldb": whole}, judging, scratch
    )
    if not verdicts.paths:
        return {}, counters
    views = {"crawldb": whole, "verdicts": verdicts}
    target = WriteFiles(schema=MOVED, directory=scratch, stem="moved")
    query = Query(name="reapply_moved", sql=moved(table.buckets))
    files = context.engine.execute(query, views, target).files
    counters["moved"] = sum(file.rows for file in files)
    moved_files = Files(schema=MOVED, paths=tuple(str(file.path) for file in files))
    changed: dict[int, Files] = {}
    for bucket in _touched(context, whole, verdicts, moved_files):
        views = {
            "crawldb": table.files(bucket=bucket),
            "verdicts": verdicts,
            "moved": moved_files,
        }
        target = WriteFiles(schema=table.schema, directory=scratch, stem=f"clean-{bucket:04d}")
        query = Query(name="reapply", sql=reapplied(bucket))
        written = context.engine.execute(query, views, target)
        paths = tuple(str(file.path) for file in written.files)
        changed[bucket] = Files(schema=table.schema, paths=paths)
    return changed, counters


def _touched(context: StepContext, whole: Files, verdicts: Files, moved_files: Files) -> list[int]:
    sql = (
        "select distinct bucket from (select bucket from crawldb where url in"
        " (select url from verdicts) union all select bucket from moved) touched"
    )
    views = {"crawldb": whole, "verdicts": verdicts, "moved": moved_files}
    table = context.engine.execute(Query(name="touched", sql=sql), views, Collect()).table
    assert table is not None
    return sorted(table["bucket"].to_pylist())
