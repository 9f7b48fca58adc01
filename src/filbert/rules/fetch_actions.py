"""What `HostQueues` tells the fetcher to do: the vocabulary between deciding and acting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filbert.model.records import FetchItem
    from filbert.rules.host_queue import DropReason, RobotsErrand

__all__ = ["Action", "AskRobots", "Done", "Dropped", "Fetch", "Wait"]


@dataclass(frozen=True, slots=True)
class Fetch:
    """Fetch an item; a slot of queue `key` is taken until `finished`."""

    item: FetchItem
    key: str


@dataclass(frozen=True, slots=True)
class AskRobots:
    """Ask for a robots.txt; a slot of queue `key` is taken until `finished`."""

    errand: RobotsErrand
    key: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing may start; look again at `until`, or (None) when something has changed."""

    until: int | None


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing is left: the feeder has ended, no item waits, no request is in flight."""


Action = Fetch | AskRobots | Wait | Done


@dataclass(frozen=True, slots=True)
class Dropped:
    """An item left to a later round, and why."""

    item: FetchItem
    reason: DropReason
