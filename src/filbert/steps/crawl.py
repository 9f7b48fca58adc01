"""The loop: inject, then rounds of generate, fetch, parse, updatedb, invertlinks, dedup, index.

Guarantee: the same command goes on after a kill at any instant. How far a run has come is read
from the crawl folder itself (segments, the crawldb's history); only where a run began is noted
apart. A round that can fetch nothing ends the run with the reason, never in a loop.
Source: Nutch's `bin/crawl`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from filbert.errors import UserError
from filbert.plugins.settings_check import check_browser
from filbert.search.schema import index_exists
from filbert.search.searcher import SearchIndex
from filbert.steps import dedup, fetch, generate, index, inject, invert, parse, update, vacuum
from filbert.steps.absorbing import absorbed_already, to_absorb
from filbert.steps.fetch_checks import NamelessError
from filbert.steps.fetch_replay import open_archive
from filbert.store.run_marker import RunMarker
from filbert.store.segments import SegmentState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from filbert.steps.context import StepContext, StepResult
    from filbert.store.segments import Segment
    from filbert.store.tables import Table

Options = TypeVar("Options")

__all__ = ["CrawlOptions", "CrawlReport", "Watch", "rounds_done", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptions:
    """What a run is to do.

    Attributes:
        seeds: Seed files, folders or URLs; none: go on with what the crawldb has.
        rounds: How many rounds; None: until nothing is due.
        index: Keep the index up to date.
        replay: WARC files, or folders of them, that answer in place of the network.
    """

    seeds: tuple[str, ...] = ()
    rounds: int | None = 1
    index: bool = True
    replay: tuple[Path, ...] = ()


class Watch(Protocol):
    """Who looks on: a display on a terminal, or log lines."""

    def started(self, step: str, round_number: int) -> None:
        """A step begins."""
        ...

    def ended(self, result: StepResult) -> None:
        """A step is done."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlReport:
    """What a run did, for the closing summary.

    Attributes:
        rounds: Rounds completed by this run, those before a kill included.
        before: How many of them earlier calls completed.
        counters: Sums over all steps of this call, by step and counter.
        ended: Why the run ended, in words.
        stopped: It was asked to stop; the same command goes on.
        notes: Examples of what was left out, with all that is known of why.
        searchable: Documents in the index.
        resumed: It went on where a killed or stopped call had left off.
    """

    rounds: int
    before: int = 0
    counters: dict[str, Counter[str]] = field(default_factory=dict)
    ended: str = ""
    stopped: bool = False
    notes: tuple[str, ...] = ()
    searchable: int = 0
    resumed: bool = False

    @property
    def pages(self) -> int:
        """Answers of this call that were pages, not modified, or redirects."""
        fetched = self.counters.get("fetch", Counter())
        return sum(fetched[name] for name in _ANSWERS)

    @property
    def only_completed(self) -> bool:
        """Whether this call asked for no page, since an earlier one had asked for them all."""
        return self.resumed and self.rounds > 0 and "fetch" not in self.counters

    @property
    def failed(self) -> bool:
        """Whether this call had URLs to ask for, and not one page came."""
        fetched = self.counters.get("fetch", Counter())
        return not self.pages and any(
            count for name, count in fetched.items() if name.startswith(("fetch_", "left_due"))
        )


def run(context: StepContext, options: CrawlOptions, watch: Watch) -> CrawlReport:
    """Run the loop; start anew, or go on where a killed run stopped.

    Raises:
        UserError: There is nothing to begin with, or nobody who may be asked.
        DataError: Another crawl is at work in the folder.
    """
    crawl = context.crawl
    if not options.replay:
        check_browser(context.settings)
    with crawl.lease("crawl", lease_s=context.settings.store.lease_s):
        crawl.clear_stop()
        open_archive(context, options.replay)  # what is wrong with it is said before all else
        unfinished = RunMarker.read(crawl.path)
        marker = unfinished or RunMarker.begin(crawl.path, _db_version(context))
        loop = _Loop(context, options, watch, marker)
        before = loop.done()
        try:
            loop.begin()
            ended = loop.rounds()
        except UserError:
            if unfinished is None and not loop.done():  # there is nothing to go on with
                RunMarker.end(crawl.path)
            raise
        stopped = crawl.stop_requested()
        if not stopped:
            RunMarker.end(crawl.path)
    return CrawlReport(
        rounds=loop.done(),
        before=before,
        counters=loop.counters,
        ended=ended,
        stopped=stopped,
        notes=tuple(loop.notes),
        searchable=_documents(context),
        resumed=unfinished is not None,
    )


def rounds_done(crawldb: Table, since: int) -> int:
    """Return the rounds absorbed after version `since` and not undone, by the table's history."""
    return sum(
        commit.step == "updatedb"
        and commit.version > since
        and any(crawldb.transaction(name) is not None for name in commit.transactions)
        for commit in crawldb.history()
    )


