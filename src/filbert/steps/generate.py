"""Generate: choose what to fetch next, and lay it out in segments.

Guarantee: the choice is that of `rules/generate.py`, whatever the floor that it began with; a
segment is complete or not there; one part owns its hosts. What is not chosen is counted by reason,
and when nothing is chosen the message says why and when the next page is due. With
`generate.update_crawldb` the marks that a kill cut off are made by the next generate.
Source: Nutch `Generator`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import structlog

from filbert.engine.base import Collect, Files, Query, WriteFiles
from filbert.errors import UserError
from filbert.model.clock import iso
from filbert.model.schemas import CRAWL_GENERATE
from filbert.rules.expression import slips
from filbert.rules.generate import CHOSEN, Selection
from filbert.steps.buckets import rewritten
from filbert.steps.choosing import chosen_pages
from filbert.steps.context import StepResult
from filbert.steps.fetch_checks import check_agent
from filbert.steps.partition import part_files
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.settings.generate import GenerateSettings
    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment

__all__ = ["GenerateOptions", "run", "selection", "show_sql"]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions:
    """How to generate; None: the setting's.

    Attributes:
        top_n: URLs per segment at most; -1 no limit.
        num_fetchers: Parts of each segment.
        add_days: Days by which the clock is put forward to judge what is due.
        max_num_segments: Segments at most.
        expr: Choose only pages for which this is true.
        filter: Apply the URL filters where the crawldb does not yet agree with them.
        normalize: Likewise the normalisers.
        recheck: Apply both whether it agrees or not.
        to_fetch_now: The next step is a fetch: make no segment that it would have to refuse.
    """

    top_n: int | None = None
    num_fetchers: int | None = None
    add_days: float = 0.0
    max_num_segments: int | None = None
    expr: str | None = None
    filter: bool | None = None
    normalize: bool | None = None
    recheck: bool = False
    to_fetch_now: bool = False


def run(context: StepContext, options: GenerateOptions) -> StepResult:
    """Generate segments.

    Raises:
        UserError: The expression or a setting is wrong; the crawldb is empty.
        NamelessError: The fetch that follows needs `http.agent_name`.
    """
    choice = selection(context, options)
    crawldb = context.crawl.table("crawldb")
    pages = crawldb.files()
    if not pages.paths:
        raise UserError(
            "the crawldb is empty", hint=f"filbert inject {context.crawl.path} SEEDS fills it"
        )
    with context.crawl.scratch("generate") as scratch:
        if choice.settings.update_crawldb:
            _finish_marks(context, choice, scratch)
            pages = crawldb.files()
        reasons, first_due = _reasons(context, choice, pages)
        _warn_of_slips(choice.settings.expr)
        chosen = chosen_pages(
            context, choice, due=reasons["due"], recheck=options.recheck, scratch=scratch
        )
        counters = Counter({**reasons, **chosen.counters})
        if not chosen.per_segment:
            return StepResult(
                step="generate",
                counters=counters,
                message=_nothing(counters, first_due),
                nothing_to_do=True,
            )
        if options.to_fetch_now:
            check_agent(context.settings, replace(chosen.files, where="segment > 0"))
        names = _write_segments(context, choice, chosen.files, sorted(chosen.per_segment), scratch)
        if choice.settings.update_crawldb:
            _mark(context, choice, chosen.files, names, scratch)
    counters["generated"] = sum(chosen.per_segment.values())
    message = f"{counters['generated']:,} of {counters['due']:,} due pages in {', '.join(names)}"
    return StepResult(step="generate", counters=counters, message=message, segments=names)


def selection(context: StepContext, options: GenerateOptions) -> Selection:
    """Return the selection that options and settings ask for.

    Raises:
        UserError: The expression or the status is wrong.
    """
    named = ("top_n", "num_fetchers", "max_num_segments", "expr", "filter", "normalize")
    given = {name: getattr(options, name) for name in named}
    settings: GenerateSettings = context.settings.generate.model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    return Selection(
        settings=settings,
        max_interval_s=context.settings.schedule.interval_max_s,
        sort=tuple(scoring.sort() for scoring in context.plugins.scorings()),
        now=context.clock.now_ms(),
        add_days=options.add_days,
    )


def show_sql(context: StepContext, options: GenerateOptions) -> str:
    """Return the queries that `run` would ask, in order."""
    choice = selection(context, options)
    queries = {"why pages are not chosen": choice.counts()}
    if choice.limit is not None:
        queries["the floor on the sort value"] = choice.floor(choice.limit * 10)
    queries["candidates"] = choice.candidates(None)
    if choice.is_sequential:
        queries["candidates in order; one pass in Python gives the segments"] = choice.ranked()
    else:
        queries["pages and their segments"] = choice.choice()
    queries["the fetch list of the first segment"] = choice.segment(
        1, parts=choice.settings.num_fetchers > 1
    )
    return "\n\n".join(f"-- {title}\n{sql};" for title, sql in queries.items()) + "\n"


def _warn_of_slips(expr: str) -> None:
    for name, near in slips(expr).items():
        _log.warning("generate.expr", text=f"{name} is read as metadata; did you mean {near}?")


def _reasons(
    context: StepContext, choice: Selection, pages: Files
) -> tuple[Counter[str], int | None]:
    query = Query(name="generate_counts", sql=choice.counts())
    table = context.engine.execute(query, {"crawldb": pages}, Collect()).table
    assert table is not None
    rows: list[dict[str, Any]] = table.to_pylist()
    first_due = [row["first_due"] for row in rows if row["reason"] == "schedule_rejected"]
    return Counter({row["reason"]: row["pages"] for row in rows}), min(first_due, default=None)


def _write_segments(
    context: StepContext, choice: Selection, chosen: Files, numbers: list[int], scratch: Path
) -> tuple[str, ...]:
    pages = context.crawl.table("crawldb").files()
    made: list[tuple[Segment, Commit]] = []
    for number in numbers:
        parts = part_files(context, choice.settings, chosen, number, scratch)
        views = {"crawldb": pages, "chosen": chosen}
        if parts is not None:
            views["parts"] = parts
        target = WriteFiles(
            schema=CRAWL_GENERATE,
            directory=scratch / "segments",
            stem=f"segment-{number}",
            order_by="part, position",
        )
        query = Query(name="generate_segment", sql=choice.segment(number, parts=parts is not None))
        files = context.engine.execute(query, views, target).files
        segment = context.crawl.new_segment(choice.now)
        made.append((segment, Commit(step="generate", add=files, metadata=_noted(choice))))
    for segment, commit in made:
        segment.table("crawl_generate").commit(commit)
    return tuple(segment.name for segment, _ in made)


def _noted(choice: Selection) -> dict[str, str]:
    return {
        "now": str(choice.now),
        "top_n": str(choice.settings.top_n),
        "expr": choice.settings.expr,
        "marks": str(choice.settings.update_crawldb),
    }


def _finish_marks(context: StepContext, choice: Selection, scratch: Path) -> None:
    """Mark what a generate chose that was killed between its segments and their marks."""
    crawldb = context.crawl.table("crawldb").load()
    for segment in context.crawl.segments():
        apps = (f"{step}:{segment.name}" for step in ("generate", "update"))
        # (One that a rollback undid has a number: its pages are free again on purpose.)
        if any(crawldb.transaction_version(app) is not None for app in apps):
            continue
        listed = segment.table("crawl_generate")
        noted = [r.metadata for r in listed.history() if r.metadata.get("marks") == "True"]
        if not noted:
            continue
        target = WriteFiles(schema=CHOSEN, directory=scratch, stem=f"chosen-{segment.name}")
        sql = "select url, host, domain, host as count_key, 1 as segment from listed"
        query = Query(name="generate_chosen", sql=sql)
        files = context.engine.execute(query, {"listed": listed.files()}, target).files
        chosen = Files(schema=CHOSEN, paths=tuple(str(file.path) for file in files))
        then = replace(choice, now=int(noted[0]["now"]))
        _mark(context, then, chosen, (segment.name,), scratch / segment.name)


def _mark(
    context: StepContext, choice: Selection, chosen: Files, names: tuple[str, ...], scratch: Path
) -> None:
    """Mark what was chosen, so that a generate before the next updatedb leaves it alone."""
    table = context.crawl.table("crawldb")
    read_version = table.version()
    query = Query(name="generate_mark", sql=choice.mark(table.next_version()))
    sql = "select distinct bucket from crawldb where url in (select url from chosen)"
    found = context.engine.execute(
        Query(name="touched", sql=sql), {"crawldb": table.files(), "chosen": chosen}, Collect()
    ).table
    assert found is not None
    added, removed = rewritten(
        context,
        table,
        found["bucket"].to_pylist(),
        lambda _bucket: (query, {"chosen": chosen}),
        scratch / "crawldb",
    )
    table.commit(
        Commit(
            step="generate",
            add=added,
            remove=removed,
            transactions={f"generate:{name}": 1 for name in names},
            read_version=read_version,
        )
    )


_WORDS = {
    "schedule_rejected": "not due yet",
    "wait_for_update": "in a segment that is not absorbed yet",
    "expr_rejected": "rejected by the expression",
    "status_rejected": "of another status",
    "score_too_low": "below generate.min_score",
    "interval_rejected": "of a longer interval than generate.min_interval_s",
    "url_filters_rejected": "rejected by the URL filters",
}


def _nothing(counters: Counter[str], first_due: int | None) -> str:
    why = [f"{counters[name]:,} {words}" for name, words in _WORDS.items() if counters[name]]
    text = "nothing to fetch: " + (", ".join(why) or "nothing was asked for (top_n 0)")
    return text + (f"; the next page is due at {iso(first_due)}" if first_due is not None else "")
