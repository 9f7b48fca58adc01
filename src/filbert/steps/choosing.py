"""The choice of generate, carried out: candidates above a floor, filters, segments.

Guarantee: the floor is lowered until the segments are full or nothing is left, so that it never
changes the result. Source: Nutch `Generator`; figures in docs/design.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from filbert.engine.base import Collect, Files, Query, WriteFiles
from filbert.plugins.contracts import Scope
from filbert.rules.generate import CANDIDATES, CHOSEN, RANKED
from filbert.rules.segment_filler import SegmentFiller
from filbert.steps.url_chain import VERDICTS, Judging, agrees, judged
from filbert.store.parquet import ParquetSink, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.model.schemas import TableSchema
    from filbert.rules.generate import Selection
    from filbert.steps.context import StepContext

__all__ = ["Chosen", "chosen_pages", "filled"]

_FIRST_GUESS = 10  # candidates for one URL that is wanted: caps and filters take some
_NEXT_GUESS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Pages and segments, URLs in each segment, and what was counted on the way."""

    files: Files
    per_segment: dict[int, int]
    counters: Counter[str]


def chosen_pages(
    context: StepContext, choice: Selection, *, due: int, recheck: bool, scratch: Path
) -> Chosen:
    """Choose pages for the segments.

    Args:
        context: The step's.
        choice: What is asked.
        due: How many pages may be chosen.
        recheck: Ask the URL chains whether the crawldb agrees with them or not.
        scratch: A folder of the step's.
    """
    limit = choice.limit
    among = due if limit is None else limit * _FIRST_GUESS
    attempt = 0
    while True:
        attempt += 1
        directory = scratch / f"choice-{attempt}"
        floor = None if among >= due else _floor(context, choice, among)
        chosen = _attempt(context, choice, floor, recheck=recheck, directory=directory)
        total = sum(chosen.per_segment.values())
        if floor is None or total == limit:
            chosen.counters["over_top_n"] = due - total - chosen.counters["not_over_top_n"]
            del chosen.counters["not_over_top_n"]
            return chosen
        among *= _NEXT_GUESS


def filled(choice: Selection, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Give the rows, best first, their segments; end when all segments are full."""
    settings = choice.settings
    filler = SegmentFiller(
        top_n=settings.top_n if settings.top_n >= 0 else None,
        max_count=settings.max_count,
        segments=settings.max_num_segments,
    )
    for row in rows:
        if filler.is_full:
            return
        yield {**row, "segment": filler.place(row["count_key"]).segment}


def _floor(context: StepContext, choice: Selection, among: int) -> float | None:
    query = Query(name="generate_floor", sql=choice.floor(among))
    row = _rows(context, query, {"crawldb": context.crawl.table("crawldb").files()})[0]
    return None if row["floor"] is None else float(row["floor"])


def _attempt(
    context: StepContext, choice: Selection, floor: float | None, *, recheck: bool, directory: Path
) -> Chosen:
    candidates = _written(
        context,
        Query(name="generate_candidates", sql=choice.candidates(floor)),
        {"crawldb": context.crawl.table("crawldb").files()},
        CANDIDATES,
        directory,
    )
    verdicts, rejected = _verdicts(context, choice, candidates, recheck=recheck, scratch=directory)
    views = {"candidates": candidates, "verdicts": verdicts}
    chosen = (
        _in_order(context, choice, views, directory)
        if choice.is_sequential
        else _written(
            context, Query(name="generate_choice", sql=choice.choice()), views, CHOSEN, directory
        )
    )
    return _tallied(context, chosen, rejected)


def _verdicts(
    context: StepContext, choice: Selection, candidates: Files, *, recheck: bool, scratch: Path
) -> tuple[Files, Counter[str]]:
    """Ask the URL chains, unless the crawldb agrees with them already."""
    settings = choice.settings
    judging = Judging(
        scope=Scope.GENERATE_HOST_COUNT, normalize=settings.normalize, judge=settings.filter
    )
    table, chain = context.crawl.table("crawldb"), context.plugins.url_chain()
    if judging.is_idle or (agrees(table, chain) and not recheck):
        return Files(schema=VERDICTS), Counter()
    return judged(
        context, "select url from candidates", {"candidates": candidates}, judging, scratch
    )


def _in_order(
    context: StepContext, choice: Selection, views: dict[str, Files], directory: Path
) -> Files:
    target = WriteFiles(
        schema=RANKED, directory=directory, stem="ranked", order_by="sort_value desc, url"
    )
    query = Query(name="generate_ranked", sql=choice.ranked())
    ranked = context.engine.execute(query, views, target)
    paths = tuple(str(file.path) for file in ranked.files)
    rows = read_rows(Files(schema=RANKED, paths=paths), ("url", "host", "domain", "count_key"))
    with ParquetSink(CHOSEN, directory, "chosen") as sink:
        sink.extend(filled(choice, rows))
    return Files(schema=CHOSEN, paths=tuple(str(file.path) for file in sink.files))


def _tallied(context: StepContext, chosen: Files, rejected: Counter[str]) -> Chosen:
    sql = (
        "select segment, count(*) as pages, count(distinct count_key) as keys from chosen"
        " group by segment"
    )
    rows = _rows(context, Query(name="generate_tally", sql=sql), {"chosen": chosen})
    per_segment = {row["segment"]: row["pages"] for row in rows if row["segment"] > 0}
    over = next((row for row in rows if row["segment"] == 0), {"pages": 0, "keys": 0})
    errors = rejected.pop("plugin_errors", 0)
    counters = Counter(
        {
            "url_filters_rejected": sum(rejected.values()),
            "url_filter_exceptions": errors,
            "urls_skipped_per_host_overflow": over["pages"],
            "hosts_affected": over["keys"],
            "not_over_top_n": sum(rejected.values()) + over["pages"],
        }
    )
    return Chosen(files=chosen, per_segment=per_segment, counters=counters)


def _written(
    context: StepContext,
    query: Query,
    views: dict[str, Files],
    schema: TableSchema,
    directory: Path,
) -> Files:
    target = WriteFiles(schema=schema, directory=directory, stem=schema.name)
    files = context.engine.execute(query, views, target).files
    return Files(schema=schema, paths=tuple(str(file.path) for file in files))


def _rows(context: StepContext, query: Query, views: dict[str, Files]) -> list[dict[str, Any]]:
    table = context.engine.execute(query, views, Collect()).table
    assert table is not None
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
