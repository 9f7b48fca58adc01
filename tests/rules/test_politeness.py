"""Who may be asked now: scenarios with exact instants, and a state machine of the invariants."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from filbert.model.hosts import HostState
from filbert.rules.fetch_actions import AskRobots, Done, Fetch, Wait
from filbert.rules.host_queue import DropReason, Outcome, PolitenessPolicy, RobotsErrand
from filbert.rules.politeness import HostQueues
from filbert.rules.robots_book import origin_of
from filbert.settings import Settings
from filbert.testing.records import fetch_item

if TYPE_CHECKING:
    from collections.abc import Mapping

    from filbert.rules.fetch_actions import Action

DAY = 86_400_000
POLICY = PolitenessPolicy.from_settings(Settings(), started=0)


def _queues(*urls: str, **changes: object) -> HostQueues:
    """Return queues by host, fed with URLs at time 0, that need no robots.txt."""
    queues = HostQueues(replace(POLICY, **changes))  # type: ignore[arg-type]
    _offer(queues, *urls)
    queues.fed()
    return queues


def _offer(queues: HostQueues, *urls: str, now: int = 0, robots: bool = False) -> None:
    for url in urls:
        item = fetch_item(url)
        queues.offer(item, item.host, now, origin=origin_of(url) if robots else "")


def _url(action: Action) -> str:
    assert isinstance(action, Fetch), action
    return action.item.url


def _dropped(queues: HostQueues) -> list[tuple[str, str]]:
    return [(one.item.url, one.reason.value) for one in queues.take_dropped()]


# ------------------------------------------------------------------------------ delays


def test_the_delay_runs_from_the_end_of_a_request() -> None:
    """Nutch D3: the next request starts `delay` after the end of the one before."""
    queues = _queues("http://a/1", "http://a/2")
    assert _url(queues.next_action(0)) == "http://a/1"
    assert queues.next_action(0) == Wait(None)
    queues.finished("a", 700, Outcome.ASKED)
    assert queues.next_action(700) == Wait(5_700)
    assert queues.next_action(5_699) == Wait(5_700)
    assert _url(queues.next_action(5_700)) == "http://a/2"


def test_hosts_do_not_wait_for_each_other() -> None:
    """Each queue has its own time; what is ready is served in turn."""
    queues = _queues("http://a/1", "http://a/2", "http://b/1", "http://c/1")
    got = [_url(queues.next_action(0)) for _ in range(3)]
    assert got == ["http://a/1", "http://b/1", "http://c/1"]


def test_what_was_not_asked_costs_no_delay() -> None:
    """A URL that robots.txt forbids frees its slot at once, and moves no time."""
    queues = _queues("http://a/1", "http://a/2")
    queues.next_action(0)
    queues.finished("a", 0, Outcome.NOT_ASKED)
    assert _url(queues.next_action(0)) == "http://a/2"


def test_an_empty_queue_keeps_its_time() -> None:
    """A URL that comes later still waits for the delay after the last request."""
    queues = HostQueues(POLICY)
    _offer(queues, "http://a/1")
    queues.next_action(0)
    queues.finished("a", 100, Outcome.ASKED)
    _offer(queues, "http://a/2", now=3_000)
    assert queues.next_action(3_000) == Wait(5_100)
    assert _url(queues.next_action(5_100)) == "http://a/2"


def test_several_slots_keep_their_starts_apart() -> None:
    """With k slots k requests are in flight, and two starts are at least the delay apart."""
    queues = _queues("http://a/1", "http://a/2", "http://a/3", slots=2, delay_ms=1_000)
    assert _url(queues.next_action(0)) == "http://a/1"
    assert queues.next_action(0) == Wait(1_000)
    assert _url(queues.next_action(1_000)) == "http://a/2"
    assert queues.next_action(9_000) == Wait(None)
    queues.finished("a", 9_000, Outcome.ASKED)
    assert _url(queues.next_action(10_000)) == "http://a/3"


def test_the_variable_delay_of_a_seed() -> None:
    """`_variableFetchDelay_` of the first item that has it is its queue's delay (Nutch)."""
    queues = HostQueues(POLICY)
    for delay in ("800", "1"):
        item = fetch_item(f"http://a/{delay}", metadata={"_variableFetchDelay_": delay})
        queues.offer(item, "a", 0)
    queues.next_action(0)
    queues.finished("a", 0, Outcome.ASKED)
    assert queues.next_action(0) == Wait(800)


