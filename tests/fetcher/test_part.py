"""One part of a fetch, on virtual time over the synthetic web."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from filbert.fetcher.part import PartEnd
from filbert.fetcher.supervision import Order
from filbert.model.hosts import HostState
from filbert.plugins.url_chain import ChainVerdict
from filbert.testing.fake_protocol import FakeProtocol
from filbert.testing.fetch_round import START, FetchRound
from filbert.testing.records import generate_row
from filbert.testing.synthetic_web import SyntheticReply, SyntheticWeb, WebSpec

if TYPE_CHECKING:
    import pytest

HTML = (("Content-Type", "text/html"),)
OK = SyntheticReply(200, HTML, b"<p>hello")


def _moved(target: str, status: int = 302) -> SyntheticReply:
    return SyntheticReply(status, (("Location", target),), b"")


def _robots(text: str) -> SyntheticReply:
    return SyntheticReply(200, (("Content-Type", "text/plain"),), text.encode())


def test_pages_of_a_host_are_fetched_one_delay_apart() -> None:
    """robots.txt first, then each page a delay after the end of the request before it."""
    got = FetchRound(["http://h0.test/", "http://h0.test/p/1.html"])
    assert got.log == [
        (0, "h0.test/robots.txt"),
        (5_100, "h0.test/"),
        (10_200, "h0.test/p/1.html"),
    ]
    assert set(got.statuses.values()) == {"fetch_success"}
    assert got.end is PartEnd.DONE


def test_hosts_go_side_by_side() -> None:
    """Fifty hosts take no longer than one."""
    web = SyntheticWeb(WebSpec.plain(hosts=40))
    assert FetchRound(web.seeds(), web=web).ended_at == 5_200


def test_every_url_ends_as_a_record_or_under_a_reason() -> None:
    """A whole odd web: nothing is lost, nothing asked twice, every host's delay is kept."""
    web = SyntheticWeb(
        WebSpec(
            hosts=8,
            pages=15,
            share_redirect_chain=0.05,
            share_redirect_loop=0.05,
            share_redirect_abroad=0.05,
            robots_error=0.1,
        )
    )
    urls = web.urls()
    got = FetchRound(
        urls, web=web, changes={"fetcher": {"server_delay_s": 1.0, "max_exceptions_per_queue": 3}}
    )
    ended = {one.url for one in got.captures.records if one.hop == 0} | set(got.left)
    assert ended == set(urls)
    assert not {one.url for one in got.captures.records if one.hop == 0} & set(got.left)
    keys = Counter((one.position, one.hop) for one in got.captures.records)
    assert max(keys.values()) == 1
    assert _closest(got) >= 1_000


def _closest(got: FetchRound) -> int:
    """Return the shortest time between the end of a request and the start of the next."""
    by_host: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for one in got.protocol.seen:
        by_host[one.host].append((one.start_ms, one.end_ms))
    return min(
        later[0] - sooner[1]
        for seen in by_host.values()
        for sooner, later in pairwise(sorted(seen))
    )


def test_what_robots_forbids_is_gone_with_the_line() -> None:
    """`robots_denied` is fetch_gone (Nutch), names the rule, and asks nothing."""
    got = FetchRound(
        ["http://h0.test/", "http://h0.test/p/1.html"],
        replies={"http://h0.test/robots.txt": _robots("User-agent: *\nDisallow: /p/")},
    )
    assert [url for _, url in got.log] == ["h0.test/robots.txt", "h0.test/"]
    denied = got.captures.records[-1]
    assert (denied.status.label, denied.reason) == ("fetch_gone", "robots_denied")
    assert denied.robots_rule == "Disallow: /p/ (line 2)"


def test_crawl_delay_is_obeyed() -> None:
    """A Crawl-delay counts from the request for robots.txt itself."""
    got = FetchRound(
        ["http://h0.test/", "http://h0.test/p/1.html"],
        replies={"http://h0.test/robots.txt": _robots("User-agent: *\nCrawl-delay: 8")},
    )
    assert [at for at, _ in got.log] == [0, 8_100, 16_200]


