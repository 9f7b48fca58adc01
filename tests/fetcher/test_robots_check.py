"""Asking hosts for robots.txt on the spot, on virtual time."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import pytest

from filbert.errors import UserError
from filbert.fetcher.robots_check import RobotsAnswer, RobotsCheck, answer_by_file
from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.settings import Settings
from filbert.testing.virtual_time import LoopClock, run_virtual

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.records import FetchRequest

NAMED = Settings.model_validate({"http": {"agent_name": "bot"}, "fetcher": {"server_delay_s": 2}})
FILE = b"User-agent: *\nDisallow: /x\nCrawl-delay: 3\nSitemap: /s.xml\n\nUser-agent: b\nAllow: /"


class _Web:
    """A protocol that answers by a table, and notes when it was asked."""

    name = "web"

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        raise NotImplementedError

    schemes = frozenset({"http"})
    robots = True

    def __init__(self, **answers: ProtocolOutput) -> None:
        self.asked: list[tuple[float, str]] = []
        self._answers = answers

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        assert request.robots
        loop = asyncio.get_running_loop()
        self.asked.append((loop.time(), request.url))
        await asyncio.sleep(0.5)
        host = request.url.split("/")[2].partition(".")[0]
        return self._answers[host]


class _Files(_Web):
    schemes = frozenset({"file"})
    robots = False


def _said(status: int | None, body: bytes = b"", **more: object) -> ProtocolOutput:
    code = ProtocolStatus.SUCCESS if status == 200 else ProtocolStatus.EXCEPTION
    return ProtocolOutput(status=code, http_status=status, body=body, **more)  # type: ignore[arg-type]


def _answers(
    web: _Web, *urls: str, settings: Settings = NAMED, agents: tuple[str, ...] = ()
) -> list[RobotsAnswer]:
    async def ask() -> list[RobotsAnswer]:
        check = RobotsCheck(
            settings, [web, _Files()], clock=LoopClock(asyncio.get_running_loop()), agents=agents
        )
        async with check:
            return [await check.answer(url) for url in urls]

    return run_virtual(ask)


def test_an_answer_names_line_group_and_file() -> None:
    """And what else the file says; each origin is asked once."""
    web = _Web(a=_said(200, FILE))
    forbidden, allowed = _answers(web, "http://a.test/x/1", "http://a.test/y")
    assert (forbidden.allowed, forbidden.rule) == (False, "Disallow: /x (line 2)")
    assert (allowed.allowed, allowed.rule) == (True, "no rule forbids it")
    assert forbidden.group == "*"
    assert forbidden.robots_url == "http://a.test/robots.txt"
    assert (forbidden.crawl_delay_ms, forbidden.http_status) == (3000, 200)
    assert forbidden.sitemaps == ("http://a.test/s.xml",)
    assert [url for _, url in web.asked] == ["http://a.test/robots.txt"]


def test_other_robots_are_judged_for() -> None:
    """By their names; the request keeps ours."""
    (answer,) = _answers(_Web(a=_said(200, FILE)), "http://a.test/x", agents=("b",))
    assert (answer.allowed, answer.group) == (True, "b")


def test_a_host_is_asked_at_its_delay() -> None:
    """Two origins of one host, and a redirect within it: never closer than the delay."""
    moved = _said(301, location=b"http://a.test:8080/robots.txt")
    web = _Web(a=moved, b=_said(404))
    _answers(web, "http://a.test/", "http://b.test/", "http://a.test:81/")
    times = [time for time, url in web.asked if "a.test" in url]
    assert len(times) == 2 * (1 + NAMED.robots.redirect_max)
    assert all(later - earlier == pytest.approx(2.5) for earlier, later in pairwise(times))


@pytest.mark.parametrize(
    ("output", "allowed", "rule"),
    [
        (_said(404), True, "HTTP 404 for robots.txt"),
        (_said(503), None, "robots.txt of http://a.test could not be had: HTTP 503 (1 try)"),
        (_said(None, message="dns_failed: no such host"), None, "dns_failed: no such host"),
        (_said(301), True, "HTTP 301 for robots.txt"),
    ],
)
def test_what_an_answer_without_a_file_means(
    output: ProtocolOutput, allowed: bool | None, rule: str
) -> None:
    """As in a fetch: 4xx allow all, 5xx and no answer are to be asked again."""
    (answer,) = _answers(_Web(a=output), "http://a.test/")
    assert (answer.allowed, answer.rule) == (allowed, rule)


@pytest.mark.parametrize(
    ("url", "allowed", "rule"),
    [
        ("mailto:a@b.test", None, "no protocol fetches mailto: URLs"),
        ("a.test/x", None, "this is no absolute URL"),
        ("http:///x", None, "this URL names no host"),
        ("file:///x", True, "file: has no robots.txt"),
    ],
)
def test_what_nobody_is_asked_for(url: str, allowed: bool | None, rule: str) -> None:
    """No request; the answer says why."""
    web = _Web()
    (answer,) = _answers(web, url)
    assert (answer.allowed, answer.rule, web.asked) == (allowed, rule, [])


def test_hosts_of_others_are_not_asked_without_a_name() -> None:
    """This machine is."""
    with pytest.raises(UserError, match=r"agent_name is not set, and a\.test is not this machine"):
        _answers(_Web(), "http://a.test/", settings=Settings())
    web = _Web(localhost=_said(404))
    assert _answers(web, "http://localhost/", settings=Settings())[0].allowed


def test_an_allowlisted_host_is_not_asked() -> None:
    """Its owner lets us ignore robots.txt."""
    settings = Settings.model_validate({"robots": {"allowlist": ("a.test",)}})
    (answer,) = _answers(_Web(), "http://a.test/x", settings=settings)
    assert (answer.allowed, answer.rule) == (True, "robots.allowlist names the host")


def test_a_file_at_hand_judges_alone() -> None:
    """No host is asked."""
    answer = answer_by_file(FILE, "http://a.test/x", NAMED)
    assert (answer.allowed, answer.rule, answer.robots_url) == (False, "Disallow: /x (line 2)", "")
