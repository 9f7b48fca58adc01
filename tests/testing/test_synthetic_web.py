"""The synthetic web and its server."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from filbert.testing.synthetic_server import SyntheticServer
from filbert.testing.synthetic_web import SyntheticWeb, WebSpec

if TYPE_CHECKING:
    from pathlib import Path


def _status(web: SyntheticWeb, url: str) -> int:
    reply = web.reply(url)
    assert reply is not None
    return reply.status


def test_the_same_spec_gives_the_same_web() -> None:
    """A reply is a pure function of spec and URL."""
    first, second = (SyntheticWeb(WebSpec(seed=3, hosts=5, pages=30)) for _ in range(2))
    assert [first.reply(url) for url in first.urls()] == [
        second.reply(url) for url in second.urls()
    ]


def test_another_seed_gives_another_web() -> None:
    """The seed is part of the function."""
    first, second = (SyntheticWeb(WebSpec(seed=seed, hosts=2, pages=30)) for seed in (1, 2))
    assert [first.kind(0, n) for n in range(30)] != [second.kind(0, n) for n in range(30)]


def test_shares_are_kept() -> None:
    """A share of 0.1 makes about one page in ten."""
    web = SyntheticWeb(WebSpec.plain(hosts=20, pages=100, share_not_found=0.1))
    kinds = Counter(web.kind(host, page) for host in range(20) for page in range(100))
    assert 150 <= kinds["not_found"] <= 250
    assert sum(kinds.values()) - kinds["not_found"] == kinds["ordinary"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("redirect_temporary", 302),
        ("redirect_permanent", 301),
        ("redirect_chain", 302),
        ("redirect_loop", 302),
        ("redirect_abroad", 301),
        ("not_found", 404),
        ("gone", 410),
        ("forbidden", 403),
        ("server_error", 500),
        ("overloaded", 503),
        ("slow", 200),
        ("text", 200),
        ("refresh", 200),
    ],
)
def test_each_kind_answers_as_its_name_says(kind: str, status: int) -> None:
    """Every kind of page has its status."""
    web = SyntheticWeb(WebSpec.plain(hosts=2, pages=5, **{f"share_{kind}": 1.0}))
    assert _status(web, web.url(0, 1)) == status


def test_a_chain_ends_at_the_home_page() -> None:
    """A chain has as many hops as the spec says, then a page."""
    web = SyntheticWeb(WebSpec.plain(pages=5, share_redirect_chain=1.0, chain_length=3))
    url, hops = web.url(0, 1), 0
    while (reply := web.reply(url)) is not None and reply.status == 302:
        url = web.origin(0) + dict(reply.headers)["Location"]
        hops += 1
    assert (hops, _status(web, url)) == (4, 200)


def test_a_page_known_is_not_sent_again() -> None:
    """If-None-Match and If-Modified-Since give 304 for a page that is the same."""
    web = SyntheticWeb(WebSpec.plain())
    url = web.url(0, 1)
    full = web.reply(url)
    assert full is not None
    headers = dict(full.headers)
    for request in (
        {"if-none-match": headers["ETag"]},
        {"if-modified-since": headers["Last-Modified"]},
    ):
        answer = web.reply(url, request)
        assert answer is not None
        assert (answer.status, answer.body) == (304, b"")


def test_a_host_that_does_not_exist_has_no_reply() -> None:
    """An unknown name is for the caller: no such host."""
    web = SyntheticWeb(WebSpec(hosts=3))
    assert web.reply("http://h3.test/") is None


def test_addresses_lead_back_to_their_host() -> None:
    """Hosts given as loopback addresses are found again by number."""
    web = SyntheticWeb(WebSpec(hosts=600, addresses=True))
    assert [web.host_number(web.host(n)) for n in (0, 249, 250, 599)] == [0, 249, 250, 599]


def test_the_server_serves_it_and_logs_each_request(tmp_path: Path) -> None:
    """What the server saw is one line per request, with host, path and status."""
    log = tmp_path / "log.jsonl"
    with SyntheticServer(WebSpec.plain(hosts=2, addresses=True), log=log) as server:
        for path in ("/", "/p/1.html"):
            with urllib.request.urlopen(server.web.origin(1) + path) as answer:
                assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError) as missing:
            urllib.request.urlopen(server.web.origin(0) + "/nothing")
        missing.value.close()
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    port = server.port
    assert [(one["host"], one["path"], one["status"]) for one in seen] == [
        (f"127.0.1.2:{port}", "/", 200),
        (f"127.0.1.2:{port}", "/p/1.html", 200),
        (f"127.0.1.1:{port}", "/nothing", 404),
    ]
