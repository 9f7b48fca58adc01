"""What holds for an origin, and for how long."""

from __future__ import annotations

from filbert.fetcher.robots_cache import RobotsCache
from filbert.model.hosts import HostState
from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.settings import Settings

ORIGIN, URL = "http://a.com", "http://a.com/robots.txt"
DAY = 86_400_000


def _cache(**remembered: HostState) -> RobotsCache:
    return RobotsCache(Settings(), {f"http://{k}.com": v for k, v in remembered.items()}.get)


def _answer(status: int | None, body: bytes = b"", message: str = "") -> ProtocolOutput:
    return ProtocolOutput(
        status=ProtocolStatus.EXCEPTION, http_status=status, body=body, message=message
    )


def test_a_file_holds_for_a_day() -> None:
    """RFC 9309 2.4: no longer than a day; then it is asked for again."""
    cache = _cache()
    entry = cache.learn(ORIGIN, URL, _answer(200, b"User-agent: *\nDisallow: /x"), 0)
    assert entry is not None
    assert not entry.judge("http://a.com/x").allowed
    assert cache.get(ORIGIN, DAY - 1) is entry
    assert cache.get(ORIGIN, DAY) is None
    assert cache.latest(ORIGIN) is entry


def test_trouble_is_no_entry() -> None:
    """A 5xx teaches nothing: the host is deferred."""
    cache = _cache()
    assert cache.learn(ORIGIN, URL, _answer(503), 0) is None
    assert cache.latest(ORIGIN) is None


def test_a_dead_host_is_remembered_for_a_minute() -> None:
    """A host without an address is looked up once a minute at most."""
    cache = _cache()
    entry = cache.learn(ORIGIN, URL, _answer(None, message="dns_failed: no such host"), 0)
    assert entry is not None
    assert entry.dead == "dns_failed: no such host"
    assert cache.get(ORIGIN, 60_000) is None


def test_what_was_noted_is_read_again() -> None:
    """The state that is kept gives the same rules in the next round."""
    cache = _cache()
    answer = _answer(200, b"User-agent: *\nDisallow: /x\nCrawl-delay: 7")
    cache.learn(ORIGIN, URL, answer, 1_000)
    state = cache.state(ORIGIN, URL, answer, 1_000)
    entry = _cache(a=state).get(ORIGIN, 2_000)
    assert entry is not None
    assert (entry.until, entry.crawl_delay_ms) == (1_000 + DAY, 7_000)
    assert not entry.judge("http://a.com/x").allowed


def test_a_missing_file_is_kept_without_a_body() -> None:
    """404 allows all; the page that came with it is nobody's rules."""
    state = _cache().state(ORIGIN, URL, _answer(404, b"Disallow: /"), 5)
    assert state == HostState(host=ORIGIN, robots_url=URL, robots_time=5, robots_status=404)
    entry = _cache(a=state).get(ORIGIN, 6)
    assert entry is not None
    assert entry.judge("http://a.com/x").allowed


def test_politeness_alone_says_nothing_of_robots() -> None:
    """A state without a robots record is no verdict."""
    assert _cache(a=HostState(host=ORIGIN, last_request_end=5)).get(ORIGIN, 6) is None


def test_agents_of_the_settings_are_matched() -> None:
    """`http.agent_name` and `http.robots_agents` choose the groups."""
    settings = Settings()
    http = settings.http.model_copy(update={"agent_name": "filbot", "robots_agents": ("otherbot",)})
    cache = RobotsCache(settings.model_copy(update={"http": http}), lambda _: None)
    body = b"User-agent: otherbot\nDisallow: /o\n\nUser-agent: *\nDisallow: /"
    entry = cache.learn(ORIGIN, URL, _answer(200, body), 0)
    assert entry is not None
    assert [entry.judge(f"http://a.com/{path}").allowed for path in "ox"] == [False, True]


def test_why_a_file_could_not_be_had_is_kept() -> None:
    """The last cause in plain words, and the tries; forgotten when an answer comes."""
    cache = _cache()
    assert cache.failure(ORIGIN) == ""
    cache.learn(ORIGIN, URL, _answer(503), 0)
    words = "connect_failed: Connection refused (Failed to connect to a.com after 0 ms)"
    cache.learn(ORIGIN, URL, _answer(None, message=words), 0)
    said = "robots.txt of http://a.com could not be had: Connection refused (2 tries)"
    assert cache.failure(ORIGIN) == said
    cache.learn(ORIGIN, URL, _answer(200), 0)
    assert cache.failure(ORIGIN) == ""


def test_a_file_that_lies_out_of_reach_defers_the_host() -> None:
    """A host that answers is not dead because its robots.txt is said to be where none may ask."""
    refused = _answer(None, message="address_refused: 127.0.0.1 is loopback")
    cache = _cache()
    assert cache.learn(ORIGIN, "http://localhost/robots.txt", refused, 0) is None
    assert cache.failure(ORIGIN) == (
        f"robots.txt of {ORIGIN} could not be had:"
        " 127.0.0.1 is loopback, from http://localhost/robots.txt (1 try)"
    )
    entry = cache.learn(ORIGIN, URL, refused, 0)
    assert entry is not None
    assert entry.dead


def test_a_file_that_broke_off_is_told_as_such() -> None:
    """Not by its status, which was good."""
    cache = _cache()
    cut = ProtocolOutput(
        status=ProtocolStatus.EXCEPTION,
        http_status=200,
        truncated="disconnect",
        message="disconnected: the reply broke off",
    )
    assert cache.learn(ORIGIN, URL, cut, 0) is None
    assert "could not be had: the reply broke off (1 try)" in cache.failure(ORIGIN)
