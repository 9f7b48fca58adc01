"""An asyncio loop on virtual time: years of politeness in milliseconds, at exact instants.

Guarantee: when nothing is ready to run, time jumps to the next timer; nothing ever sleeps.
`loop.time()` begins at the instant given, and a `LoopClock` reads the same time as epoch
milliseconds. A loop that waits for something no timer brings stops with an error instead of
hanging. Real sockets do not work on it: use in-memory fakes.
"""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["LoopClock", "VirtualTimeLoop", "run_virtual"]

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    """A selector that moves the clock instead of waiting."""

    def __init__(self, start: float) -> None:
        super().__init__()
        self.now = start

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready now; if nothing is, jump to the next timer."""
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise RuntimeError(
                "virtual time: every task waits, and no timer will wake any of them\n"
                "  a task waits for something that nobody sets, or for a real socket or thread"
            )
        self.now += max(timeout, 0.0)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """The loop.

    Args:
        start_ms: Where time begins, epoch milliseconds.
    """

    def __init__(self, start_ms: int = 0) -> None:
        self._jumping = _JumpingSelector(start_ms / 1000)
        super().__init__(self._jumping)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self._jumping.now


class LoopClock:
    """A `Clock` that reads a loop's time; on a `VirtualTimeLoop` it is epoch milliseconds."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop

    def now_ms(self) -> int:
        """Return the loop's time in milliseconds."""
        loop = self._loop or asyncio.get_running_loop()
        return round(loop.time() * 1000)


def run_virtual(main: Callable[[], Coroutine[None, None, T]], *, start_ms: int = 0) -> T:
    """Run an async function on a fresh virtual loop and return what it returns."""
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(start_ms)) as runner:
        return runner.run(main())
