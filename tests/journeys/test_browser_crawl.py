"""A real Chromium renders pages; it opens no connection itself, and its failures stay small."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from filbert.cli import run
from filbert.model.records import FetchRequest
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.browser import BrowserProtocol
from filbert.plugins.protocols.chromium import find_browser
from filbert.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from filbert.model.records import ProtocolOutput

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        find_browser("") is None or importlib.util.find_spec("playwright") is None,
        reason="there is no Chromium (scripts/install_chromium.sh) or no extra filbert[browser]",
    ),
]

APP = "<title>Shop</title><div id=app></div><script src=/app.js></script>"
SCRIPT = """fetch('/words').then(r => r.text()).then(words => {
  document.getElementById('app').innerHTML = '<h1>' + words + '</h1><a href=/next>next</a>' })"""
PAGES = {
    "/": ("text/html; charset=iso-8859-1", APP),
    "/app.js": ("text/javascript", SCRIPT),
    "/words": ("text/plain; charset=utf-8", "wälnut"),
    "/next": ("text/html", "<p>" + "Words that a server wrote: hazelnut. " * 20),
    "/loop": ("text/html", "<div id=app></div><script>while (true) {}</script>"),
    "/away": ("text/html", "<div id=app></div><script>location.href = '/next'</script>"),
    "/robots.txt": ("text/plain", "User-agent: *\nDisallow: /private"),
    "/private": ("text/html", APP),
}


class _Site:
    """A site on loopback that notes the paths it is asked for."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.pages = {**PAGES}
        site = self

        class Answer(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.seen.append(self.path)
                kind, text = site.pages.get(self.path, ("text/plain", ""))
                body = text.encode()
                self.send_response(200 if self.path in site.pages else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.endpoint = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.endpoint}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)


@pytest.fixture
def site() -> Iterator[_Site]:
    """A running site."""
    made = _Site()
    made.thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    made.thread.join()


def _with_browser(
    folder: Path, site: _Site, work: Callable[[BrowserProtocol], Awaitable[None]], *more: str
) -> None:
    """Do some work with a protocol that may ask the site, and no other private address."""
    overrides = ["http.agent_name=testbot", "protocols.by_host=127.0.0.1=browser"]
    overrides += ["browser.page_limit_s=3", "browser.settle_ms=300", *more]
    settings = load_settings(folder, overrides, {}).settings

    async def inside() -> None:
        protocol = BrowserProtocol.from_settings(settings, folder)
        protocol.allow_hosts([site.endpoint])
        async with protocol:
            await work(protocol)

    asyncio.run(inside())


async def _get(protocol: BrowserProtocol, url: str) -> ProtocolOutput:
    return await protocol.fetch(FetchRequest(url=url))