def test_a_crawl_delay_above_the_maximum_can_be_skipped() -> None:
    """Policy `skip` does as Nutch: the pages are robots_denied."""
    got = FetchRound(
        ["http://h0.test/"],
        replies={"http://h0.test/robots.txt": _robots("User-agent: *\nCrawl-delay: 60")},
        changes={"fetcher": {"max_crawl_delay_policy": "skip"}},
    )
    assert got.captures.records[0].reason == "crawl_delay"
    assert len(got.log) == 1


def test_robots_5xx_defers_and_then_leaves_the_host() -> None:
    """Asked again after each deferral; then its URLs stay due, and no page was asked for."""
    got = FetchRound(
        ["http://h0.test/"],
        replies={"http://h0.test/robots.txt": SyntheticReply(503, HTML, b"")},
        changes={"robots": {"defer_delay_ms": 60_000, "defer_retries": 2}},
    )
    assert [at for at, _ in got.log] == [0, 60_100, 120_200]
    assert got.left == {"http://h0.test/": "robots_unavailable"}
    assert got.captures.records == []


def test_a_host_without_an_address_fails_its_pages_unasked() -> None:
    """One look-up; the pages are fetch_retry, so that updatedb gives them up in the end."""
    got = FetchRound([f"http://nowhere.test/{n}" for n in range(20)])
    assert [url for _, url in got.log] == ["nowhere.test/robots.txt"]
    assert Counter(got.statuses.values()) == {"fetch_retry": 20}
    assert got.captures.records[0].reason == "dns_failed"
    assert got.ended_at == 100


def test_a_redirected_robots_txt_is_read_where_it_lies() -> None:
    """RFC 9309 2.3.1.2: its rules hold for the host that redirected; the hop keeps the delay."""
    got = FetchRound(
        ["http://h1.test/", "http://h0.test/p/1.html"],
        replies={
            "http://h0.test/robots.txt": _moved("http://h1.test/robots.txt", 301),
            "http://h1.test/robots.txt": _robots("User-agent: *\nDisallow: /p/"),
        },
    )
    assert got.statuses["http://h0.test/p/1.html"] == "fetch_gone"
    assert _closest(got) >= 5_000


def test_redirects_are_followed_in_the_targets_queue() -> None:
    """Each hop has its row; the target waits its turn, a delay after the request before."""
    got = FetchRound(
        ["http://h0.test/a", "http://h1.test/"],
        replies={"http://h0.test/a": _moved("http://h1.test/p/1.html")},
    )
    hops = [(one.url, one.hop, one.redirect_verdict) for one in got.captures.records]
    assert ("http://h0.test/a", 0, "followed") in hops
    assert ("http://h1.test/p/1.html", 1, None) in hops
    assert _closest(got) >= 5_000
    assert got.captures.links == []


def test_a_redirect_out_of_the_partition_becomes_a_row() -> None:
    """A host of another part is not asked; updatedb learns the target from crawl_parse."""
    got = FetchRound(
        ["http://h0.test/a"],
        replies={"http://h0.test/a": _moved("http://h1.test/x", 301)},
        owns=lambda host, domain: host == "h0.test",
    )
    row = got.captures.links[0]
    assert (row["url"], row["from_url"], row["kind"]) == (
        "http://h1.test/x",
        "http://h0.test/a",
        "redirect",
    )
    assert got.captures.records[0].redirect_verdict == "linked"
    assert got.statuses["http://h0.test/a"] == "fetch_redir_perm"


def test_a_loop_of_redirects_ends() -> None:
    """A → b → a: the third is not asked."""
    got = FetchRound(
        ["http://h0.test/a"],
        replies={
            "http://h0.test/a": _moved("/b"),
            "http://h0.test/b": _moved("/a"),
        },
    )
    assert [one.redirect_verdict for one in got.captures.records] == ["followed", "loop"]


def test_a_chain_longer_than_the_maximum_is_linked() -> None:
    """The hop beyond `http.redirect_max` waits for the next round."""
    replies = {f"http://h0.test/{n}": _moved(f"/{n + 1}") for n in range(9)}
    got = FetchRound(["http://h0.test/0"], replies=replies, changes={"http": {"redirect_max": 2}})
    assert [one.redirect_verdict for one in got.captures.records] == [
        "followed",
        "followed",
        "linked",
    ]
    assert got.captures.links[0]["url"] == "http://h0.test/3"


