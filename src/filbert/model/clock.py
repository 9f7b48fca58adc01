"""The one place that reads the wall clock.

Guarantee: rules take `now` as an argument; steps and hands take a `Clock`, so that tests and
replays decide what time it is. All times are epoch milliseconds, UTC.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

__all__ = ["Clock", "FixedClock", "SystemClock", "iso"]


class Clock(Protocol):
    """Something that knows what time it is."""

    def now_ms(self) -> int:
        """Return the time in epoch milliseconds."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return the machine's time in epoch milliseconds."""
        return time.time_ns() // 1_000_000


class FixedClock:
    """A clock that stands still until it is moved.

    Args:
        now_ms: Where it stands, epoch milliseconds.
    """

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """Return where the clock stands."""
        return self._now_ms

    def advance(self, ms: int) -> None:
        """Move the clock forward by `ms` milliseconds."""
        self._now_ms += ms


def iso(epoch_ms: int) -> str:
    """Return epoch milliseconds as ISO 8601 in UTC, to the millisecond."""
    second, ms = divmod(epoch_ms, 1000)
    return f"{_second(second)}.{ms:03d}Z"


@lru_cache(maxsize=64)
def _second(epoch_s: int) -> str:
    """Return a whole second; of these, many pages have the same."""
    return datetime.fromtimestamp(epoch_s, tz=UTC).isoformat().removesuffix("+00:00")