def test_what_is_remembered_holds_in_the_next_round() -> None:
    """The end of the last request and the delay of an earlier round or part still count."""
    memory = {"a": HostState(host="a", last_request_end=1_000, delay_ms=9_000)}
    queues = HostQueues(POLICY, remembered=memory.get)
    _offer(queues, "http://a/1", now=2_000)
    assert queues.next_action(2_000) == Wait(10_000)


def test_after_an_unclean_stop_one_full_delay_passes() -> None:
    """What was in flight at a kill may have ended just now: each host gets a full delay."""
    memory = {"a": HostState(host="a", last_request_end=1_000, delay_ms=5_000)}
    queues = HostQueues(POLICY, remembered=memory.get, not_before=50_000)
    _offer(queues, "http://a/1", now=50_000)
    assert queues.next_action(50_000) == Wait(55_000)


# ------------------------------------------------------------------------------ failures


def test_failures_double_the_wait_and_then_end_the_queue() -> None:
    """Nutch D3.9: the n-th failure adds delay × 2^(n-1); at the limit the rest stays due."""
    queues = _queues(*(f"http://a/{n}" for n in range(5)), max_exceptions=3)
    now, waits = 0, []
    for _ in range(3):
        _url(queues.next_action(now))
        queues.finished("a", now, Outcome.FAILED)
        action = queues.next_action(now)
        if isinstance(action, Wait) and action.until is not None:
            waits.append(action.until - now)
            now = action.until
    assert waits == [10_000, 15_000]
    assert _dropped(queues) == [("http://a/3", "exceptions"), ("http://a/4", "exceptions")]
    assert queues.next_action(now) == Done()
    assert queues.blocked("a") is DropReason.EXCEPTIONS


def test_failures_are_forgotten_after_quiet() -> None:
    """A failure long after the last one is the first again."""
    queues = _queues("http://a/1", "http://a/2", exceptions_clear_ms=60_000)
    queues.next_action(0)
    queues.finished("a", 0, Outcome.FAILED)
    queues.next_action(10_000)
    queues.finished("a", 100_000, Outcome.FAILED)
    queue = queues.queue("a")
    assert queue is not None
    assert queue.failures == 1


def test_a_retry_after_of_years_is_cut() -> None:
    """`fetcher.max_retry_after_s`, a day; what was noted before is cut by it, too."""
    queues = _queues("http://a/1")
    queues.next_action(0)
    queues.finished("a", 1_000, Outcome.FAILED, retry_after_ms=26_000 * DAY)
    (noted,) = queues.take_changed()
    assert noted.backoff_until == 1_000 + DAY
    old = replace(noted, backoff_until=26_000 * DAY)
    later = HostQueues(replace(POLICY, max_wait_ms=None), remembered={"a": old}.get)
    _offer(later, "http://a/9", now=2_000)
    assert later.next_action(2_000) == Wait(1_000 + DAY)


def test_retry_after_is_obeyed() -> None:
    """A 503 with Retry-After: 30 is asked again 30 seconds later at the earliest."""
    queues = _queues("http://a/1", "http://a/2")
    queues.next_action(0)
    queues.finished("a", 1_000, Outcome.FAILED, retry_after_ms=30_000)
    assert queues.next_action(1_000) == Wait(31_000)


