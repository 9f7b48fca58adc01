"""Keeps the queues filled from the fetch list, in its order and within bounds.

Guarantee: memory does not grow with the list. The queues are bounded in total and each by itself,
so that a few slow hosts with many URLs cannot keep all others out: what a full queue cannot take
is set aside, up to a bound, and beyond that read again in another pass. Each position of the list
is offered once; those that were captured before a stop are passed over. What is offered after the
time limit, or for a queue that was given up, is dropped by the queues under its reason.
Source: Nutch `QueueFeeder`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Protocol

from filbert.fetcher.capture import item_of
from filbert.store.frames import Bitmap

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from filbert.fetcher.alarm import Alarm
    from filbert.model.records import FetchItem
    from filbert.rules.politeness import HostQueues

__all__ = ["Offer", "QueueFeeder"]

_YIELD_EVERY = 200  # rows between two looks at the loop


class Offer(Protocol):
    """Takes an item into the queue of a key, whatever must be known of it first."""

    def __call__(self, item: FetchItem, key: str) -> None:
        """Take it."""
        ...


class QueueFeeder:
    """Feeds the queues of a part.

    Args:
        rows: The rows of crawl_generate from a position on, in order.
        done: Positions that need no fetching.
        queues: The queues; asked for room.
        key_of: The queue of an item.
        offer: Takes an item in.
        room: Rings when an item has left a queue.
    """

    def __init__(
        self,
        rows: Callable[[int], Iterator[Mapping[str, object]]],
        done: Bitmap,
        queues: HostQueues,
        *,
        key_of: Callable[[FetchItem], Awaitable[str]],
        offer: Offer,
        room: Alarm,
    ) -> None:
        self._rows = rows
        self._done = done
        self._queues = queues
        self._key_of = key_of
        self._offer = offer
        self._room = room
        self._taken = Bitmap()
        self._aside: dict[str, deque[FetchItem]] = {}
        self._aside_count = 0

    async def run(self) -> None:
        """Offer every row; return when all have been."""
        start: int | None = 0
        while start is not None:
            start = await self._pass(start)
            if start is not None:
                await self._empty_aside(self._limit // 2)
        await self._empty_aside(0)
        self._queues.fed()

    @property
    def _limit(self) -> int:
        return self._queues.policy.total_limit

    async def _pass(self, start: int) -> int | None:
        """Go through the list once; return the first position passed over, None: there is none."""
        first_skipped: int | None = None
        for number, row in enumerate(self._rows(start)):
            if number % _YIELD_EVERY == 0:
                self._offer_aside()
                await asyncio.sleep(0)
            position: int = row["position"]  # type: ignore[assignment]
            if position in self._done or position in self._taken:
                continue
            item = item_of(row)
            key = await self._key_of(item)
            if await self._take(item, key):
                self._taken.add(position)
            elif first_skipped is None:
                first_skipped = position
        return first_skipped

    async def _take(self, item: FetchItem, key: str) -> bool:
        """Take an item, at once or aside; False: there is no room for it now."""
        while self._queues.room() == 0 and self._queues.blocked(key) is None:
            await self._room.wait(None)
            self._offer_aside()
        if key not in self._aside and (
            self._queues.has_room(key) or self._queues.blocked(key) is not None
        ):
            self._offer(item, key)
            return True
        if self._aside_count >= self._limit:
            return False
        self._aside.setdefault(key, deque()).append(item)
        self._aside_count += 1
        return True

    async def _empty_aside(self, down_to: int) -> None:
        self._offer_aside()
        while self._aside_count > down_to:
            await self._room.wait(None)
            self._offer_aside()

    def _offer_aside(self) -> None:
        """Offer what was set aside to the queues that have room now."""
        for key in list(self._aside):
            items = self._aside[key]
            while items and self._may_enter(key):
                self._offer(items.popleft(), key)
                self._aside_count -= 1
            if not items:
                del self._aside[key]

    def _may_enter(self, key: str) -> bool:
        queues = self._queues
        return queues.blocked(key) is not None or (queues.room() > 0 and queues.has_room(key))