def test_failures_give_up_the_queue() -> None:
    """Five 500s in a row end the host for this fetch; the rest stays due by name."""
    urls = [f"http://h0.test/x{n}" for n in range(8)]
    got = FetchRound(
        urls, replies=dict.fromkeys(urls, SyntheticReply(500, HTML, b"")),
        changes={"fetcher": {"server_delay_s": 1.0}},
    )  # fmt: skip
    assert Counter(got.statuses.values()) == {"fetch_retry": 5}
    assert Counter(got.left.values()) == {"exceptions": 3}


def test_an_answer_ends_a_row_of_failures() -> None:
    """A server that answers now and then is not given up."""
    urls = [f"http://h0.test/{'x' if n % 3 else 'p'}/{n}.html" for n in range(24)]
    bad = dict.fromkeys((url for url in urls if "/x/" in url), SyntheticReply(500, HTML, b""))
    got = FetchRound(urls, replies=bad)
    assert got.left == {}


def test_retry_after_is_obeyed() -> None:
    """The next request to the host comes when the server said."""
    busy = SyntheticReply(503, (("Retry-After", "90"),), b"")
    got = FetchRound(
        ["http://h0.test/busy", "http://h0.test/"], replies={"http://h0.test/busy": busy}
    )
    assert [at for at, _ in got.log] == [0, 5_100, 95_200]


def test_a_page_that_we_have_is_asked_for_conditionally() -> None:
    """ETag and time of the last fetch are sent; 304 is fetch_notmodified."""
    first = FetchRound(["http://h0.test/"]).captures.records[0]
    assert first.datum.metadata["_etag_"]
    row = {
        **generate_row("http://h0.test/"),
        "modified_time": START,
        "metadata": first.datum.metadata,
    }
    got = FetchRound([], rows=[row])
    assert got.protocol.requests[-1].etag == first.datum.metadata["_etag_"]
    assert got.statuses == {"http://h0.test/": "fetch_notmodified"}


def test_politeness_is_remembered() -> None:
    """The next round starts from the last request's end and the robots.txt that is known."""
    first = FetchRound(["http://h0.test/"])
    end = START + first.ended_at
    states = first.captures.hosts
    assert states["h0.test"] == HostState(host="h0.test", last_request_end=end, delay_ms=5_000)
    assert states["http://h0.test"].robots_status == 404
    second = FetchRound(["http://h0.test/p/1.html"], remembered=states)
    assert second.log == [(first.ended_at + 5_000, "h0.test/p/1.html")]


def test_positions_that_are_done_are_not_asked_again() -> None:
    """A resume fetches what is missing."""
    got = FetchRound(["http://h0.test/", "http://h0.test/p/1.html"], done=[0])
    assert list(got.statuses) == ["http://h0.test/p/1.html"]


def test_the_time_limit_leaves_the_rest_due() -> None:
    """At the deadline everything that waits, and all that the feeder still has, stays due."""
    urls = [f"http://h0.test/p/{n}.html" for n in range(300)]
    got = FetchRound(urls, changes={"fetcher": {"timelimit_mins": 1, "threads": 2}})
    assert len(got.statuses) + len(got.left) == 300
    assert set(got.left.values()) == {"time_limit"}
    assert got.ended_at <= 60_000


def test_a_slow_host_with_many_urls_does_not_keep_others_out() -> None:
    """Queues are bounded each: the last URL of the list is fetched while the first host waits."""
    urls = [f"http://h0.test/p/{n}.html" for n in range(1_000)] + ["http://h1.test/"]
    got = FetchRound(
        urls,
        changes={"fetcher": {"timelimit_mins": 2, "threads": 2, "queue_depth_multiplier": 10}},
    )
    assert got.statuses["http://h1.test/"] == "fetch_success"
    assert len(got.statuses) + len(got.left) == 1_001


def test_a_stop_ends_the_part() -> None:
    """`.STOP`: no request starts any more, nothing is dropped, the rest is for a resume."""
    ticks = iter([Order.GO_ON] * 30)
    got = FetchRound(
        [f"http://h0.test/p/{n}.html" for n in range(30)],
        order=lambda: next(ticks, Order.STOP),
    )
    assert got.end is PartEnd.STOPPED
    assert len(got.statuses) == 1
    assert got.left == {}


