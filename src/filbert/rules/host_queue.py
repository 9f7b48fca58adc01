"""One queue of one host (or domain, or address): its items, its slots, its times.

Guarantee: plain state and arithmetic; who may start is decided in `politeness.py`. Times are epoch
milliseconds. A queue costs a few hundred bytes, so that a part can have 100,000 of them.
Source: Nutch `FetchItemQueue`, `FetchItemQueues`; BUbiNG's workbench.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Self

from filbert.model.hosts import HostState

if TYPE_CHECKING:
    from filbert.model.records import FetchItem
    from filbert.rules.address_gates import AddressGate
    from filbert.settings import Settings

__all__ = [
    "VARIABLE_DELAY",
    "DropReason",
    "FetchItemQueue",
    "Outcome",
    "PolitenessPolicy",
    "QueueState",
    "Queued",
    "RobotsErrand",
]

VARIABLE_DELAY = "_variableFetchDelay_"  # metadata of a seed: the delay of its queue, in ms
_MOST_DOUBLINGS = 31


class Outcome(StrEnum):
    """What a slot was used for, as far as politeness is concerned."""

    ASKED = "asked"  # a request was made; it says nothing of the host's health
    ANSWERED = "answered"  # a request was made, and the host is well: failures are forgotten
    FAILED = "failed"  # a request was made, and it counts against the queue
    NOT_ASKED = "not_asked"  # no request left: robots.txt forbade it, or there was nothing to ask


class DropReason(StrEnum):
    """Why a URL of the fetch list was left to a later round."""

    TIME_LIMIT = "time_limit"
    EXCEPTIONS = "exceptions"
    RETRY_AFTER = "retry_after"
    CRAWL_DELAY = "crawl_delay"
    ROBOTS_UNAVAILABLE = "robots_unavailable"
    THROUGHPUT = "throughput"
    FILTERED = "filtered"
    NO_AGENT_NAME = "no_agent_name"


class QueueState(StrEnum):
    """Where a queue stands: nothing to start, waiting for its time, or in line."""

    IDLE = "idle"
    WAITING = "waiting"
    READY = "ready"


class Queued(NamedTuple):
    """An item and the origin whose robots.txt decides on it; empty: none does."""

    item: FetchItem
    origin: str


class RobotsErrand(NamedTuple):
    """A robots.txt to ask for: whose it is, where it may be found, redirects so far."""

    origin: str
    url: str
    hop: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PolitenessPolicy:
    """The settings that decide, in milliseconds; their defaults are those of the settings.

    Attributes:
        slots: Requests in flight to one queue at most.
        delay_ms: From the end of a request to the start of the next.
        address_delay_ms: The same for an address that several hosts share.
        crawl_delay_floor_ms: Least delay that a Crawl-delay can ask for.
        crawl_delay_max_ms: Longest taken without a word; None: no limit.
        skip_long: Leave hosts above the maximum alone, as Nutch does.
        max_retry_after_ms: Longest Retry-After that is kept to.
        max_wait_ms: A queue that must wait longer is left to a later round; None: no limit.
        defer_max_idle_ms: How long a deferral is waited for when nothing else is left.
        deadline: No request starts at or after it; None: no time limit.
        queue_limit: Items held per queue at most; all together `total_limit`.
    """

    slots: int
    delay_ms: int
    address_delay_ms: int
    crawl_delay_floor_ms: int
    crawl_delay_max_ms: int | None
    skip_long: bool
    max_exceptions: int
    exceptions_delay_ms: int
    exceptions_clear_ms: int
    max_retry_after_ms: int
    max_wait_ms: int | None
    deadline: int | None
    defer_delay_ms: int
    defer_retries: int
    defer_max_idle_ms: int
    queue_limit: int
    total_limit: int

    @classmethod
    def from_settings(cls, settings: Settings, *, started: int) -> Self:
        """Return the policy of a crawl's settings for a fetch that started at `started`."""
        chosen, robots = settings.fetcher, settings.robots
        single = chosen.threads_per_queue == 1
        delay = _ms(chosen.server_delay_s if single else chosen.min_delay_s)
        floor, longest = chosen.min_crawl_delay_s, chosen.max_crawl_delay_s
        failing, limit = chosen.exceptions_delay_s, chosen.timelimit_mins
        waiting, by_address = chosen.max_wait_s, chosen.address_delay_s
        return cls(
            slots=chosen.threads_per_queue,
            delay_ms=delay,
            address_delay_ms=delay if by_address is None else _ms(by_address),
            crawl_delay_floor_ms=_ms(chosen.server_delay_s if floor is None else floor),
            crawl_delay_max_ms=None if longest < 0 else _ms(longest),
            skip_long=chosen.max_crawl_delay_policy == "skip",
            max_exceptions=chosen.max_exceptions_per_queue,
            exceptions_delay_ms=_ms(chosen.server_delay_s if failing is None else failing),
            exceptions_clear_ms=_ms(chosen.exceptions_clear_after_s),
            max_retry_after_ms=_ms(chosen.max_retry_after_s),
            max_wait_ms=None if waiting is None else _ms(waiting),
            deadline=None if limit < 0 else started + limit * 60_000,
            defer_delay_ms=robots.defer_delay_ms,
            defer_retries=robots.defer_retries,
            defer_max_idle_ms=robots.defer_max_idle_ms,
            queue_limit=max(chosen.queue_depth_multiplier, 2 * chosen.threads_per_queue),
            total_limit=chosen.queue_depth_multiplier * chosen.most_threads(),
        )

    def is_too_long(self, crawl_delay_ms: int | None) -> bool:
        """Say whether a host is left alone for the Crawl-delay that it asks for."""
        if crawl_delay_ms is None or self.crawl_delay_max_ms is None or not self.skip_long:
            return False
        return crawl_delay_ms > self.crawl_delay_max_ms

    def backoff_ms(self, failures: int) -> int:
        """Return the time added after the n-th failure in a row."""
        return self.exceptions_delay_ms << min(failures - 1, _MOST_DOUBLINGS)


