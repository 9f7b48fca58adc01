"""A page cannot make the crawler talk to a machine that only the crawler can reach.

A listener stands where nobody may connect to; whatever redirects, robots.txt files, names and
spellings lead there, it sees nothing.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from filbert.cli import run
from filbert.model.records import FetchRequest
from filbert.plugins.protocols.dns import Resolution
from filbert.plugins.protocols.http import HttpProtocol
from filbert.settings import Settings
from filbert.settings.http import HttpSettings
from filbert.testing.handler_site import SilentHandler, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.journey
SPELLINGS = (
    "127.0.0.1",
    "localhost",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "0",
    "0.0.0.0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "LOCALHOST.",
    "127。0。0。1",
)


@contextmanager
def victim() -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """Listen on every address of this machine; give the port, and who connected."""
    seen: list[tuple[str, int]] = []
    with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listening:

        def accept() -> None:
            while True:
                try:
                    connection, who = listening.accept()
                except OSError:
                    return
                seen.append(who[:2])
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listening.getsockname()[1], seen
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(5)


@contextmanager
def site(port: int) -> Iterator[str]:
    """Serve a site whose every page, and one of whose robots.txt, leads to a port of ours."""

    class Site(SilentHandler):
        def answer(self) -> None:
            host = self.headers["Host"]
            if self.path == "/robots.txt" and "localhost" not in host:
                self.send_response(404)
                self.end_headers()
                return
            if self.path == "/":
                links = "".join(f"<a href='/{n}'>{n}</a>" for n in range(len(SPELLINGS)))
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                direct = "".join(f"<a href='http://{s}:{port}/d'>d</a>" for s in SPELLINGS)
                self.wfile.write((links + direct).encode())
                return
            number = int(self.path[1:]) if self.path[1:].isdigit() else 0
            self.send_response(302)
            self.send_header(
                "Location", f"http://{SPELLINGS[number]}:{port}/secret".encode().decode("latin-1")
            )
            self.end_headers()

    with serving(Site) as at:
        yield f":{at}"


@pytest.mark.parametrize("at_once", [0, 3])
def test_redirects_links_and_robots_txt_lead_nowhere(
    at_once: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In whatever spelling, at once or in the next round; each is refused by name."""
    crawl = str(tmp_path / "crawl")
    settings = [
        "http.agent_name=testbot",
        "fetcher.server_delay_s=0",
        "fetcher.max_exceptions_per_queue=-1",
        f"http.redirect_max={at_once}",
        "robots.defer_retries=0",
        "urls.filters=[]",
    ]
    options = [part for one in settings for part in ("-D", one)]
    with victim() as (port, seen), site(port) as where:
        seeds = ["--seeds", f"http://127.0.0.1{where}/", "--seeds", f"http://localhost{where}/"]
        assert run(["crawl", crawl, *seeds, "--rounds", "3", *options]) == 0
    assert seen == []
    capsys.readouterr()
    query = f"select reason from fetches where url like '%:{port}/%'"
    assert run(["sql", crawl, query, "--format", "jsonl"]) == 0
    reasons = [json.loads(line)["reason"] for line in capsys.readouterr().out.splitlines()]
    assert len(reasons) >= 2
    assert set(reasons) == {"address_refused"}


@pytest.mark.parametrize("answers", [("192.0.2.1", "127.0.0.1"), ("127.0.0.1", "192.0.2.1")])
def test_a_name_whose_answer_changes_is_judged_each_time(
    answers: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: what is connected to is what was judged, whatever the next answer is."""

    async def work(port: int) -> list[str]:
        http = HttpSettings(agent_name="bot", timeout_ms=200)
        async with HttpProtocol.from_settings(Settings(http=http), tmp_path) as protocol:
            given = iter((*answers, *answers))

            async def resolve(_: str) -> Resolution:
                return Resolution((next(given),))

            assert protocol._resolver is not None
            monkeypatch.setattr(protocol._resolver, "resolve", resolve)
            request = FetchRequest(url=f"http://rebind.test:{port}/")
            outputs: list[Any] = [await protocol.fetch(request) for _ in answers * 2]
            return [output.message.partition(":")[0] for output in outputs]

    with victim() as (port, seen):
        reasons = asyncio.run(work(port))
    assert seen == []
    assert set(reasons) == {"address_refused"}  # 192.0.2.0/24 is for documents: no public address