def test_what_is_in_flight_at_a_stop_is_kept() -> None:
    """A slow answer is waited for, within its limits; then the part ends, and starts nothing."""
    ticks = iter([Order.GO_ON] * 3)  # four a second
    got = FetchRound(
        [f"http://h{n}.test/p/1.html" for n in range(3)],
        order=lambda: next(ticks, Order.STOP),
        changes={"fetcher": {"server_delay_s": 0.0, "threads": 2}},
        latency_ms=1_500,
        remembered={
            f"http://h{n}.test": HostState(
                host=f"http://h{n}.test", robots_time=START, robots_status=404
            )
            for n in range(3)
        },
    )
    assert (got.end, got.ended_at) == (PartEnd.STOPPED, 1_500)
    assert len(got.statuses) == 2
    assert got.left == {}


def test_too_slow_a_fetch_ends() -> None:
    """Below the threshold for some seconds: what waits stays due (Nutch)."""
    got = FetchRound(
        [f"http://h0.test/p/{n}.html" for n in range(30)],
        changes={
            "fetcher": {
                "throughput_threshold_pages": 1,
                "throughput_check_after_mins": 1,
                "throughput_threshold_retries": 3,
            }
        },
    )
    assert set(got.left.values()) == {"throughput"}
    assert got.ended_at < 70_000


