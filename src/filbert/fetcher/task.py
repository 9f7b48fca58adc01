"""Page work of `fetch`: one part of a segment, in a process and an event loop of its own.

Guarantee: picklable, and resumable at any instant: what was captured before is read from the
journal, redirects that a kill cut off are gone on with, and after an unclean stop every host gets
one full delay, since a request of ours may have ended just now. A part that is done is sealed into
Parquet files that the step commits; one that was stopped is not.
Source: Nutch `Fetcher` (a map task per part).
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvloop

from filbert.engine.base import PartResult
from filbert.errors import DataError
from filbert.fetcher.alarm import LoopTime
from filbert.fetcher.capture import redirect_row
from filbert.fetcher.keys import QueueKeys
from filbert.fetcher.left_due import LeftDue
from filbert.fetcher.part import PartEnd, PartFetch, PartPlan
from filbert.fetcher.partition import PartShare
from filbert.fetcher.progress import measure, write_progress
from filbert.fetcher.remembered import (
    RememberedHosts,
    item_of_record,
    pending_redirects,
    redirect_of,
)
from filbert.fetcher.replay import HostlessCaptures, ReplayProtocol, replaying
from filbert.fetcher.request_log import RequestLog
from filbert.fetcher.robots_cache import RobotsCache
from filbert.fetcher.supervision import Supervision
from filbert.fetcher.tally import Tally
from filbert.fetcher.workers import Hands
from filbert.model.clock import SystemClock
from filbert.model.schemas import CRAWL_PARSE
from filbert.plugins.protocol_factory import ProtocolFactory, mapping_from
from filbert.plugins.protocols.dns import Resolver
from filbert.plugins.protocols.request import user_agent
from filbert.plugins.publishing import Publishing
from filbert.plugins.registry import PluginRepository
from filbert.rules.host_queue import PolitenessPolicy
from filbert.rules.politeness import HostQueues
from filbert.rules.redirects import RedirectJudge, RedirectPolicy
from filbert.rules.sql import literal
from filbert.rules.this_machine import ThisMachine
from filbert.store.captures import CaptureLog, CaptureOptions
from filbert.store.parquet import ParquetSink, read_rows
from filbert.store.seal import seal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from filbert.engine.base import Files, Part, WrittenFile
    from filbert.model.hosts import HostState
    from filbert.settings import Settings

__all__ = ["FetchPart"]

_GC_THRESHOLDS = (50_000, 50, 1_000)  # a full collection of 200,000 hosts stalls a loop for 100 ms


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPart:
    """The page task.

    Attributes:
        settings: Settings of the crawl.
        folder: The crawl folder, where plugins look for their files.
        listed: The segment's crawl_generate.
        parts: How many parts it has.
        hosts: What the hostdb knows of its hosts.
        content_dir, journal_dir, left_due_dir: Folders of the segment.
        into: A scratch folder for sealed files.
        log_requests: `plain` or `json`: one line on stderr for each request; empty: none.
        archive: Index of the archive that answers in place of the network; None: the network.
    """

    settings: Settings
    folder: Path
    listed: Files
    parts: int
    hosts: Files
    content_dir: Path
    journal_dir: Path
    left_due_dir: Path
    into: Path
    log_requests: str = ""
    archive: Path | None = None

    def __call__(self, part: Part) -> PartResult:
        """Fetch a part; `payload` is why it ended (PartEnd), files are there only if it is done.

        Raises:
            DataError: The disk is full or fails, or the lease was lost; captures are safe.
        """
        with _rare_gc():
            return self._done(part.number, Tally())

    def _done(self, number: int, tally: Tally) -> PartResult:
        options = CaptureOptions.from_settings(self.settings, user_agent(self.settings.http))
        with (
            CaptureLog(
                self.content_dir, self.journal_dir, number, options=options, clock=SystemClock()
            ) as captures,
            LeftDue(self.left_due_dir, number) as left_due,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            if captures.cut_bytes:
                tally.counters["journal.cut_bytes"] = captures.cut_bytes
            if captures.done:
                tally.counters["captured_by_earlier_calls"] = len(captures.done)
            end = runner.run(self._fetch(number, captures, left_due, tally))
            left = tuple(captures.open_redirects.values())
        if end is PartEnd.LEASE_LOST:
            raise DataError(
                f"part {number}: the step that holds the lease of {self.folder} gave no sign of "
                f"life for {self.settings.store.lease_s} s",
                hint="what was captured is safe; the same command goes on with it",
            )
        counters = Counter({k: n for k, n in tally.counters.items() if not k.startswith("fetch_")})
        if end is PartEnd.STOPPED:
            return PartResult(number=number, counters=tally.counters, payload=end)
        sealed = seal(self.journal_dir, number, self.into)
        counters.update(sealed.statuses)
        files = {**sealed.files, "crawl_parse": (*sealed.files["crawl_parse"], *self._links(left))}
        return PartResult(number=number, files=files, counters=counters, payload=end)

    async def _fetch(
        self, number: int, captures: CaptureLog, left_due: LeftDue, tally: Tally
    ) -> PartEnd:
        settings = self.settings if self.archive is None else replaying(self.settings)
        time = LoopTime(SystemClock(), asyncio.get_running_loop())
        resumed_at = time.now_ms() if captures.resumed else None
        known = self._known(captures, resumed_at)
        by_host = "ip" in self.settings.fetcher.queue_mode
        share = PartShare(self.listed, number, self.parts, by_host=by_host)
        may_ask = self._may_ask()
        plugins = PluginRepository(settings, self.folder)
        queues = HostQueues(
            PolitenessPolicy.from_settings(settings, started=time.now_ms()),
            remembered=known,
            not_before=resumed_at or 0,
        )
        async with AsyncExitStack() as stack:
            protocols = await self._protocols(plugins, stack)
            publishing = stack.enter_context(Publishing(plugins.publishers(), tally.counters))
            hands = Hands(
                settings=settings,
                time=time,
                queues=queues,
                robots=RobotsCache(settings, known),
                captures=captures if self.archive is None else HostlessCaptures(captures),
                protocols=protocols,
                redirects=RedirectJudge(
                    RedirectPolicy.from_settings(settings),
                    plugins.url_chain(),
                    lambda host, domain: share.owns(host, domain) and may_ask("", host),
                ),
                keys=await self._keys(stack, protocols),
                tally=tally,
                chain=plugins.url_chain(),
                signature=plugins.signature() if settings.fetcher.signature else None,
                may_ask=may_ask,
                log=self._log(number),
                publishing=publishing,
            )
            plan = self._plan(hands, captures, left_due, (number, share.urls))
            gc.freeze()  # not to be looked at again and again; garbage among it can wait
            return await PartFetch(hands, plan).run()

    async def _protocols(self, plugins: PluginRepository, stack: AsyncExitStack) -> ProtocolFactory:
        """Return who answers: all protocols, or the archive alone."""
        settings, archive = self.settings, self.archive
        if archive is not None:
            kinds = (True, False)  # of schemes: with robots.txt, and without
            both = [ReplayProtocol(settings, archive, robots=robots) for robots in kinds]
            return ProtocolFactory([await stack.enter_async_context(one) for one in both])
        entered: list[Any] = [await stack.enter_async_context(one) for one in plugins.protocols()]
        return ProtocolFactory(entered, mapping_from(settings))

    def _known(
        self, captures: CaptureLog, resumed_at: int | None
    ) -> Callable[[str], HostState | None]:
        """Return what is known of hosts; an archive owes them nothing."""
        if self.archive is not None:
            return lambda _key: None
        return RememberedHosts(self.hosts, captures.host_states, resumed_at).get

    def _may_ask(self) -> Callable[[str, str], bool]:
        """Return whether a URL of a host may be asked for: by a name, all; else this machine."""
        if self.archive is not None or self.settings.http.agent_name.strip():
            return lambda _url, _host: True
        return ThisMachine(self.settings.http.resolve).has

    def _log(self, number: int) -> RequestLog | None:
        form = self.log_requests
        return RequestLog(number, as_json=form == "json") if form else None

    async def _keys(self, stack: AsyncExitStack, protocols: ProtocolFactory) -> QueueKeys:
        """Return what makes the keys; addresses are those that requests will go to."""
        mode = "host" if self.archive is not None else self.settings.fetcher.queue_mode
        if "ip" not in mode:
            return QueueKeys(mode)
        http: Any = protocols.of_scheme("http")
        if hasattr(http, "resolve"):
            return QueueKeys(mode, http)
        resolver = Resolver(self.settings.http.timeout_ms / 1000)
        return QueueKeys(mode, await stack.enter_async_context(resolver))

    def _plan(
        self, hands: Hands, captures: CaptureLog, left_due: LeftDue, share: tuple[int, int]
    ) -> PartPlan:
        number, urls = share
        before, started = len(captures.done), hands.time.now_ms()
        supervision = Supervision(
            crawl_path=self.folder,
            journal_dir=self.journal_dir,
            lease_s=self.settings.store.lease_s,
        )
        seconds = SystemClock()

        def progress() -> None:
            times = (hands.time.now_ms(), started)
            counts = (urls, before)
            now = measure(hands.queues, hands.tally, part=number, times=times, urls=counts)
            write_progress(self.journal_dir, now)

        async def sync() -> None:
            if self.settings.store.fsync == "batch":
                await asyncio.to_thread(captures.sync)

        return PartPlan(
            rows=lambda start: self._rows(number, start),
            done=captures.done,
            resumed=pending_redirects(captures.open_redirects.values()),
            sync=sync,
            dropped=left_due.note,
            progress=progress,
            order=lambda: supervision.order(seconds.now_ms() / 1000),
        )

    def _rows(self, number: int, start: int) -> Iterator[Mapping[str, object]]:
        where = f"part = {literal(number)} and position >= {literal(start)}"
        return read_rows(self.listed, where=where)

    def _links(self, left: tuple[Any, ...]) -> tuple[WrittenFile, ...]:
        """Write targets that were to be followed and were not: they wait for the next round."""
        if not left:
            return ()
        stem = f"left-{left[0].part:05d}"
        with ParquetSink(CRAWL_PARSE, self.into, stem, max_rows=1_000_000) as sink:
            sink.extend(
                redirect_row(item_of_record(record), redirect_of(record), record.fetch_time)
                for record in left
            )
        return sink.files


@contextmanager
def _rare_gc() -> Iterator[None]:
    """Make garbage collections rare; in the end, take back in what was left out of them."""
    before = gc.get_threshold()
    gc.set_threshold(*_GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
