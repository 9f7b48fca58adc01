"""Queues by host that share an address: one gate each, which a request must pass as well.

Guarantee: at most as many requests as a queue has slots are in flight to one address, and each
starts at least the address delay after the end of the one before; queues pass in the order in which
they came to the gate, and none is forgotten there: who leaves lets the next one through. A decision
looks at one queue, however many hosts an address has.
Source: BUbiNG's workbench, whose entries are addresses with the hosts behind them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from filbert.model.hosts import HostState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from filbert.rules.host_queue import FetchItemQueue, PolitenessPolicy
    from filbert.rules.ready_line import ReadyLine

__all__ = ["AddressGate", "AddressGates"]


class AddressGate:
    """The gate of one address.

    Attributes:
        key: The address.
        in_flight: Requests on their way to it.
        next_time: No request starts before, epoch ms.
        last_end: When the last one ended; None: there was none.
        head: The queue that is next, and stands in the line or waits for its time there.
    """

    __slots__ = ("head", "in_flight", "key", "last_end", "line", "next_time")

    def __init__(self, key: str) -> None:
        self.key = key
        self.in_flight = 0
        self.next_time = 0
        self.last_end: int | None = None
        self.head: FetchItemQueue | None = None
        self.line: deque[FetchItemQueue] = deque()


class AddressGates:
    """The gates of a part.

    Args:
        policy: Slots, and the address delay.
        line: Where queues wait for their time.
        remembered: What is known of an address from earlier.
        not_before: Added to what is remembered, as in `HostQueues`.
    """

    def __init__(
        self,
        policy: PolitenessPolicy,
        line: ReadyLine,
        remembered: Callable[[str], HostState | None],
        not_before: int,
    ) -> None:
        self._policy = policy
        self._line = line
        self._remembered = remembered
        self._not_before = not_before
        self._gates: dict[str, AddressGate] = {}
        self._changed: set[str] = set()

    def gate(self, address: str) -> AddressGate:
        """Return the gate of an address."""
        gate = self._gates.get(address)
        if gate is None:
            gate = self._gates[address] = AddressGate(address)
            known = self._remembered(address)
            if known is not None and known.last_request_end is not None:
                gate.last_end = known.last_request_end
                since = max(known.last_request_end, self._not_before)
                gate.next_time = since + self._policy.address_delay_ms
        return gate

    def admits(self, queue: FetchItemQueue, now: int) -> bool:
        """Say whether a queue taken out of the line may start; if not, it waits at its gate."""
        gate = queue.gate
        if gate is None:
            return True
        if gate.head is not None and gate.head is not queue:
            self._park(queue, gate)
            return False
        if gate.in_flight >= self._policy.slots:
            gate.head = None
            self._park(queue, gate)
            return False
        if now < gate.next_time:
            gate.head = queue
            self._line.wait(queue, gate.next_time)
            return False
        gate.head = None
        return True

    def started(self, queue: FetchItemQueue, now: int) -> None:
        """Note that a request of a queue started; if there is room for another, the next comes."""
        gate = queue.gate
        if gate is not None:
            gate.in_flight += 1
            assert gate.in_flight <= self._policy.slots, f"too many in flight: {gate.key}"
            assert now >= gate.next_time, f"{gate.key} asked before its time"
            if self._policy.slots > 1:
                gate.next_time = now + self._policy.address_delay_ms
            self._let_next(gate)

    def ended(self, queue: FetchItemQueue, now: int, *, asked: bool) -> None:
        """Note that a request ended; `asked`: it had gone out."""
        gate = queue.gate
        if gate is None:
            return
        gate.in_flight -= 1
        if asked:
            gate.last_end = now
            gate.next_time = max(gate.next_time, now + self._policy.address_delay_ms)
            self._changed.add(gate.key)
        self._let_next(gate)

    def passed_by(self, queue: FetchItemQueue) -> None:
        """Note that a queue starts nothing now: the next one comes."""
        gate = queue.gate
        if gate is None:
            return
        if gate.head is queue:
            gate.head = None
        self._let_next(gate)

    def take_changed(self) -> list[HostState]:
        """Return what is to be remembered of the addresses that changed since the last call."""
        changed, self._changed = self._changed, set()
        delay = self._policy.address_delay_ms
        return [
            HostState(host=key, last_request_end=self._gates[key].last_end, delay_ms=delay)
            for key in sorted(changed)
        ]

    def sweep(self, queues: Iterable[FetchItemQueue], now: int) -> None:
        """Let go of the gates that none of these queues has, and whose time is over."""
        used = {queue.gate.key for queue in queues if queue.gate is not None} | self._changed
        self._gates = {
            key: gate for key, gate in self._gates.items() if key in used or gate.next_time > now
        }

    def _park(self, queue: FetchItemQueue, gate: AddressGate) -> None:
        queue.at_gate = True
        gate.line.append(queue)
        self._let_next(gate)

    def _let_next(self, gate: AddressGate) -> None:
        """Put the first queue with something to start in line, for the time of the gate."""
        while gate.head is None and gate.in_flight < self._policy.slots and gate.line:
            queue = gate.line.popleft()
            queue.at_gate = False
            if queue.has_work and queue.in_flight < queue.slots(self._policy):
                if queue.ready_at <= gate.next_time:
                    gate.head = queue
                self._line.wait(queue, max(gate.next_time, queue.ready_at))
