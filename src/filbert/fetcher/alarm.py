"""A bell that rings when something has changed, or at a time: what the dispatcher waits for.

Guarantee: no ring is lost: one that comes while nobody waits ends the next wait at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filbert.model.clock import Clock

__all__ = ["Alarm", "LoopTime"]


class LoopTime:
    """Epoch milliseconds that never run backwards: the clock's at the start, then the loop's.

    A `Clock`. Politeness must not be shortened, nor stall, because someone sets the wall clock.

    Args:
        clock: What time it is at the start.
        loop: The loop whose time passes.
    """

    def __init__(self, clock: Clock, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._offset = clock.now_ms() - loop.time() * 1000

    def now_ms(self) -> int:
        """Return the time in epoch milliseconds."""
        return round(self._offset + self._loop.time() * 1000)


class Alarm:
    """The bell."""

    def __init__(self, time: LoopTime) -> None:
        self._time = time
        self._event = asyncio.Event()

    def ring(self) -> None:
        """Wake who waits, or who waits next."""
        self._event.set()

    async def wait(self, until: int | None) -> None:
        """Wait for a ring, or for the time `until` (epoch ms); None: for a ring alone."""
        handle = None
        if until is not None:
            wait_s = max(0, until - self._time.now_ms()) / 1000
            handle = asyncio.get_running_loop().call_later(wait_s, self._event.set)
        try:
            await self._event.wait()
        finally:
            self._event.clear()
            if handle is not None:
                handle.cancel()
