"""Keeping the queues filled: order, bounds, passes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from filbert.fetcher.alarm import Alarm, LoopTime
from filbert.fetcher.feeder import QueueFeeder
from filbert.model.clock import FixedClock
from filbert.rules.fetch_actions import Done, Fetch
from filbert.rules.host_queue import DropReason, Outcome, PolitenessPolicy
from filbert.rules.politeness import HostQueues
from filbert.settings import Settings
from filbert.store.frames import Bitmap
from filbert.testing.records import generate_row
from filbert.testing.virtual_time import run_virtual

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from filbert.model.records import FetchItem


@dataclass
class Feeding:
    """A feeder, and a fetcher that empties the queues in its own order of hosts."""

    urls: Sequence[str]
    queue_limit: int = 2
    total_limit: int = 4
    slow: str = ""
    done: Sequence[int] = ()
    stop_after: int = 10**9
    fetched: list[str] = field(default_factory=list)
    most_held: int = 0
    passes: int = 0

    def __post_init__(self) -> None:
        run_virtual(self._run)

    def _rows(self, start: int) -> Iterator[Mapping[str, object]]:
        self.passes += 1
        rows = (generate_row(url, position=n) for n, url in enumerate(self.urls))
        return (row for row in rows if row["position"] >= start)  # type: ignore[operator]

    async def _run(self) -> None:
        time = LoopTime(FixedClock(0), asyncio.get_running_loop())
        policy = replace(
            PolitenessPolicy.from_settings(Settings(), started=0),
            delay_ms=0,
            queue_limit=self.queue_limit,
            total_limit=self.total_limit,
        )
        self.queues = HostQueues(policy)
        room, done = Alarm(time), Bitmap()
        for position in self.done:
            done.add(position)

        async def key_of(item: FetchItem) -> str:
            return item.host

        def offer(item: FetchItem, key: str) -> None:
            self.queues.offer(item, key, 0)

        feeder = QueueFeeder(
            self._rows,
            done,
            self.queues,
            key_of=key_of,
            offer=offer,
            room=room,
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(feeder.run())
            await self._fetch(room)

    async def _fetch(self, room: Alarm) -> None:
        held: list[Fetch] = []
        while True:
            await asyncio.sleep(0)
            self.most_held = max(self.most_held, self.queues.waiting)
            if len(self.fetched) >= self.stop_after:
                self.queues.drop_all(DropReason.TIME_LIMIT)
                room.ring()
            action = self.queues.next_action(0)
            if isinstance(action, Done):
                return
            if not isinstance(action, Fetch):
                if held:
                    self._end(held.pop())
                room.ring()
                continue
            self.fetched.append(action.item.url)
            if action.key == self.slow:
                held.append(action)
            else:
                self._end(action)
            room.ring()

    def _end(self, action: Fetch) -> None:
        self.queues.finished(action.key, 0, Outcome.ASKED)


def test_rows_are_offered_in_order_and_within_bounds() -> None:
    """The order is that of the list; never more than the bound is held."""
    urls = [f"http://h{n % 5}/{n}" for n in range(50)]
    got = Feeding(urls, total_limit=6)
    assert got.fetched == urls
    assert got.most_held <= 6


@pytest.mark.parametrize("count", [3, 30, 120])
def test_one_host_is_fed_to_the_end(count: int) -> None:
    """A list of one host goes through a queue of two, in as many passes as it takes."""
    urls = [f"http://h/{n}" for n in range(count)]
    got = Feeding(urls)
    assert sorted(got.fetched) == sorted(urls)
    assert got.most_held <= 4


def test_a_slow_host_is_set_aside() -> None:
    """Others come in while the slow host's rows wait; none is lost."""
    urls = [f"http://slow/{n}" for n in range(40)] + [f"http://h{n}/" for n in range(10)]
    got = Feeding(urls, slow="slow")
    assert sorted(got.fetched) == sorted(urls)
    assert got.fetched.index("http://h9/") < got.fetched.index("http://slow/30")


def test_what_is_done_is_passed_over() -> None:
    """Positions that were captured before a stop are not offered."""
    got = Feeding([f"http://h{n}/" for n in range(6)], done=[0, 2, 4])
    assert got.fetched == ["http://h1/", "http://h3/", "http://h5/"]


def test_after_the_end_the_rest_is_dropped_by_name() -> None:
    """When the queues are closed the rest of the list is dropped under their reason."""
    urls = [f"http://h{n}/" for n in range(100)]
    got = Feeding(urls, stop_after=7)
    assert len(got.fetched) == 7
    assert got.queues.dropped_by_reason == {"time_limit": 93}
