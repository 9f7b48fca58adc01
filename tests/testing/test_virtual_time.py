"""The loop on virtual time."""

from __future__ import annotations

import asyncio

import pytest

from filbert.testing.virtual_time import LoopClock, run_virtual


def test_a_year_passes_at_once_and_exactly() -> None:
    """Sleeping costs no time, and ends at the instant asked for."""

    async def main() -> int:
        await asyncio.sleep(365 * 86_400)
        return LoopClock().now_ms()

    assert run_virtual(main, start_ms=1_000) == 365 * 86_400_000 + 1_000


def test_timers_fire_in_the_order_of_their_instants() -> None:
    """Two sleepers wake in order, each at its own time."""
    seen: list[tuple[str, int]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, LoopClock().now_ms()))

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(sleeper("late", 5))
            group.create_task(sleeper("early", 0.25))

    run_virtual(main)
    assert seen == [("early", 250), ("late", 5_000)]


def test_waiting_for_nothing_is_an_error() -> None:
    """A deadlock stops the loop instead of hanging the test."""

    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="every task waits"):
        run_virtual(main)
