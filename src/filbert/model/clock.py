"""The one place that reads the wall clock.

Guarantee: rules take `now` as an argument; steps and hands take a `Clock`, so that tests and
replays decide what time it is. All times are epoch milliseconds, UTC.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

__all__ = ["Clock", "FixedClock", "SystemClock", "date_ms", "iso"]

_DIGITS = re.compile(r"\d{4,14}")
_LEAST = "00000101000000"  # of a date of 14 digits: what the missing ones stand for


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


def date_ms(text: str) -> int | None:
    """Return a date of WARC, or one of up to 14 digits as web archives write it, in epoch ms.

    Returns None if it is none. A date without a zone is UTC.
    """
    text = text.strip()
    try:
        if _DIGITS.fullmatch(text):
            if len(text) % 2:
                return None
            when = datetime.strptime(text + _LEAST[len(text) :], "%Y%m%d%H%M%S")  # noqa: DTZ007
        else:
            when = datetime.fromisoformat(text)
    except ValueError:
        return None
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
    return round(when.timestamp() * 1000)
