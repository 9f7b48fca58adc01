"""Who may be asked now, and when to look again: politeness, decided without I/O.

Guarantees, asserted after each action and tested by a state machine:
- at most `slots` requests are in flight to one queue;
- a request starts at least the queue's delay after the end of the one before, robots.txt requests
  included; with several slots, starts too are at least the delay apart;
- no URL is given out whose robots verdict is unknown;
- queues by host that share an address have a gate in common (`address_gates.py`), and a request
  needs both to be free;
- an empty queue keeps its next fetch time;
- every item that was taken in is given out once, or dropped under a named reason.

A decision costs microseconds with 100,000 queues (`ready_line.py`). `now` is an argument, in
epoch milliseconds, and must not run backwards.
Source: Nutch `FetchItemQueues`, `FetcherThread`; httpcore (decide, then act); BUbiNG.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from filbert.rules.address_gates import AddressGates
from filbert.rules.fetch_actions import Action, AskRobots, Done, Dropped, Fetch, Wait
from filbert.rules.host_queue import (
    VARIABLE_DELAY,
    DropReason,
    FetchItemQueue,
    Outcome,
    PolitenessPolicy,
    Queued,
    QueueState,
)
from filbert.rules.ready_line import ReadyLine
from filbert.rules.robots_book import OriginState, RobotsBook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from filbert.model.hosts import HostState
    from filbert.model.records import FetchItem
    from filbert.rules.host_queue import RobotsErrand

__all__ = ["HostQueues"]

_SWEEP_EVERY = 20_000  # queues made before those that say nothing any more are let go


class HostQueues:
    """All queues of a part (Nutch: `FetchItemQueues`).

    Args:
        policy: The settings that decide.
        remembered: What is known of a queue from earlier (hostdb, journal), by its key.
        not_before: Added to what is remembered: no queue remembered is asked before this time
            plus its delay (after an unclean stop); 0: the memory is exact.
    """

    def __init__(
        self,
        policy: PolitenessPolicy,
        *,
        remembered: Callable[[str], HostState | None] = lambda _: None,
        not_before: int = 0,
    ) -> None:
        self.policy = policy
        self.robots = RobotsBook(policy)
        self.in_flight = 0
        self.waiting = 0  # items taken in and neither given out nor dropped
        self.dropped_by_reason: Counter[str] = Counter()
        self._remembered = remembered
        self._not_before = not_before
        self._queues: dict[str, FetchItemQueue] = {}
        self._line = ReadyLine()
        self._gates = AddressGates(policy, self._line, remembered, not_before)
        self._dropped: list[Dropped] = []
        self._blocked: dict[str, DropReason] = {}
        self._closed: DropReason | None = None
        self._is_fed = False
        self._changed: set[str] = set()

    # ------------------------------------------------------------------ questions

    def __len__(self) -> int:
        """Return how many queues there are."""
        return len(self._queues)

    def room(self) -> int:
        """Return how many more items may be taken in."""
        return max(0, self.policy.total_limit - self.waiting)

    def has_room(self, key: str) -> bool:
        """Say whether the queue of `key` may take one more item."""
        queue = self._queues.get(key)
        return queue is None or len(queue) < self.policy.queue_limit

    def blocked(self, key: str) -> DropReason | None:
        """Return why items of `key` are not taken in any more; None: they are."""
        return self._closed or self._blocked.get(key)

    def queue(self, key: str) -> FetchItemQueue | None:
        """Return the queue of `key`, for displays; None if there is none."""
        return self._queues.get(key)

    def queues(self) -> Iterable[FetchItemQueue]:
        """Return all queues, for displays."""
        return self._queues.values()

    def take_changed(self) -> list[HostState]:
        """Return what is to be remembered of the queues that changed since the last call."""
        changed, self._changed = self._changed, set()
        states = [self._queues[key].remember() for key in sorted(changed) if key in self._queues]
        return [*states, *self._gates.take_changed()]

    @property
    def has_dropped(self) -> bool:
        """Whether items were dropped since the last `take_dropped`."""
        return bool(self._dropped)

    def take_dropped(self) -> list[Dropped]:
        """Return the items dropped since the last call."""
        dropped, self._dropped = self._dropped, []
        return dropped

    # ------------------------------------------------------------------ what happened

    def offer(
        self, item: FetchItem, key: str, now: int, *, origin: str = "", address: str = ""
    ) -> DropReason | None:
        """Take an item into the queue of `key`; return why not, if it is not taken.

        A redirect followed at once (`item.hop` above 0) goes to the front of its queue. The bounds
        are the caller's to keep: ask `room` and `has_room` before.

        Args:
            item: The item.
            key: Its queue.
            now: The time.
            origin: Whose robots.txt decides on it; empty: none does.
            address: The address whose gate it must pass; empty: there is none.
        """
        if (reason := self.blocked(key)) is not None:
            self._drop(item, reason)
            return reason
        if key not in self._queues and len(self._queues) % _SWEEP_EVERY == _SWEEP_EVERY - 1:
            self._sweep(now)
        queue = self._queue(key, address)
        queue.take_variable_delay(item.datum.metadata.get(VARIABLE_DELAY, ""))
        queue.items.insert(0 if item.hop else len(queue.items), Queued(item, origin))
        self.waiting += 1
        self._schedule(queue, now)
        return self._blocked.get(key)

    def fed(self) -> None:
        """Note that the feeder has ended: no item comes any more but redirects."""
        self._is_fed = True

    def next_action(self, now: int) -> Action:
        """Return what to do now."""
        if self.policy.deadline is not None and now >= self.policy.deadline:
            self.drop_all(DropReason.TIME_LIMIT)
        self._ask_deferred_again(now)
        while (queue := self._line.pop(now)) is not None:
            if not self._gates.admits(queue, now):
                continue
            if (action := self._start(queue, now)) is not None:
                return action
            self._gates.passed_by(queue)
        self._leave_long_deferrals(now)
        if self.waiting == 0 and self.in_flight == 0 and (self._is_fed or self._closed):
            return Done()
        times = (self._line.next_time(), self.robots.next_time())
        return Wait(min((time for time in times if time is not None), default=None))

    def finished(
        self, key: str, now: int, outcome: Outcome, *, retry_after_ms: int | None = None
    ) -> None:
        """Free a slot.

        Args:
            key: The queue.
            now: The time: the end of the request.
            outcome: What the slot was used for.
            retry_after_ms: What the server asked for by Retry-After, from now; more than the
                policy's longest is cut to that.
        """
        queue = self._queues[key]
        assert queue.in_flight > 0, f"no request of {key} is in flight"
        queue.in_flight -= 1
        self.in_flight -= 1
        self._gates.ended(queue, now, asked=outcome is not Outcome.NOT_ASKED)
        if outcome is not Outcome.NOT_ASKED:
            queue.last_end = now
            queue.next_time = max(queue.next_time, now + queue.effective_delay())
            self._changed.add(key)
        if outcome is Outcome.ANSWERED:
            queue.failures = 0
        if outcome is Outcome.FAILED:
            self._note_failure(queue, now)
        wait = min(retry_after_ms or 0, self.policy.max_retry_after_ms)
        if wait and now + wait > queue.backoff_until:
            queue.backoff_until = now + wait
            queue.backoff_reason = DropReason.RETRY_AFTER
        self._schedule(queue, now)

    def robots_known(
        self, origin: str, now: int, *, until: int, crawl_delay_ms: int | None = None
    ) -> None:
        """Note that the robots verdicts of an origin are known, until they are too old.

        Args:
            origin: Whose.
            now: The time.
            until: When robots.txt must be asked for again.
            crawl_delay_ms: The Crawl-delay that it asks for; it never shortens the delay.
        """
        key = self.robots.known(origin, until=until)
        queue = self._queue(key)
        floor = self.policy.crawl_delay_floor_ms
        if crawl_delay_ms and not self.policy.is_too_long(crawl_delay_ms):
            queue.take_crawl_delay(max(crawl_delay_ms, floor))
            self._changed.add(key)
        queue.items[:0] = queue.parked.pop(origin, ())
        self._schedule(queue, now)

    def robots_deferred(self, origin: str, now: int) -> bool:
        """Note that robots.txt is not to be had now; return whether it is asked for again.

        If not, the items of the origin are dropped.
        """
        if self.robots.deferred(origin, now) is None:
            self._give_up(origin, DropReason.ROBOTS_UNAVAILABLE)
            return False
        return True

    def robots_redirected(
        self, errand: RobotsErrand, key: str, now: int, *, address: str = ""
    ) -> None:
        """Note that a robots.txt lies elsewhere: it waits its turn in the target's queue."""
        if self.blocked(key) is not None:
            self.robots_deferred(errand.origin, now)
            return
        queue = self._queue(key, address)
        queue.errands.append(errand)
        self._schedule(queue, now)

    def drop_all(self, reason: DropReason) -> None:
        """Drop every item that waits, and take in none any more."""
        if self._closed is None:
            self._closed = reason
        for queue in list(self._queues.values()):
            self._purge(queue, reason)

    # ------------------------------------------------------------------ inside

    def _queue(self, key: str, address: str = "") -> FetchItemQueue:
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = FetchItemQueue(key, self.policy.delay_ms)
            if (known := self._remembered(key)) is not None:
                longest = self.policy.max_retry_after_ms
                queue.recall(known, not_before=self._not_before, longest_wait=longest)
        if address and queue.gate is None:
            queue.gate = self._gates.gate(address)
        return queue

    def _ask_deferred_again(self, now: int) -> None:
        for errand in self.robots.due(now):
            queue = self._queue(self.robots.key_of(errand.origin))
            if errand.origin in queue.parked:
                queue.errands.append(self.robots.asked(errand.origin, queue.key))
                self._schedule(queue, now)

    def _leave_long_deferrals(self, now: int) -> None:
        """Do not hold up a fetch for deferred hosts alone."""
        until = self.robots.next_time()
        busy = self.in_flight or not self._is_fed or self._line.next_time() is not None
        if until is not None and not busy and until - now > self.policy.defer_max_idle_ms:
            for origin in self.robots.take_deferred():
                self._give_up(origin, DropReason.ROBOTS_UNAVAILABLE)

    def _start(self, queue: FetchItemQueue, now: int) -> Action | None:
        """Give out what a ready queue has first; None if nothing of it may start."""
        assert queue.in_flight < queue.slots(self.policy), f"too many in flight: {queue.key}"
        assert now >= queue.ready_at, f"{queue.key} asked before its time"
        action: Action | None = None
        if queue.errands:
            action = AskRobots(queue.errands.pop(0), queue.key)
        while action is None and queue.items:
            action = self._consider(queue, queue.items.pop(0), now)
        if action is None:
            return None
        queue.in_flight += 1
        self.in_flight += 1
        self._gates.started(queue, now)
        if queue.slots(self.policy) > 1:
            queue.next_time = max(queue.next_time, now + queue.effective_delay())
        self._schedule(queue, now)
        return action

    def _consider(self, queue: FetchItemQueue, queued: Queued, now: int) -> Action | None:
        """Give out an item, or what must come first; None: it was parked or dropped."""
        item, origin = queued
        state = self.robots.state(origin, now) if origin else OriginState.KNOWN
        if state is OriginState.KNOWN:
            self.waiting -= 1
            return Fetch(item, queue.key)
        if state is OriginState.GIVEN_UP:
            self.waiting -= 1
            self._drop(item, DropReason.ROBOTS_UNAVAILABLE)
            return None
        queue.parked.setdefault(origin, []).append(queued)
        if state is OriginState.UNKNOWN:
            return AskRobots(self.robots.asked(origin, queue.key), queue.key)
        return None

    def _schedule(self, queue: FetchItemQueue, now: int) -> None:
        """Put a queue where it belongs: in line, into the heap, or nowhere."""
        if queue.at_gate:
            return
        if queue.in_flight >= queue.slots(self.policy) or not queue.has_work:
            self._leave(queue)
            return
        at, policy = queue.ready_at, self.policy
        if at <= now:
            if queue.state is not QueueState.READY:
                self._line.enter(queue)
        elif policy.deadline is not None and at >= policy.deadline:
            self._block(queue, DropReason.TIME_LIMIT)
        elif policy.max_wait_ms is not None and at - now > policy.max_wait_ms:
            self._block(queue, queue.wait_reason)
        else:
            self._line.wait(queue, at)

    def _leave(self, queue: FetchItemQueue) -> None:
        self._line.leave(queue)
        self._gates.passed_by(queue)

    def _note_failure(self, queue: FetchItemQueue, now: int) -> None:
        if now - queue.last_failure > self.policy.exceptions_clear_ms:
            queue.failures = 0
        queue.failures += 1
        queue.last_failure = now
        if 0 <= self.policy.max_exceptions <= queue.failures:
            self._block(queue, DropReason.EXCEPTIONS)
            return
        until = now + queue.effective_delay() + self.policy.backoff_ms(queue.failures)
        if until > queue.backoff_until:
            queue.backoff_until, queue.backoff_reason = until, DropReason.EXCEPTIONS

    def _block(self, queue: FetchItemQueue, reason: DropReason) -> None:
        self._blocked[queue.key] = reason
        self._purge(queue, reason)

    def _purge(self, queue: FetchItemQueue, reason: DropReason) -> None:
        """Drop all that a queue holds; errands of other queues' origins are given up."""
        queued, errands = queue.drain()
        self._leave(queue)
        self.waiting -= len(queued)
        for item, _ in queued:
            self._drop(item, reason)
        for errand in errands:
            self._give_up(errand.origin, reason)

    def _give_up(self, origin: str, reason: DropReason) -> None:
        queue = self._queues.get(self.robots.give_up(origin))
        for item, _ in queue.parked.pop(origin, ()) if queue else ():
            self.waiting -= 1
            self._drop(item, reason)

    def _drop(self, item: FetchItem, reason: DropReason) -> None:
        self._dropped.append(Dropped(item, reason))
        self.dropped_by_reason[reason.value] += 1

    def _sweep(self, now: int) -> None:
        """Let go of queues that nobody waits for and whose time is over: they say nothing more."""
        for key, queue in list(self._queues.items()):
            busy = queue.in_flight or len(queue) or queue.has_work
            says = queue.crawl_delay_ms or queue.is_variable or queue.failures
            if not (busy or says or key in self._changed or queue.ready_at > now):
                del self._queues[key]
        self._gates.sweep(self._queues.values(), now)