class FetchItemQueue:
    """The queue of one key.

    Args:
        key: Host, domain or address.
        delay_ms: The delay of the settings.
    """

    __slots__ = (
        "at_gate",
        "backoff_reason",
        "backoff_until",
        "crawl_delay_ms",
        "delay_ms",
        "errands",
        "failures",
        "gate",
        "in_flight",
        "is_variable",
        "items",
        "key",
        "last_end",
        "last_failure",
        "next_time",
        "parked",
        "state",
        "ticket",
    )

    def __init__(self, key: str, delay_ms: int) -> None:
        self.key = key
        self.delay_ms = delay_ms
        self.crawl_delay_ms: int | None = None
        self.items: list[Queued] = []
        self.errands: list[RobotsErrand] = []
        self.parked: dict[str, list[Queued]] = {}
        self.in_flight = 0
        self.next_time = 0
        self.last_end: int | None = None
        self.backoff_until = 0
        self.backoff_reason = DropReason.EXCEPTIONS
        self.failures = 0
        self.last_failure = 0
        self.is_variable = False
        self.gate: AddressGate | None = None
        self.at_gate = False
        self.state = QueueState.IDLE
        self.ticket = 0

    def __len__(self) -> int:
        """Return how many items it holds, those that wait for a robots.txt included."""
        return len(self.items) + sum(map(len, self.parked.values()))

    @property
    def has_work(self) -> bool:
        """Whether there is something to start."""
        return bool(self.errands or self.items)

    @property
    def ready_at(self) -> int:
        """The first instant at which a request may start."""
        return max(self.next_time, self.backoff_until)

    @property
    def wait_reason(self) -> DropReason:
        """What it waits for, should it wait too long."""
        if self.backoff_until >= self.next_time:
            return self.backoff_reason
        return DropReason.CRAWL_DELAY

    def recall(self, known: HostState, *, not_before: int, longest_wait: int) -> None:
        """Take over what is remembered of the queue.

        Args:
            known: It.
            not_before: No request before this time and the delay.
            longest_wait: From the last request on, no back-off is longer, in ms.
        """
        self.last_end = known.last_request_end
        if known.last_request_end is not None:
            delay = max(known.delay_ms or 0, self.delay_ms)
            self.next_time = max(known.last_request_end, not_before) + delay
        self.backoff_until = known.backoff_until or 0
        if known.last_request_end is not None:
            self.backoff_until = min(self.backoff_until, known.last_request_end + longest_wait)
        self.backoff_reason = DropReason.RETRY_AFTER

    def remember(self) -> HostState:
        """Return what is to be remembered of the queue."""
        return HostState(
            host=self.key,
            last_request_end=self.last_end,
            delay_ms=self.effective_delay(),
            backoff_until=self.backoff_until or None,
            failures=self.failures,
        )

    def take_variable_delay(self, asked: str) -> None:
        """Take the delay that a seed's metadata asks for: once per queue, as Nutch does."""
        if asked.isascii() and asked.isdigit() and not self.is_variable:
            self.is_variable = True
            self.delay_ms = int(asked)

    def take_crawl_delay(self, delay_ms: int) -> None:
        """Take a Crawl-delay of one of its hosts; of several the longest holds."""
        self.crawl_delay_ms = max(self.crawl_delay_ms or 0, delay_ms)
        if self.last_end is not None:
            self.next_time = max(self.next_time, self.last_end + self.crawl_delay_ms)

    def drain(self) -> tuple[list[Queued], list[RobotsErrand]]:
        """Give away all that it holds."""
        queued = [*self.items, *(one for many in self.parked.values() for one in many)]
        errands = self.errands
        self.items, self.parked, self.errands = [], {}, []
        return queued, errands

    def effective_delay(self) -> int:
        """Return the delay in force: the settings' or a seed's, or a longer one of robots.txt."""
        return max(self.delay_ms, self.crawl_delay_ms or 0)

    def slots(self, policy: PolitenessPolicy) -> int:
        """Return how many requests may be in flight: one, where robots.txt asks for a delay."""
        return 1 if self.crawl_delay_ms else policy.slots


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
