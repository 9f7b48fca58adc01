"""Hosts that share an address: a request waits for both, in turn."""

from __future__ import annotations

from dataclasses import replace

from filbert.rules.fetch_actions import Action, Done, Fetch, Wait
from filbert.rules.host_queue import DropReason, Outcome, PolitenessPolicy
from filbert.rules.politeness import HostQueues
from filbert.settings import Settings
from filbert.testing.records import fetch_item

POLICY = PolitenessPolicy.from_settings(Settings(), started=0)


def _url(action: Action) -> str:
    assert isinstance(action, Fetch), action
    return action.item.url


def _by_address(*pairs: str, **changes: object) -> HostQueues:
    """Return queues by host with addresses, from `host@address` items of one page each."""
    queues = HostQueues(replace(POLICY, delay_ms=100, address_delay_ms=30, **changes))  # type: ignore[arg-type]
    for number, pair in enumerate(pairs):
        host, address = pair.split("@")
        queues.offer(fetch_item(f"http://{host}/{number}"), host, 0, address=address)
    queues.fed()
    return queues


def test_hosts_of_one_address_are_asked_in_turn() -> None:
    """Each waits for the end of the one before, and the address delay; others do not."""
    queues = _by_address("a@1", "b@1", "c@2", "d@1")
    assert [_url(queues.next_action(0)) for _ in range(2)] == ["http://a/0", "http://c/2"]
    assert queues.next_action(0) == Wait(None)
    queues.finished("a", 10, Outcome.ANSWERED)
    assert queues.next_action(10) == Wait(40)
    assert _url(queues.next_action(40)) == "http://b/1"
    queues.finished("b", 45, Outcome.NOT_ASKED)  # nothing left: the address is not tired
    assert _url(queues.next_action(45)) == "http://d/3"
    queues.finished("d", 50, Outcome.ANSWERED)
    queues.finished("c", 50, Outcome.ANSWERED)
    assert isinstance(queues.next_action(50), Done)


def test_a_host_waits_for_both() -> None:
    """Its own delay is the longer here: the address lets others through meanwhile."""
    queues = _by_address("a@1", "a@1", "b@1")
    assert _url(queues.next_action(0)) == "http://a/0"
    queues.finished("a", 0, Outcome.ANSWERED)
    assert queues.next_action(29) == Wait(30)
    assert _url(queues.next_action(30)) == "http://b/2"
    queues.finished("b", 90, Outcome.ANSWERED)
    assert queues.next_action(100) == Wait(120)
    assert _url(queues.next_action(120)) == "http://a/1"


def test_an_address_remembers_its_last_request() -> None:
    """Over rounds and stops, as a queue does; what changed is given out to be kept."""
    queues = _by_address("a@1")
    assert isinstance(queues.next_action(0), Fetch)
    queues.finished("a", 500, Outcome.ANSWERED)
    states = {state.host: state for state in queues.take_changed()}
    assert (states["1"].last_request_end, states["1"].delay_ms) == (500, 30)
    later = HostQueues(replace(POLICY, delay_ms=0, address_delay_ms=30), remembered=states.get)
    later.offer(fetch_item("http://b/"), "b", 500, address="1")
    assert later.next_action(500) == Wait(530)
    unclean = HostQueues(
        replace(POLICY, delay_ms=0, address_delay_ms=30), remembered=states.get, not_before=900
    )
    unclean.offer(fetch_item("http://b/"), "b", 900, address="1")
    assert unclean.next_action(900) == Wait(930)


def test_who_is_dropped_at_the_gate_lets_the_next_one_through() -> None:
    """A host that is given up while it waits for its address does not keep it."""
    queues = _by_address("a@1", "b@1", "c@1", max_exceptions=1)
    assert isinstance(queues.next_action(0), Fetch)
    queues.finished("a", 0, Outcome.ANSWERED)
    assert queues.next_action(0) == Wait(30)
    queues.drop_all(DropReason.THROUGHPUT)
    assert isinstance(queues.next_action(0), Done)


def test_a_thousand_hosts_of_one_address_cost_no_more_than_one() -> None:
    """Each decision looks at one queue, not at all that wait at the gate."""
    queues = _by_address(*(f"h{number}@1" for number in range(1_000)), total_limit=10**6)
    now, looked = 0, 0
    while not isinstance(action := queues.next_action(now), Done):
        looked += 1
        if isinstance(action, Wait):
            assert action.until is not None
            now = action.until
        elif isinstance(action, Fetch):
            queues.finished(action.key, now, Outcome.ANSWERED)
    assert (now, looked) == (999 * 30, 1_999)