def test_the_address_guard_holds_for_a_page(site: _Site, tmp_path: Path) -> None:
    """By no way that a page has does it reach a private address: its listener sees nothing."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)
    there = f"127.0.0.1:{listener.getsockname()[1]}"
    ways = f"""<div id=app></div><link rel=preconnect href=http://{there}>
      <link rel=prefetch href=http://{there}/prefetch><link rel=stylesheet href=http://{there}/css>
      <img src=http://{there}/img><iframe src=http://{there}/frame></iframe>
      <form id=form action=http://{there}/form method=post></form>
      <script src=http://{there}/script></script><script>
      const say = words => document.getElementById('app').append(words + ' ')
      fetch('http://{there}/fetch').catch(() => say('refused'))
      navigator.sendBeacon('http://{there}/beacon', 'x')
      try {{ new WebSocket('ws://{there}/socket') }} catch (e) {{ say(e) }}
      try {{ new EventSource('http://{there}/events') }} catch (e) {{ say(e) }}
      try {{ new Worker('data:text/javascript,fetch("http://{there}/worker")') }} catch (e) {{}}
      try {{
        const peer = new RTCPeerConnection({{iceServers: [
          {{urls: 'turn:{there}?transport=tcp', username: 'a', credential: 'b'}}]}})
        peer.createDataChannel('x'); peer.createOffer().then(o => peer.setLocalDescription(o))
      }} catch (e) {{ say(e) }}
      window.open('http://{there}/open'); document.getElementById('form').submit()
      </script>"""
    site.pages["/ways"] = ("text/html", ways)

    async def work(protocol: BrowserProtocol) -> None:
        output = await _get(protocol, f"{site.url}/ways")
        assert output.rendered_by.startswith("Chromium/")
        assert b"refused" in output.body

    kinds = "document,script,stylesheet,xhr,fetch,image,font,media,other,eventsource"
    _with_browser(tmp_path, site, work, f"browser.resources={kinds}", "browser.settle_ms=1500")
    with pytest.raises(BlockingIOError):
        listener.accept()
    listener.close()


def test_a_page_that_hangs_ends_and_the_next_is_rendered(site: _Site, tmp_path: Path) -> None:
    """A script without end costs its limit; a page that leads away stays itself."""

    async def work(protocol: BrowserProtocol) -> None:
        hung = await _get(protocol, f"{site.url}/loop")
        assert hung.status is ProtocolStatus.SUCCESS
        assert hung.message.startswith("not_rendered: browser_hung")
        away = await _get(protocol, f"{site.url}/away")
        assert away.rendered_by
        assert b'id="app"' in away.body
        good = await _get(protocol, f"{site.url}/")
        assert "<h1>wälnut</h1>".encode() in good.body

    _with_browser(tmp_path, site, work)
    assert "/next" not in site.seen


def test_a_document_without_end_is_cut(site: _Site, tmp_path: Path) -> None:
    """In the browser already: what comes is no longer than the limit of any page."""
    grow = "document.body.append(document.createComment('x'.repeat(50_000_000)))"
    site.pages["/grow"] = ("text/html", f"<div id=app></div><script>{grow}</script>")

    async def work(protocol: BrowserProtocol) -> None:
        grown = await _get(protocol, f"{site.url}/grow")
        assert (len(grown.body), grown.truncated) == (100_000, "length"), grown.message

    _with_browser(tmp_path, site, work, "http.content_limit=100000", "browser.page_limit_s=20")


def test_a_browser_that_is_killed_is_started_anew(site: _Site, tmp_path: Path) -> None:
    """The page that it was at, and the next, are rendered by another."""

    async def work(protocol: BrowserProtocol) -> None:
        first = await _get(protocol, f"{site.url}/")
        assert first.rendered_by
        killed = _kill_browsers()
        assert killed > 0
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_get(protocol, f"{site.url}/")) for _ in range(3)]
        assert all(task.result().rendered_by for task in tasks)

    _with_browser(tmp_path, site, work)


def test_no_browser_is_left(site: _Site, tmp_path: Path) -> None:
    """Its processes end with the protocol; after some pages it is started anew."""

    async def work(protocol: BrowserProtocol) -> None:
        seen = set()
        for _ in range(3):
            assert (await _get(protocol, f"{site.url}/")).rendered_by
            seen.add(min(_browsers()))
        assert len(seen) == 3

    _with_browser(tmp_path, site, work, "browser.restart_after=1")
    assert _browsers() == []


def test_a_site_is_crawled_and_replayed(
    site: _Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the page that needs it is rendered; robots.txt holds; a replay needs no browser."""
    site.pages["/"] = ("text/html", APP.replace("<script", "<a href=/private>p</a><script"))
    settings = ["browser.when=needed", "http.agent_name=testbot", "fetcher.server_delay_s=0"]
    options = [part for one in settings for part in ("-D", one)]
    crawl, again = tmp_path / "crawl", tmp_path / "again"
    seeds = ["--seeds", f"{site.url}/", "--rounds", "2"]
    assert run(["crawl", str(crawl), *seeds, *options]) == 0
    fetched = {"/": "db_fetched", "/next": "db_fetched"}
    assert _statuses(crawl, site, capsys) == {**fetched, "/private": "db_gone"}
    assert site.seen.count("/") == site.seen.count("/next") == site.seen.count("/app.js") == 1
    assert run(["search", str(crawl), "wälnut"]) == 0
    assert f"{site.url}/" in capsys.readouterr().out
    assert run(["crawl", str(again), *seeds, "--replay", str(crawl)]) == 0
    assert _statuses(again, site, capsys) == {**fetched, "/private": "db_unfetched"}
    assert run(["search", str(again), "wälnut"]) == 0
    assert site.seen.count("/") == 1


def _statuses(crawl: Path, site: _Site, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    query = "select url, status from crawldb"
    assert run(["sql", str(crawl), query, "--format", "jsonl"]) == 0
    rows: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {row["url"].removeprefix(site.url): row["status"] for row in rows}


def _parents() -> dict[int, int]:
    """Return the parent of each process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                found[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1]
                )
            except (OSError, IndexError):
                continue
    return found


def _browsers() -> list[int]:
    """Return the main processes of Chromium below this process."""
    parents, found = _parents(), []
    for pid in parents:
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        above, is_ours = pid, False
        while above in parents and not is_ours:
            above = parents[above]
            is_ours = above == os.getpid()
        if is_ours and b"--host-resolver-rules" in line and b"--type=" not in line:
            found.append(pid)
    return found


def _kill_browsers() -> int:
    pids = _browsers()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return len(pids)
