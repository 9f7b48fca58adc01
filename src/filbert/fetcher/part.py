"""One part of a fetch list, from the first request to the last.

Guarantee: one loop owns all hosts of the part. Requests, feeder and clerk (sync, progress, orders)
live in one TaskGroup; when it ends, however it ends, nothing is in flight and what was captured is
safe. `run` says why it ended.
Source: Nutch `Fetcher.FetcherRun`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from filbert.fetcher.alarm import Alarm
from filbert.fetcher.feeder import QueueFeeder
from filbert.fetcher.supervision import Order
from filbert.fetcher.workers import FetcherThread
from filbert.plugins.contracts import Scope
from filbert.rules.bandwidth import slots_for
from filbert.rules.fetch_actions import AskRobots, Done, Dropped, Fetch
from filbert.rules.host_queue import DropReason

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from filbert.fetcher.workers import Hands
    from filbert.model.records import FetchItem
    from filbert.store.frames import Bitmap

__all__ = ["PartEnd", "PartFetch", "PartPlan"]

_CLERK_S = 0.25


async def _nothing() -> None:
    """Sync nothing."""


class PartEnd(StrEnum):
    """Why a part ended."""

    DONE = "done"
    STOPPED = "stopped"
    LEASE_LOST = "lease_lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPlan:
    """What a part has to do, and whom it tells.

    Attributes:
        rows: Rows of crawl_generate from a position on, in order.
        done: Positions that were captured before.
        resumed: Redirects that a kill cut off: their targets, to be fetched.
        sync: Forces captures to the disk, off the loop.
        dropped: Told of each item left due, and what more is known of why.
        progress: Told each second that time has passed.
        order: What the supervisor says.
    """

    rows: Callable[[int], Iterator[Mapping[str, object]]]
    done: Bitmap
    resumed: tuple[FetchItem, ...] = ()
    sync: Callable[[], Awaitable[None]] = _nothing
    dropped: Callable[[Dropped, str], None] = lambda _item, _why: None
    progress: Callable[[], None] = lambda: None
    order: Callable[[], Order] = lambda: Order.GO_ON


class PartFetch:
    """Fetches a part.

    Args:
        hands: What its workers share.
        plan: What is to be done.
    """

    def __init__(self, hands: Hands, plan: PartPlan) -> None:
        self._hands = hands
        self._plan = plan
        self._thread = FetcherThread(hands)
        self._alarm = Alarm(hands.time)
        self._room = Alarm(hands.time)
        self._slots = hands.settings.fetcher.threads
        self._free = self._slots  # below 0, after slots were taken away, until they are given back
        self._end = PartEnd.DONE
        self._slow_seconds = 0
        self._looked_at = (hands.time.now_ms(), 0)  # when the bandwidth was looked at; bytes then
        self._started = hands.time.now_ms()

    async def run(self) -> PartEnd:
        """Fetch everything that can be; return why it ended.

        Raises:
            DataError: The disk is full or fails; what was captured before is safe.
        """
        try:
            async with asyncio.TaskGroup() as group:
                clerk = group.create_task(self._clerk())
                feeder = group.create_task(self._feed())
                await self._dispatch(group)
                for task in (clerk, feeder):
                    task.cancel()
        except ExceptionGroup as errors:
            first = _first_but_stop(errors)
            if first is not None:
                raise first from None
        finally:
            self._note_dropped()
            self._note_hosts()
            self._plan.progress()
        return self._end

    async def _dispatch(self, group: asyncio.TaskGroup) -> None:
        """Do what the queues decide, as long as there are slots, until they are done.

        Once the part is told to stop, what is in flight ends, within the limits of each request.
        """
        queues, time = self._hands.queues, self._hands.time
        while self._end is not PartEnd.STOPPED or queues.in_flight:
            if self._end is PartEnd.STOPPED:
                await self._alarm.wait(None)
                continue
            if self._free <= 0:
                await self._alarm.wait(None)
                continue
            action = queues.next_action(time.now_ms())
            if queues.has_dropped:
                self._note_dropped()
                self._room.ring()
            if isinstance(action, Done):
                return
            if isinstance(action, Fetch | AskRobots):
                self._free -= 1
                self._room.ring()
                group.create_task(self._work(action))
            else:
                await self._alarm.wait(action.until)

    async def _work(self, action: Fetch | AskRobots) -> None:
        try:
            await self._thread.do(action)
        finally:
            self._free += 1
            self._alarm.ring()

    # ------------------------------------------------------------------ feeding

    async def _feed(self) -> None:
        hands, keys = self._hands, self._hands.keys
        for item in self._plan.resumed:
            self._offer(item, await keys.key(item.host, item.domain))
        feeder = QueueFeeder(
            self._plan.rows,
            self._plan.done,
            hands.queues,
            key_of=lambda item: keys.key(item.host, item.domain),
            offer=self._offer,
            room=self._room,
        )
        await feeder.run()
        self._alarm.ring()

    def _offer(self, item: FetchItem, key: str) -> None:
        if self._is_wanted(item):
            self._thread.offer(item, key)
        self._alarm.ring()

    def _is_wanted(self, item: FetchItem) -> bool:
        """Say whether it may be asked for; ask the URL chain again, if the settings say so."""
        if not self._hands.may_ask(item.url, item.host):
            self._left_due(Dropped(item, DropReason.NO_AGENT_NAME))
            return False
        settings, chain = self._hands.settings.fetcher, self._hands.chain
        if chain is None or not (settings.filter_urls or settings.normalize_urls):
            return True
        found = chain.apply(
            item.url,
            Scope.DEFAULT,
            normalize=settings.normalize_urls,
            judge=settings.filter_urls,
        )
        if found.url == item.url:
            return True
        self._left_due(Dropped(item, DropReason.FILTERED))
        return False

    def _note_dropped(self) -> None:
        for dropped in self._hands.queues.take_dropped():
            self._left_due(dropped)

    def _left_due(self, dropped: Dropped) -> None:
        """Count and name a URL left due; a redirect's target is its source's to name."""
        if dropped.item.hop:
            self._thread.forget(dropped.item.position)
            self._hands.tally.counters[f"redirect.left.{dropped.reason}"] += 1
            return
        self._hands.tally.left_due(dropped.reason)
        is_robots = dropped.reason is DropReason.ROBOTS_UNAVAILABLE
        origin = self._thread.origin(dropped.item.url) if is_robots else ""
        self._plan.dropped(dropped, self._hands.robots.failure(origin) if origin else "")

    # ------------------------------------------------------------------ the clerk

    async def _clerk(self) -> None:
        """Sync, tell how it goes, heed orders, watch the throughput."""
        plan, ticks = self._plan, 0
        while True:
            await asyncio.sleep(_CLERK_S)
            ticks += 1
            self._heed(plan.order())
            if ticks % round(1 / _CLERK_S) == 0:
                plan.progress()
                self._note_hosts()
                self._watch_throughput()
                self._watch_bandwidth()
            await plan.sync()

    def _note_hosts(self) -> None:
        for state in self._hands.queues.take_changed():
            self._hands.captures.note_host(state)

    def _heed(self, order: Order) -> None:
        if order is Order.GO_ON:
            return
        if order is Order.LEASE_LOST:
            self._end = PartEnd.LEASE_LOST
            raise _StopError
        self._end = PartEnd.STOPPED
        self._alarm.ring()

    def _watch_throughput(self) -> None:
        settings, now = self._hands.settings.fetcher, self._hands.time.now_ms()
        if settings.throughput_threshold_pages < 0:
            return
        if now - self._started < settings.throughput_check_after_mins * 60_000:
            return
        if self._hands.tally.last_second(now) >= settings.throughput_threshold_pages:
            self._slow_seconds = 0
            return
        self._slow_seconds += 1
        if self._slow_seconds >= settings.throughput_threshold_retries:
            self._hands.queues.drop_all(DropReason.THROUGHPUT)
            self._alarm.ring()
            self._room.ring()

    def _watch_bandwidth(self) -> None:
        """Have as many slots as the bandwidth target wants."""
        settings, now = self._hands.settings.fetcher, self._hands.time.now_ms()
        since, before = self._looked_at
        if settings.bandwidth_target_kbps < 0 or now - since < (
            settings.bandwidth_check_every_s * 1_000
        ):
            return
        taken = self._hands.tally.counters["bytes"]
        slots = slots_for(
            target=settings.bandwidth_target_kbps * 1_000,
            used=(taken - before) * 8_000 / (now - since),
            slots=self._slots,
            most=settings.most_threads(),
            queues=len(self._hands.queues) * settings.threads_per_queue,
        )
        self._free += slots - self._slots
        self._slots, self._looked_at = slots, (now, taken)
        self._alarm.ring()


class _StopError(Exception):
    """Ends the task group at once: the hosts may be another process's now."""


def _first_but_stop(errors: ExceptionGroup[Exception]) -> Exception | None:
    """Return what a task failed by, unwrapped; None if it was only told to stop."""
    first: Exception | None = errors.split(_StopError)[1]
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    return first