def _documents(context: StepContext) -> int:
    path = context.crawl.index_dir
    return SearchIndex.open(path, context.settings.search).count() if index_exists(path) else 0


def _db_version(context: StepContext) -> int:
    return context.crawl.table("crawldb").version()


class _Loop:
    """One run: what it was asked, and what it has counted so far."""

    def __init__(
        self, context: StepContext, options: CrawlOptions, watch: Watch, marker: RunMarker
    ) -> None:
        self.counters: dict[str, Counter[str]] = {}
        self.notes: dict[str, None] = {}
        self._context = context
        self._options = options
        self._watch = watch
        self._marker = marker
        self._round_number = self.done() + 1

    def done(self) -> int:
        """Rounds of this run, those before a kill included."""
        return rounds_done(self._context.crawl.table("crawldb"), self._marker.start_version)

    def begin(self) -> None:
        """Inject the seeds, if there are any.

        Raises:
            UserError: They are wrong, or there is no page to begin with.
        """
        crawl, seeds = self._context.crawl, self._options.seeds
        if seeds:
            self.step(inject.run, inject.InjectOptions(seeds=seeds), "inject")
        if not crawl.table("crawldb").count():
            raise UserError(
                f"{crawl.path} has no page to begin with",
                hint="Give it seeds: --seeds FILE_OR_URL",
            )

    def step(
        self, call: Callable[[StepContext, Options], StepResult], options: Options, name: str
    ) -> StepResult:
        """Run one step, count it and show it."""
        self._watch.started(name, self._round_number)
        result = call(self._context, options)
        self.counters.setdefault(name, Counter()).update(result.counters)
        self.notes.update(dict.fromkeys(result.notes))
        self._watch.ended(result)
        return result

    def rounds(self) -> str:
        """Do rounds until there is a reason to end; return it."""
        self._settle()
        while True:
            pending = self._pending()
            if not pending and self._all_done():
                return "that was all that was asked for"
            try:
                ended = self._generate_and_do() if not pending else self._do_round(pending)
            except NamelessError as error:
                if not self.done():  # the seeds themselves: wrong use
                    raise
                return str(error)
            if ended:
                return ended

    def _generate_and_do(self) -> str:
        asks = not self._options.replay  # an archive is nobody, and needs no name of ours
        options = generate.GenerateOptions(to_fetch_now=asks)
        made = self.step(generate.run, options, "generate")
        return made.message if made.nothing_to_do else self._do_round(self._pending())

    def _all_done(self) -> bool:
        return self._options.rounds is not None and self.done() >= self._options.rounds

    def _pending(self) -> list[Segment]:
        return to_absorb(self._context.crawl)

    def _do_round(self, segments: Sequence[Segment]) -> str:
        """Fetch, parse and absorb the segments; return why the run must end, or nothing."""
        fetched = 0
        for segment in sorted(segments, key=lambda one: one.state is not SegmentState.FETCHING):
            name = segment.name
            if segment.state in (SegmentState.GENERATED, SegmentState.FETCHING):
                asked = fetch.FetchOptions(segment=name, replay=self._options.replay)
                self.step(fetch.run, asked, "fetch")
            if self._stopped():
                return _STOPPED
            self.step(parse.run, parse.ParseOptions(segments=(name,)), "parse")
            fetched += segment.table("crawl_fetch").count()
        names = tuple(segment.name for segment in segments)
        self.step(update.run, update.UpdateOptions(segments=names), "updatedb")
        self._settle()
        self._round_number += 1
        if self._stopped():
            return _STOPPED
        return "" if fetched else _NOTHING_FETCHED

    def _stopped(self) -> bool:
        return self._context.crawl.stop_requested()

    def _settle(self) -> None:
        """Bring linkdb, duplicates and index up to the crawldb; cheap when they are."""
        names = tuple(segment.name for segment in absorbed_already(self._context.crawl))
        if not names:
            return
        self.step(invert.run, invert.InvertOptions(segments=names), "invertlinks")
        self.step(dedup.run, dedup.DedupOptions(), "dedup")
        if self._options.index:
            self.step(index.run, index.IndexOptions(segments=names), "index")
        if self._context.settings.store.keep_segments:
            self.step(vacuum.run, vacuum.VacuumOptions(of_crawl=True), "vacuum")


_ANSWERS = ("fetch_success", "fetch_notmodified", "fetch_redir_temp", "fetch_redir_perm")
_STOPPED = "stopped as asked; the same command goes on"
_NOTHING_FETCHED = (
    "a round fetched nothing: every URL that is due was left (see the reasons above); "
    "another round now would meet the same"
)