def test_a_plugin_that_breaks_is_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception inside a protocol plugin ends no part; the page is fetch_retry."""

    async def broken(*_: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("filbert.testing.fake_protocol.FakeProtocol.fetch", broken)
    got = FetchRound(["http://h0.test/"], changes={"robots": {"defer_5xx": False}})
    assert got.captures.records[0].reason == "plugin_failed"
    assert got.statuses == {"http://h0.test/": "fetch_retry"}


def test_a_url_without_a_protocol_is_a_record() -> None:
    """A scheme that no plugin knows does not stop anything."""
    got = FetchRound(["gopher://h0.test/"])
    assert got.captures.records[0].reason == "no_protocol"


def test_the_same_web_gives_the_same_requests() -> None:
    """Invariant 5: same inputs, settings and clock, same requests at the same instants."""
    web = SyntheticWeb(WebSpec(hosts=6, pages=10))
    runs = [FetchRound(web.urls(), web=web).log for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_host_whose_owner_agreed_is_not_asked_for_robots() -> None:
    """`robots.allowlist`: no request for robots.txt, and all is allowed."""
    got = FetchRound(["http://h0.test/"], changes={"robots": {"allowlist": ("h0.test",)}})
    assert got.log == [(0, "h0.test/")]


def test_hosts_of_one_domain_share_a_queue_by_domain() -> None:
    """`fetcher.queue_mode = domain`: one delay for all hosts of a domain."""
    got = FetchRound(
        ["http://a.x.com/", "http://b.x.com/"],
        replies={f"http://{host}.x.com/{path}": OK for host in "ab" for path in ("", "robots.txt")},
        changes={"fetcher": {"queue_mode": "domain"}},
    )
    starts = [at for at, _ in got.log]
    assert starts == [0, 5_100, 10_200, 15_300]


def test_what_many_pages_redirect_to_is_fetched_once() -> None:
    """`fetcher.redirect_dedup_s`: the others keep their redirect, and name the target."""
    login = SyntheticReply(302, (("Location", "/login"),), b"")
    urls = [f"http://h0.test/{page}" for page in "abc"]
    replies = dict.fromkeys(urls, login) | {
        "http://h0.test/login": SyntheticReply(200, (("Content-Type", "text/html"),), b"hi")
    }
    done = FetchRound(urls=urls, replies=replies)
    assert [url for _, url in done.log].count("h0.test/login") == 1
    verdicts = Counter(one.redirect_verdict for one in done.captures.records)
    assert verdicts == {"followed": 1, "duplicate": 2, None: 1}
    off = FetchRound(urls=urls, replies=replies, changes={"fetcher": {"redirect_dedup_s": -1}})
    assert [url for _, url in off.log].count("h0.test/login") == 3


def test_a_bandwidth_target_opens_and_closes_slots() -> None:
    """Too little is taken by one slot: more are opened; a target that is passed closes them."""
    web = SyntheticWeb(WebSpec.plain(hosts=40, pages=200))
    urls = [web.url(host, page) for page in range(40) for host in range(40)]

    def busy(kbps: int, threads: int) -> list[int]:
        """Return how many requests were in flight at the start of each second."""
        done = FetchRound(
            urls=urls,
            web=web,
            changes={
                "fetcher": {
                    "server_delay_s": 0.0,
                    "threads": threads,
                    "bandwidth_target_kbps": kbps,
                    "bandwidth_check_every_s": 2,
                }
            },
        )
        spans = [(one.start_ms - START, one.end_ms - START) for one in done.protocol.seen]
        return [sum(a <= at < b for a, b in spans) for at in range(1_050, spans[-1][1], 1_000)]

    more, fewer = busy(100_000, 1), busy(1, 20)
    assert more[0] == 1
    assert max(more) == 40  # one request to each host
    assert fewer[0] == 20
    assert fewer[4] == 1


def test_queues_by_address() -> None:
    """`ip`: one delay for all hosts of an address; `host+ip`: a host's own, and the address's."""
    urls = [f"http://h{host}.test/{page}" for page in ("", "p/1.html") for host in (0, 1, 2)]
    addresses = {"h0.test": "10.0.0.1", "h1.test": "10.0.0.1", "h2.test": "10.0.0.2"}
    starts = {}
    for mode, changes in (("ip", {}), ("host+ip", {"address_delay_s": 1.0})):
        done = FetchRound(
            urls=urls,
            addresses=addresses,
            changes={"fetcher": {"queue_mode": mode, "server_delay_s": 4.0, **changes}},
        )
        starts[mode] = {url: at for at, url in done.log if not url.endswith("/robots.txt")}
    assert starts["ip"] == {
        "h0.test/": 4_100,
        "h1.test/": 12_300,
        "h2.test/": 4_100,
        "h0.test/p/1.html": 16_400,
        "h1.test/p/1.html": 20_500,
        "h2.test/p/1.html": 8_200,
    }
    assert starts["host+ip"] == {
        "h0.test/": 4_100,
        "h1.test/": 5_200,
        "h2.test/": 4_100,
        "h0.test/p/1.html": 8_200,
        "h1.test/p/1.html": 9_300,
        "h2.test/p/1.html": 8_200,
    }


def test_urls_are_judged_again_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """`fetcher.filter_urls`: what the filters reject now is left due under `filtered`."""
    monkeypatch.setattr(
        "filbert.plugins.url_chain.UrlChain.apply",
        lambda _self, url, _scope, **_: ChainVerdict(None if "bad" in url else url),
    )
    got = FetchRound(
        ["http://h0.test/", "http://h0.test/bad"], changes={"fetcher": {"filter_urls": True}}
    )
    assert got.left == {"http://h0.test/bad": "filtered"}
    assert list(got.statuses) == ["http://h0.test/"]


def test_a_request_has_an_end_and_a_plugin_may_say_a_later_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What hangs is a record; a protocol that has to wait for its turn says how much longer."""
    url = "http://h0.test/"
    slow = {url: SyntheticReply(200, HTML, b"<p>hello", delay_ms=220_000)}
    assert FetchRound([url], replies=slow).statuses == {url: "fetch_retry"}
    monkeypatch.setattr(FakeProtocol, "longer_s", 20.0, raising=False)
    assert FetchRound([url], replies=slow).statuses == {url: "fetch_success"}


def test_each_robots_txt_is_kept_if_asked() -> None:
    """Every hop of it, with its own URL; by default none is."""
    url = "http://h0.test/robots.txt"
    replies = {url: _moved("/r.txt"), "http://h0.test/r.txt": _robots("User-agent: *\nAllow: /")}
    got = FetchRound(["http://h0.test/"], replies=replies, changes={"robots": {"store": True}})
    assert [asked.url for asked, _ in got.captures.kept] == [url, "http://h0.test/r.txt"]
    assert FetchRound(["http://h0.test/"], replies=replies).captures.kept == []
