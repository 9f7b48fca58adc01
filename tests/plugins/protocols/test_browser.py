"""The browser protocol, with a played browser: what is rendered, what a page may load."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

import pytest

from filbert.errors import UserError
from filbert.model.records import FetchRequest, ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins import settings_check
from filbert.plugins.protocol_factory import said_mapping
from filbert.plugins.protocols import browser as module
from filbert.plugins.protocols.browser import BrowserProtocol
from filbert.plugins.protocols.chromium import Asked, BrowserError
from filbert.plugins.settings_check import check_browser
from filbert.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from filbert.plugins.protocols.chromium import Answer
    from filbert.plugins.protocols.http import HttpProtocol

PAGE = "http://a.test/"
APP = b'<div id="app"></div><script src="/x.js"></script>'
TEXT = b"<p>" + b"Words of a page. " * 30
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=latin1\r\nX-Robots-Tag: noindex\r\n\r\n"
)


class _Http:
    """Plays the http protocol: answers by URL, and notes what it was asked."""

    def __init__(self, answers: dict[str, ProtocolOutput]) -> None:
        self.asked: list[FetchRequest] = []
        self._answers = answers

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        self.asked.append(request)
        refused = ProtocolOutput(status=ProtocolStatus.EXCEPTION, message="address_refused: no")
        return self._answers.get(request.url, refused)


class _Browser:
    """Plays a Chromium: asks for the page, then for what it is told to load."""

    version = "Played/1"
    loads: Sequence[Asked] = ()
    fails = ""
    got: list[Answer | None]

    def __init__(self, *_: object) -> None:
        type(self).got = []

    async def close(self) -> None:
        """Close nothing."""

    async def render(
        self, url: str, answer: Callable[[Asked], Awaitable[Answer | None]], *, most: int
    ) -> tuple[str, bool]:
        page = await answer(Asked(url=url, kind="page", method="GET"))
        assert page is not None
        if self.fails:
            raise BrowserError(self.fails)
        for asked in self.loads:
            self.got.append(await answer(asked))
        return "<html>ä</html>"[:most], False


def _ok(body: bytes, content_type: str = "text/html; charset=latin1") -> ProtocolOutput:
    return ProtocolOutput(
        status=ProtocolStatus.SUCCESS,
        http_status=200,
        response_head=HEAD,
        headers=(("content-type", content_type), ("X-Robots-Tag", "noindex")),
        body=body,
        raw_body=body,
        content_type=content_type,
    )


def _asked(url: str, kind: str = "script", method: str = "GET") -> Asked:
    return Asked(url=url, kind=kind, method=method)


def _fetch(
    monkeypatch: pytest.MonkeyPatch,
    path: Path,
    answers: dict[str, ProtocolOutput],
    *overrides: str,
    loads: Sequence[Asked] = (),
    fails: str = "",
    requests: Sequence[FetchRequest] = (FetchRequest(url=PAGE),),
) -> tuple[list[ProtocolOutput], _Http]:
    """Return the outputs, and the http protocol that was asked."""
    monkeypatch.setattr(module, "Chromium", _Browser)
    monkeypatch.setattr(_Browser, "loads", loads)
    monkeypatch.setattr(_Browser, "fails", fails)
    base = ["http.agent_name=testbot", "browser.when=needed"]
    settings = load_settings(path, [*base, *overrides], {}).settings
    http: Any = _Http(answers)
    taken: HttpProtocol = http

    async def ask() -> list[ProtocolOutput]:
        protocol = BrowserProtocol(settings, taken, said_mapping(settings))
        async with protocol:
            return [await protocol.fetch(request) for request in requests]

    return asyncio.run(ask()), http


def test_a_page_is_asked_for_once_and_rendered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The body is the browser's, in UTF-8; the server's headers stay, its answer goes along."""
    (output,), http = _fetch(monkeypatch, tmp_path, {PAGE: _ok(APP)})
    assert [one.url for one in http.asked] == [PAGE]
    assert output.body == output.raw_body == "<html>ä</html>".encode()
    assert output.content_type == "text/html; charset=utf-8"
    assert output.response_head == (
        b"HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\n"
        b"Content-Type: text/html; charset=utf-8\r\n\r\n"
    )
    assert output.unrendered is not None
    assert (output.unrendered.body, output.rendered_by) == (APP, "Played/1")


@pytest.mark.parametrize(
    "answer",
    [
        _ok(TEXT),
        _ok(APP, "text/plain"),
        ProtocolOutput(status=ProtocolStatus.MOVED, http_status=301, location=b"/x", body=APP),
        ProtocolOutput(status=ProtocolStatus.NOTFOUND, http_status=404, body=APP),
    ],
    ids=["text", "no HTML", "redirect", "error"],
)
def test_what_needs_no_browser_is_as_it_came(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: ProtocolOutput
) -> None:
    """Pages with text, other types, redirects and errors never see one."""
    (output,), _ = _fetch(monkeypatch, tmp_path, {PAGE: answer}, fails="must not be asked")
    assert output is answer


