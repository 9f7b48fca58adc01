"""Whether a part may go on: asked to stop, or no longer sure that the folder is ours.

Guarantee: a part starts no request after `.STOP` was made in the crawl folder, nor when the step
that holds the lease has said nothing for as long as the lease lives: a parent that hangs, and so
renews nothing, must not leave a child that goes on asking hosts which another process now owns.
The step says that it lives by the time of a file in the segment's journal.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from filbert.store import layout

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["HeartBeat", "Order", "Supervision"]

_BEAT = "lease.beat"


class Order(StrEnum):
    """What the supervisor says."""

    GO_ON = "go_on"
    STOP = "stop"
    LEASE_LOST = "lease_lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervision:
    """What a part looks at, a few times a second.

    Attributes:
        crawl_path: The crawl folder, for `.STOP`.
        journal_dir: The segment's journal, for the sign of life.
        lease_s: How long a sign of life counts.
    """

    crawl_path: Path
    journal_dir: Path
    lease_s: int

    def order(self, now_s: float) -> Order:
        """Return what holds now; `now_s` is the machine's time, as file times are."""
        if (self.crawl_path / layout.STOP).exists():
            return Order.STOP
        try:
            beat = (self.journal_dir / _BEAT).stat().st_mtime
        except FileNotFoundError:
            return Order.LEASE_LOST
        return Order.GO_ON if now_s - beat < self.lease_s else Order.LEASE_LOST


class HeartBeat:
    """The step's sign of life.

    Args:
        journal_dir: The segment's journal; made if missing.
    """

    def __init__(self, journal_dir: Path) -> None:
        self._path = journal_dir / _BEAT
        journal_dir.mkdir(parents=True, exist_ok=True)
        self._path.touch()

    def beat(self) -> None:
        """Say that the lease is held."""
        os.utime(self._path)

    def end(self) -> None:
        """Say that it is held no more."""
        with suppress(FileNotFoundError):
            self._path.unlink()