@pytest.mark.parametrize("wait", [600_001, DAY])
def test_a_queue_that_must_wait_too_long_is_left_to_a_later_round(wait: int) -> None:
    """One host that asks for an hour does not hold up the fetch; its URLs stay due, by name."""
    queues = _queues("http://a/1", "http://a/2")
    queues.next_action(0)
    queues.finished("a", 0, Outcome.FAILED, retry_after_ms=wait)
    assert _dropped(queues) == [("http://a/2", "retry_after")]
    assert queues.next_action(0) == Done()
    assert queues.take_changed() == [
        HostState(host="a", last_request_end=0, delay_ms=5_000, backoff_until=wait, failures=1)
    ]


# ------------------------------------------------------------------------------ robots.txt


def test_robots_txt_is_asked_first_and_the_delay_follows_it() -> None:
    """A robots.txt request is a request: the page waits a delay after it."""
    queues = HostQueues(POLICY)
    _offer(queues, "http://a/1", "http://a/2", robots=True)
    action = queues.next_action(0)
    assert action == AskRobots(RobotsErrand("http://a", "http://a/robots.txt"), "a")
    assert queues.next_action(0) == Wait(None)
    queues.finished("a", 200, Outcome.ASKED)
    queues.robots_known("http://a", 200, until=DAY)
    assert queues.next_action(200) == Wait(5_200)
    assert _url(queues.next_action(5_200)) == "http://a/1"


def test_crawl_delay_raises_and_never_shortens() -> None:
    """The delay is the longer of ours and the one asked for, from the robots request on."""
    for asked, until in ((1_000, 5_000), (12_000, 12_000), (None, 5_000), (0, 5_000)):
        queues = HostQueues(POLICY)
        _offer(queues, "http://a/1", robots=True)
        queues.next_action(0)
        queues.finished("a", 0, Outcome.ASKED)
        queues.robots_known("http://a", 0, until=DAY, crawl_delay_ms=asked)
        assert queues.next_action(0) == Wait(until)


def test_a_low_floor_does_not_let_robots_shorten_our_delay() -> None:
    """`fetcher.min_crawl_delay_s` below our own delay is no leave to ask sooner."""
    queues = HostQueues(replace(POLICY, crawl_delay_floor_ms=0))
    _offer(queues, "http://a/1", "http://a/2", robots=True)
    queues.next_action(0)
    queues.finished("a", 0, Outcome.ASKED)
    queues.robots_known("http://a", 0, until=DAY, crawl_delay_ms=1_000)
    assert _url(queues.next_action(5_000)) == "http://a/1"
    queues.finished("a", 6_000, Outcome.ASKED)
    assert queues.next_action(6_000) == Wait(11_000)


def test_a_crawl_delay_leaves_one_slot() -> None:
    """A host that asks for a delay is asked one request at a time, whatever our settings."""
    queues = HostQueues(replace(POLICY, slots=3, delay_ms=0))
    _offer(queues, "http://a/1", "http://a/2", robots=True)
    queues.next_action(0)
    queues.finished("a", 0, Outcome.ASKED)
    queues.robots_known("http://a", 0, until=DAY, crawl_delay_ms=7_000)
    assert _url(queues.next_action(7_000)) == "http://a/1"
    assert queues.next_action(7_000) == Wait(None)
    queues.finished("a", 8_000, Outcome.ASKED)
    assert queues.next_action(8_000) == Wait(15_000)


def test_a_long_crawl_delay_is_kept_or_skipped() -> None:
    """Policy keep obeys a delay above the maximum; skip names it for the caller to leave alone."""
    keep, skip = POLICY, replace(POLICY, skip_long=True)
    assert [keep.is_too_long(31_000), skip.is_too_long(31_000)] == [False, True]
    assert [skip.is_too_long(30_000), skip.is_too_long(None)] == [False, False]
    assert not replace(skip, crawl_delay_max_ms=None).is_too_long(DAY)