def test_a_mapped_host_is_always_rendered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever its pages show; its robots.txt is not."""
    robots = FetchRequest(url=f"{PAGE}robots.txt", robots=True)
    answers = {PAGE: _ok(TEXT), robots.url: _ok(b"User-agent: *")}
    requests = [FetchRequest(url=PAGE), robots]
    outputs, _ = _fetch(
        monkeypatch, tmp_path, answers, "protocols.by_host=a.test=browser", requests=requests
    )
    assert [one.rendered_by for one in outputs] == ["Played/1", ""]


def test_a_page_loads_what_the_settings_allow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """GET of the kinds named, over http alone; what the guard refuses is refused to the page."""
    good, secret = "http://cdn.test/x.js", "http://127.0.0.1:1/secret"
    loads = [
        _asked(f"{good}#part"),
        _asked("http://cdn.test/i.png", "image"),
        _asked("http://cdn.test/post", "fetch", "POST"),
        _asked("file:///etc/passwd", "fetch"),
        _asked(secret, "fetch"),
    ]
    answers = {PAGE: _ok(APP), good: _ok(b"1", "text/javascript")}
    _, http = _fetch(monkeypatch, tmp_path, answers, loads=loads)
    assert [one.url for one in http.asked] == [PAGE, good, secret]
    first, *others = _Browser.got
    assert first is not None
    assert (first.status, first.body) == (200, b"1")
    assert others == [None, None, None, None]


def test_what_a_page_loads_is_limited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By number, and by bytes: what is left of them is the limit of the next body."""
    urls = [f"http://cdn.test/{number}" for number in range(4)]
    loads = [_asked(url, "fetch") for url in urls]
    answers = {PAGE: _ok(APP), **{url: _ok(b"x" * 1000) for url in urls}}
    limits = ("browser.max_requests=3", "browser.max_mb=1")
    _, http = _fetch(monkeypatch, tmp_path, answers, *limits, loads=loads)
    assert [one.content_limit for one in http.asked] == [None, 1 << 20, (1 << 20) - 1000, 1046576]
    assert [one is None for one in _Browser.got] == [False, False, False, True]


def test_redirects_of_what_it_loads_are_followed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each hop by the http protocol, counted as a request; a loop ends."""
    moved = ProtocolOutput(status=ProtocolStatus.MOVED, http_status=301, location=b"/b")
    loop = ProtocolOutput(status=ProtocolStatus.MOVED, http_status=301, location=b"/loop")
    answers = {
        PAGE: _ok(APP),
        "http://c.test/a": moved,
        "http://c.test/b": _ok(b"2"),
        "http://c.test/loop": loop,
    }
    loads = [_asked("http://c.test/a"), _asked("http://c.test/loop")]
    _, http = _fetch(monkeypatch, tmp_path, answers, loads=loads)
    first, second = _Browser.got
    assert first is not None
    assert (first.body, second) == (b"2", None)
    assert len(http.asked) == 1 + 2 + 5


def test_scripts_are_kept_for_the_next_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A host is not asked again for a script; what a script fetches is asked for each time."""
    script, fetched = "http://a.test/x.js", "http://a.test/now"
    answers = {PAGE: _ok(APP), script: _ok(b"1"), fetched: _ok(b"2")}
    loads = [_asked(script), _asked(fetched, "fetch")]
    requests = [FetchRequest(url=PAGE)] * 2
    _, http = _fetch(monkeypatch, tmp_path, answers, loads=loads, requests=requests)
    assert [one.url for one in http.asked] == [PAGE, script, fetched, PAGE, fetched]
    _, http = _fetch(
        monkeypatch, tmp_path, answers, "browser.cache_mb=0", loads=loads, requests=requests
    )
    assert [one.url for one in http.asked].count(script) == 2


def test_a_robot_without_a_name_loads_from_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As it asks nobody else for pages either."""
    loads = [_asked("http://cdn.test/x.js"), _asked("http://127.0.0.1/x.js")]
    _, http = _fetch(monkeypatch, tmp_path, {PAGE: _ok(APP)}, "http.agent_name=", loads=loads)
    assert [one.url for one in http.asked] == [PAGE, "http://127.0.0.1/x.js"]


def test_a_browser_that_fails_leaves_the_page_as_it_came(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is kept, and the record says that it was not rendered, and why."""
    (output,), _ = _fetch(
        monkeypatch, tmp_path, {PAGE: _ok(APP)}, fails="browser_crashed: the page did it"
    )
    assert (output.status, output.body) == (ProtocolStatus.SUCCESS, APP)
    assert output.message == "not_rendered: browser_crashed: the page did it"


def test_a_limit_cuts_the_document(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A page that scripts blow up is kept up to the limit of any page."""
    (output,), _ = _fetch(monkeypatch, tmp_path, {PAGE: _ok(APP)}, "http.content_limit=6")
    assert (output.body, output.truncated) == (b"<html>", "length")


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["browser.when=needed", "browser.program=no-such-browser"], "no browser no-such-browser"),
        (["browser.program=no-such-browser"], ""),
    ],
)
def test_a_browser_that_is_not_there_is_refused(
    tmp_path: Path, overrides: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is asked for, with what to install; only where a browser is asked for."""
    monkeypatch.setattr(settings_check, "find_spec", lambda _name: True)
    settings = load_settings(tmp_path, overrides, {}).settings
    if not words:
        check_browser(settings)
        return
    with pytest.raises(UserError, match=words):
        check_browser(settings)
    monkeypatch.setattr(settings_check, "find_spec", lambda _name: None)
    with pytest.raises(UserError, match="the extra is not installed"):
        check_browser(settings)
