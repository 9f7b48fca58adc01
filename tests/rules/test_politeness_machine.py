"""The promises of politeness under any order of events: a state machine of random worlds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from filbert.rules.fetch_actions import AskRobots, Done, Fetch, Wait
from filbert.rules.host_queue import Outcome, PolitenessPolicy
from filbert.rules.politeness import HostQueues
from filbert.rules.robots_book import origin_of
from filbert.settings import Settings
from filbert.testing.records import fetch_item

if TYPE_CHECKING:
    from collections.abc import Mapping

POLICY = PolitenessPolicy.from_settings(Settings(), started=0)
DAY = 86_400_000


class Politeness(RuleBasedStateMachine):
    """Any order of offers, ends, failures and robots answers keeps the promises."""

    slots = 2
    addresses: Mapping[str, str] = {}

    def __init__(self) -> None:
        super().__init__()
        self.policy = replace(
            POLICY, slots=self.slots, delay_ms=100, address_delay_ms=70, crawl_delay_floor_ms=100,
            max_exceptions=3, exceptions_delay_ms=50, defer_retries=2, defer_delay_ms=500,
            max_wait_ms=5_000, deadline=60_000,
        )  # fmt: skip
        self.queues = HostQueues(self.policy)
        self.now = 0
        self.offered = 0
        self.given = 0
        self.flying: list[Fetch | AskRobots] = []
        self.known: set[str] = set()
        self.last_end: dict[str, int] = {}
        self.last_start: dict[str, tuple[int, Fetch | AskRobots]] = {}
        self.address_end: dict[str, int] = {}
        self.done = False

    @rule(host=st.sampled_from("abc"), scheme=st.sampled_from(["http", "https", ""]))
    def offer(self, host: str, scheme: str) -> None:
        """The feeder brings an item."""
        url = f"{scheme or 'http'}://{host}/{self.offered}"
        self.queues.offer(
            fetch_item(url),
            host,
            self.now,
            origin=origin_of(url) if scheme else "",
            address=self.addresses.get(host, ""),
        )
        self.offered += 1

    @rule(ms=st.integers(0, 400))
    def wait(self, ms: int) -> None:
        """Time passes."""
        self.now += ms

    @rule()
    def act(self) -> None:
        """The fetcher asks what to do."""
        action = self.queues.next_action(self.now)
        if isinstance(action, Fetch | AskRobots):
            self._check_start(action)
            self.flying.append(action)
        if isinstance(action, Wait) and action.until is not None:
            assert action.until > self.now
        if isinstance(action, Fetch):
            self.given += 1

    def _check_start(self, action: Fetch | AskRobots) -> None:
        key = action.key
        assert self.now < 60_000
        assert sum(one.key == key for one in self.flying) < self.policy.slots
        if key in self.last_end:
            assert self.now >= self.last_end[key] + self.policy.delay_ms
        if key in self.last_start:
            assert self.now >= self.last_start[key][0] + self.policy.delay_ms
        self.last_start[key] = self.now, action
        self._check_address(key)
        if isinstance(action, AskRobots):
            assert action.errand.origin not in self.known

    def _check_address(self, key: str) -> None:
        address = self.addresses.get(key)
        if address is not None:
            flying = [one for one in self.flying if self.addresses.get(one.key) == address]
            assert len(flying) < self.policy.slots
            assert self.now >= self.address_end.get(address, -70) + 70

    @precondition(lambda self: self.flying)
    @rule(
        index=st.integers(0, 9),
        outcome=st.sampled_from(list(Outcome)),
        retry=st.one_of(st.none(), st.integers(0, 6_000)),
        answer=st.sampled_from(["known", "slow", "deferred", "redirected"]),
    )
    def end(self, index: int, outcome: Outcome, retry: int | None, answer: str) -> None:
        """A request ends."""
        action = self.flying.pop(index % len(self.flying))
        if isinstance(action, Fetch):
            self.queues.finished(action.key, self.now, outcome, retry_after_ms=retry)
        else:
            outcome = Outcome.ASKED
            self.queues.finished(action.key, self.now, outcome)
            self._answer(action, answer)
        if outcome is not Outcome.NOT_ASKED:
            self.last_end[action.key] = self.now
            self.address_end[self.addresses.get(action.key, "")] = self.now
        elif self.last_start[action.key][1] is action:
            del self.last_start[action.key]  # no request was made

    def _answer(self, action: AskRobots, answer: str) -> None:
        errand = action.errand
        if answer == "redirected" and errand.hop < 2:
            further = errand._replace(hop=errand.hop + 1)
            address = self.addresses.get("b", "")
            self.queues.robots_redirected(further, "b", self.now, address=address)
        elif answer == "deferred":
            self.queues.robots_deferred(errand.origin, self.now)
        else:
            delay = 300 if answer == "slow" else None
            self.queues.robots_known(errand.origin, self.now, until=DAY, crawl_delay_ms=delay)
            self.known.add(errand.origin)

    @invariant()
    def every_item_is_somewhere(self) -> None:
        """Each item is given out, dropped by name, or still waits."""
        dropped = sum(self.queues.dropped_by_reason.values())
        assert self.queues.waiting == self.offered - self.given - dropped
        held = sum(map(len, self.queues.queues()))
        assert held == self.queues.waiting

    @invariant()
    def slots_are_counted(self) -> None:
        """What is in flight is what was given out and has not ended."""
        assert self.queues.in_flight == len(self.flying)

    def teardown(self) -> None:
        """However it went, the part comes to an end."""
        self.queues.fed()
        for _ in range(10_000):
            while self.flying:
                self.end_one()
            action = self.queues.next_action(self.now)
            if isinstance(action, Done):
                return
            if isinstance(action, Wait):
                assert action.until is not None, "waits for nothing"
                self.now = action.until
            else:
                self.flying.append(action)
        raise AssertionError("the part does not end")

    def end_one(self) -> None:
        """End one request in the plainest way."""
        action = self.flying.pop()
        self.queues.finished(action.key, self.now, Outcome.ASKED)
        if isinstance(action, AskRobots):
            self.queues.robots_known(action.errand.origin, self.now, until=DAY)


class PolitenessByAddress(Politeness):
    """The same, with two hosts that share an address, whose gate every request must pass."""

    addresses: Mapping[str, str] = {"a": "1", "b": "1", "c": "2"}


class PolitenessByAddressAlone(PolitenessByAddress):
    """The same, one request at a time."""

    slots = 1


TestPoliteness = Politeness.TestCase
TestPolitenessByAddress = PolitenessByAddress.TestCase
TestPolitenessByAddressAlone = PolitenessByAddressAlone.TestCase
for _each in (TestPoliteness, TestPolitenessByAddress, TestPolitenessByAddressAlone):
    _each.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
del _each