def test_a_deferred_host_is_asked_again_and_then_left() -> None:
    """5xx for robots.txt: `defer_retries` more tries, `defer_delay` apart, then all stays due."""
    queues = HostQueues(replace(POLICY, defer_retries=2, defer_delay_ms=60_000))
    _offer(queues, "http://a/1", "http://a/2", robots=True)
    queues.fed()
    asked = []
    now = 0
    while not isinstance(action := queues.next_action(now), Done):
        if isinstance(action, Wait):
            assert action.until is not None
            now = action.until
            continue
        assert isinstance(action, AskRobots)
        asked.append(now)
        queues.finished("a", now, Outcome.ASKED)
        queues.robots_deferred("http://a", now)
    assert asked == [0, 60_000, 120_000]
    assert _dropped(queues) == [
        ("http://a/1", "robots_unavailable"),
        ("http://a/2", "robots_unavailable"),
    ]


def test_deferral_respects_the_deadline() -> None:
    """NUTCH-2573: a deferral beyond the time limit is no deferral; the fetch ends in time."""
    queues = HostQueues(replace(POLICY, deadline=100_000, defer_delay_ms=300_000))
    _offer(queues, "http://a/1", robots=True)
    queues.fed()
    queues.next_action(0)
    queues.finished("a", 0, Outcome.ASKED)
    assert not queues.robots_deferred("http://a", 0)
    assert _dropped(queues) == [("http://a/1", "robots_unavailable")]
    assert queues.next_action(0) == Done()


def test_deferred_hosts_alone_do_not_hold_up_a_fetch() -> None:
    """When all else is done, a long deferral is left to a later round; while others go, not."""
    queues = HostQueues(POLICY)
    _offer(queues, "http://a/1", "http://b/1", robots=True)
    queues.fed()
    queues.next_action(0)
    queues.next_action(0)
    queues.finished("a", 0, Outcome.ASKED)
    queues.robots_deferred("http://a", 0)
    queues.finished("b", 0, Outcome.ASKED)
    queues.robots_known("http://b", 0, until=DAY)
    assert queues.next_action(0) == Wait(5_000)
    assert _url(queues.next_action(5_000)) == "http://b/1"
    assert _dropped(queues) == []
    queues.finished("b", 6_000, Outcome.ASKED)
    assert queues.next_action(6_000) == Done()
    assert _dropped(queues) == [("http://a/1", "robots_unavailable")]


def test_a_deferred_host_does_not_hold_up_its_domain() -> None:
    """In domain mode the other hosts of the queue go on."""
    queues = HostQueues(POLICY)
    for url in ("http://bad.a/1", "http://good.a/1"):
        queues.offer(fetch_item(url), "a", 0, origin=origin_of(url))
    first = queues.next_action(0)
    assert isinstance(first, AskRobots)
    queues.finished("a", 0, Outcome.ASKED)
    queues.robots_deferred("http://bad.a", 0)
    second = queues.next_action(5_000)
    assert isinstance(second, AskRobots)
    assert second.errand.origin == "http://good.a"
    queues.finished("a", 5_000, Outcome.ASKED)
    queues.robots_known("http://good.a", 5_000, until=DAY)
    assert _url(queues.next_action(10_000)) == "http://good.a/1"


def test_a_redirected_robots_txt_waits_its_turn_in_the_other_queue() -> None:
    """A hop of robots.txt to another host obeys that host's delay."""
    queues = HostQueues(POLICY)
    _offer(queues, "http://b/1", now=0)
    queues.next_action(0)
    queues.finished("b", 0, Outcome.ASKED)
    _offer(queues, "http://a/1", robots=True)
    queues.next_action(0)
    queues.finished("a", 0, Outcome.ASKED)
    errand = RobotsErrand("http://a", "http://b/robots.txt", 1)
    queues.robots_redirected(errand, "b", 0)
    assert queues.next_action(0) == Wait(5_000)
    assert queues.next_action(5_000) == AskRobots(errand, "b")
    queues.finished("b", 5_000, Outcome.ASKED)
    queues.robots_known("http://a", 5_000, until=DAY)
    assert _url(queues.next_action(5_000)) == "http://a/1"


