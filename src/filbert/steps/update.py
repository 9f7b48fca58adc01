"""Update: bring fetched and parsed segments into the crawldb.

Guarantee: a segment is absorbed once (application transaction `update:<segment>`), all segments of
a call in one commit, whose metadata keep the pages by status and what became of whom. What first
named a new page goes into `origins`. The URL chains are asked again where they changed since the
crawldb's rows passed them, where a plugin cannot tell, or when asked.
Source: Nutch `CrawlDb`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.plugins.contracts import Scope
from filbert.rules.plural import count_of
from filbert.rules.update import UpdateRule
from filbert.steps.absorbing import absorbed_again, to_absorb
from filbert.steps.context import StepResult
from filbert.steps.update_round import Absorption
from filbert.steps.url_chain import CHAIN_KEY, MIXED, Judging, note_of, noted
from filbert.store.segments import SegmentState
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections import Counter

    from filbert.settings import Settings
    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment

__all__ = ["UpdateOptions", "run", "show_sql"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateOptions:
    """Which segments, and how; None: the setting's.

    Attributes:
        segments: Names of segments; none: all that are parsed, but those that rollback left out.
        filter: Apply the URL filters to all pages again.
        normalize: Apply the URL normalisers to all pages again.
        additions: New pages enter the crawldb.
    """

    segments: tuple[str, ...] = ()
    filter: bool | None = None
    normalize: bool | None = None
    additions: bool | None = None


def run(context: StepContext, options: UpdateOptions) -> StepResult:
    """Absorb segments into the crawldb.

    Raises:
        UserError: A segment that was named is not there, or not fetched and parsed.
        DataError: Another command changed the crawldb meanwhile.
    """
    settings = _settings(context, options)
    fresh, waiting = _pending(context, options.segments)
    update = settings.update
    purges = update.purge_404 or update.purge_orphans
    asked = update.filter or update.normalize or purges
    if not fresh and not asked:
        return StepResult(step="updatedb", message=_idle(waiting), nothing_to_do=True)
    table = context.crawl.table("crawldb")
    read_version = table.version()
    again = list(absorbed_again(table, fresh))
    for segment in fresh:
        segment.leave_out("updatedb", on=False)
    judging = _judging(context, settings)
    with context.crawl.scratch("updatedb") as scratch:
        work = Absorption(context, _rule(context, settings), fresh, judging, scratch)
        added, removed = work.rewrite()
        work.note_origins()
        metadata = {
            CHAIN_KEY: _note(context, settings, judging),
            "statuses": json.dumps(work.statuses(added, removed)),
            "transitions": json.dumps(work.transitions),
            "counters": json.dumps(work.counters),
        }
        table.commit(
            Commit(
                step="updatedb",
                add=added,
                remove=removed,
                transactions={f"update:{segment.name}": 1 for segment in fresh},
                metadata=metadata,
                read_version=read_version,
            )
        )
    return StepResult(
        step="updatedb",
        counters=work.counters,
        message="; ".join([_message(work.counters, len(fresh)), *again]),
        segments=tuple(segment.name for segment in fresh),
    )


def _idle(waiting: int) -> str:
    if not waiting:
        return "the crawldb has absorbed all segments"
    unparsed = count_of(waiting, "segment that is", "segments that are")
    return f"the crawldb is up to date, but for {unparsed} not parsed yet"


def show_sql(context: StepContext, options: UpdateOptions) -> str:
    """Return the queries that `run` would ask, in order."""
    rule = _rule(context, _settings(context, options))
    seq = context.crawl.table("crawldb").next_version()
    queries = (
        rule.captured().sql,
        rule.fetched().sql,
        rule.linked(crowded=True).sql,
        rule.best().sql,
        rule.crawldb_sql(seq=seq),
    )
    return "\n\n".join(f"{query};" for query in queries) + "\n"


def _settings(context: StepContext, options: UpdateOptions) -> Settings:
    given = {
        "filter": options.filter,
        "normalize": options.normalize,
        "additions_allowed": options.additions,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    update = context.settings.update.model_copy(update=changes)
    return context.settings.model_copy(update={"update": update})


def _rule(context: StepContext, settings: Settings) -> UpdateRule:
    return UpdateRule(
        settings=settings,
        schedule=context.plugins.schedule(),
        scorings=context.plugins.scorings(),
        now=context.clock.now_ms(),
        buckets=context.crawl.table("crawldb").buckets,
    )


def _pending(context: StepContext, names: tuple[str, ...]) -> tuple[list[Segment], int]:
    """Return segments to absorb, oldest first, and how many must be parsed before."""
    crawl = context.crawl
    open_ones = to_absorb(crawl, names)
    ready = [segment for segment in open_ones if segment.state is SegmentState.PARSED]
    unready = [segment for segment in open_ones if segment not in ready]
    if names and unready:
        # Absorbed without its links, it could never bring them in later.
        name, state = unready[0].name, unready[0].state
        next_step = "parse" if state is SegmentState.FETCHED else "fetch"
        raise UserError(
            f"segment {name} is {state}, not yet parsed: its links would be lost",
            hint=f"run `filbert {next_step} {crawl.path} {name}` first",
        )
    return sorted(set(ready), key=lambda segment: segment.name), len(unready)


def _judging(context: StepContext, settings: Settings) -> Judging:
    """Say what of the URL chains must be applied to every page again."""
    now = context.plugins.url_chain().fingerprint()
    before = noted(context.crawl.table("crawldb"))
    changed = now is None or before not in {None, MIXED, now}
    return Judging(
        scope=Scope.CRAWLDB,
        normalize=settings.update.normalize or changed,
        judge=settings.update.filter or changed,
    )


def _note(context: StepContext, settings: Settings, judging: Judging) -> str:
    both = judging.normalize and judging.judge
    parse = settings.parse
    return note_of(
        context.crawl.table("crawldb"),
        context.plugins.url_chain(),
        entered=both or (parse.filter_urls and parse.normalize_urls),
        all_rows=both,
    )


def _message(counters: Counter[str], segments: int) -> str:
    words = [
        f"{count_of(segments, 'segment')} absorbed",
        f"{count_of(counters['fetches'], 'fetch', 'fetches')}",
        f"{count_of(counters['new_pages'], 'new page')}",
        f"{count_of(counters['pages'], 'page')} in the crawldb",
    ]
    dropped = sum(n for name, n in counters.items() if name.startswith("dropped_"))
    if dropped:
        urls = count_of(dropped, "URL")
        words.append(f"{urls} dropped by the URL chains, which changed or were asked for")
    return ", ".join(words)
