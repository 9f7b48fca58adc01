"""One part of a fetch over the synthetic web, on virtual time, in memory.

Guarantee: the real queues, workers and feeder; only the network and the disk are fakes. Requests
and ends are at exact instants.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from filbert.fetcher.alarm import LoopTime
from filbert.fetcher.keys import QueueKeys
from filbert.fetcher.part import PartEnd, PartFetch, PartPlan
from filbert.fetcher.robots_cache import RobotsCache
from filbert.fetcher.tally import Tally
from filbert.fetcher.workers import Hands
from filbert.model.clock import FixedClock
from filbert.plugins.protocol_factory import ProtocolFactory
from filbert.plugins.protocols.dns import Resolution
from filbert.plugins.url_chain import UrlChain
from filbert.rules.host_queue import PolitenessPolicy
from filbert.rules.politeness import HostQueues
from filbert.rules.redirects import RedirectJudge, RedirectPolicy
from filbert.settings import Settings
from filbert.store.frames import Bitmap
from filbert.testing.fake_protocol import FakeCaptures, FakeProtocol
from filbert.testing.records import generate_row
from filbert.testing.synthetic_web import SyntheticReply, SyntheticWeb, WebSpec
from filbert.testing.virtual_time import run_virtual

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from filbert.fetcher.supervision import Order
    from filbert.model.hosts import HostState
    from filbert.rules.fetch_actions import Dropped

__all__ = ["START", "FetchRound"]

START = 1_000_000_000_000
"""When every round starts, epoch ms."""


@dataclass
class FetchRound:
    """One fetch of one part, done when it is made, and what came of it.

    Attributes:
        urls: The fetch list.
        web: What the network is.
        replies: Replies that go before the web's, by URL; None: no answer.
        changes: Settings that differ from the defaults, by section; redirects are followed.
        remembered: Host states of earlier rounds.
        owns: Whether the part asks (host, domain).
        order: What the supervisor says.
        rows: Rows of crawl_generate, in place of `urls`.
        done: Positions captured before.
        addresses: Addresses of hosts, for the queue modes that know them.
    """

    urls: Sequence[str]
    web: SyntheticWeb = field(default_factory=lambda: SyntheticWeb(WebSpec.plain()))
    replies: Mapping[str, SyntheticReply | None] = field(default_factory=dict)
    changes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    remembered: Mapping[str, HostState] = field(default_factory=dict)
    owns: Callable[[str, str], bool] = lambda _host, _domain: True
    order: Callable[[], Order] | None = None
    rows: Sequence[Mapping[str, object]] | None = None
    done: Sequence[int] = ()
    latency_ms: int = 100
    addresses: Mapping[str, str] = field(default_factory=dict)
    captures: FakeCaptures = field(default_factory=FakeCaptures)
    dropped: list[Dropped] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.end = run_virtual(self._run, start_ms=START)

    def _settings(self) -> Settings:
        settings = Settings()
        changes = {**self.changes, "http": {"redirect_max": 5, **self.changes.get("http", {})}}
        update = {
            name: getattr(settings, name).model_copy(update=dict(values))
            for name, values in changes.items()
        }
        return settings.model_copy(update=update)

    async def _run(self) -> PartEnd:
        loop = asyncio.get_running_loop()
        settings, time = self._settings(), LoopTime(FixedClock(START), loop)
        self.protocol = FakeProtocol(
            self.web, time, latency_ms=self.latency_ms, replies=self.replies
        )
        known = {**self.remembered, **self.captures.hosts}
        policy = PolitenessPolicy.from_settings(settings, started=START)
        chain = UrlChain([], [])
        hands = Hands(
            settings=settings,
            time=time,
            queues=HostQueues(policy, remembered=known.get),
            robots=RobotsCache(settings, known.get),
            captures=self.captures,
            protocols=ProtocolFactory([self.protocol]),
            redirects=RedirectJudge(RedirectPolicy.from_settings(settings), chain, self.owns),
            keys=QueueKeys(settings.fetcher.queue_mode, _Addresses(self.addresses)),
            tally=self.tally,
            chain=chain,
        )
        rows = self.rows or [generate_row(url, position=n) for n, url in enumerate(self.urls)]
        done = Bitmap()
        for position in self.done:
            done.add(position)
        plan = PartPlan(
            rows=lambda start: (row for row in rows if row["position"] >= start),  # type: ignore[operator]
            done=done,
            dropped=lambda dropped, _why: self.dropped.append(dropped),
        )
        if self.order is not None:
            plan = replace(plan, order=self.order)
        end = await PartFetch(hands, plan).run()
        self.ended_at = time.now_ms() - START
        return end

    @property
    def log(self) -> list[tuple[int, str]]:
        """Each request: ms since the start, URL."""
        return [(one.start_ms - START, one.host + one.path) for one in self.protocol.seen]

    @property
    def statuses(self) -> dict[str, str]:
        """Fetch status of each URL, the last hop's."""
        return {one.url: one.status.label for one in self.captures.records}

    @property
    def left(self) -> dict[str, str]:
        """Reason of each URL left due."""
        return {one.item.url: one.reason.value for one in self.dropped}


class _Addresses:
    """Knows the addresses of some hosts; the others have none."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self._addresses = addresses

    async def resolve(self, host: str) -> Resolution:
        address = self._addresses.get(host)
        return Resolution((address,) if address else ())