def test_robots_txt_is_asked_again_when_it_is_too_old() -> None:
    """A verdict is believed until `until`, then robots.txt is asked for anew."""
    queues = HostQueues(POLICY)
    _offer(queues, "http://a/1", robots=True)
    queues.next_action(0)
    queues.finished("a", 0, Outcome.ASKED)
    queues.robots_known("http://a", 0, until=10_000)
    _url(queues.next_action(5_000))
    queues.finished("a", 6_000, Outcome.ASKED)
    _offer(queues, "http://a/2", now=20_000, robots=True)
    assert isinstance(queues.next_action(20_000), AskRobots)


# ------------------------------------------------------------------------------ the end


def test_the_time_limit_drops_what_waits_and_lets_requests_end() -> None:
    """At the deadline nothing starts any more; what is in flight is waited for."""
    queues = _queues("http://a/1", "http://b/1", "http://b/2", deadline=10_000)
    queues.next_action(0)
    queues.next_action(0)
    queues.finished("b", 9_000, Outcome.ASKED)
    assert _dropped(queues) == [("http://b/2", "time_limit")]
    assert queues.next_action(10_000) == Wait(None)
    queues.finished("a", 12_000, Outcome.ASKED)
    assert queues.next_action(12_000) == Done()


def test_redirects_go_first() -> None:
    """A redirect followed at once stands at the front of its target's queue."""
    queues = HostQueues(POLICY)
    _offer(queues, "http://a/1")
    queues.offer(fetch_item("http://a/target", hop=1), "a", 0)
    assert _url(queues.next_action(0)) == "http://a/target"


def test_bounds_are_questions() -> None:
    """The feeder asks before it feeds: room in total, and in the queue."""
    queues = HostQueues(replace(POLICY, queue_limit=1, total_limit=2))
    _offer(queues, "http://a/1")
    assert (queues.has_room("a"), queues.has_room("b"), queues.room()) == (False, True, 1)


def test_settings_become_a_policy() -> None:
    """Seconds and minutes become milliseconds; `min_delay` is for several threads per queue."""
    sections = Settings()
    chosen = sections.fetcher.model_copy(update={"threads_per_queue": 2, "timelimit_mins": 3})
    policy = PolitenessPolicy.from_settings(
        sections.model_copy(update={"fetcher": chosen}), started=1_000
    )
    assert (policy.slots, policy.delay_ms, policy.deadline) == (2, 0, 181_000)
    assert PolitenessPolicy.from_settings(sections, started=0).delay_ms == 5_000


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://User:x@Example.COM:80/a", "http://example.com"),
        ("https://example.com:443", "https://example.com"),
        ("https://example.com:8443/a?b", "https://example.com:8443"),
        ("http://[::1]:80/", "http://[::1]"),
        ("http://a?q", "http://a"),
        ("mailto:x", ""),
    ],
)
def test_origins(url: str, origin: str) -> None:
    """RFC 9309 2.3: robots.txt belongs to scheme, host and port."""
    assert origin_of(url) == origin


def test_a_decision_among_many_queues_is_cheap() -> None:
    """Decisions do not scan the queues: scanning 20,000 would cost a millisecond each time."""
    queues = HostQueues(replace(POLICY, total_limit=10**6))
    item = fetch_item("http://a/1")
    for number in range(20_000):
        queues.offer(item, str(number), 0)
    start = time.perf_counter()
    for _ in range(2_000):
        action = queues.next_action(0)
        assert isinstance(action, Fetch)
        queues.finished(action.key, 0, Outcome.ASKED)
    assert time.perf_counter() - start < 0.4


# ------------------------------------------------------------------------- host and address


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


# ------------------------------------------------------------------------------ invariants


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
