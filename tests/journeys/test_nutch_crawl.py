"""A crawl that Nutch began goes on here, and can go back."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.nutch.parts import records
from filbert.nutch.simple import Text
from filbert.nutch.v1.content import Content
from filbert.nutch.v1.crawl_datum import CrawlDatum, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parents[1] / "data" / "nutch1"
HOSTS = ("127.0.0.1:8901", "127.0.0.2:8902")  # where the crawl of Nutch found its pages


class _Page(BaseHTTPRequestHandler):
    """Has a page for every path, and it links to one that Nutch never saw."""

    def do_GET(self) -> None:
        body = f"<title>Now {self.path}</title><a href='/after-nutch'>on</a>".encode()
        if self.path == "/robots.txt":
            body = b""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a web server that has every page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def _crawldb(folder: Path) -> dict[str, CrawlDatum]:
    return {
        Text.from_bytes(one.key).value: CrawlDatum.from_bytes(one.value)
        for one in records(folder / "crawldb" / "current")
    }


@pytest.mark.journey
def test_a_crawl_of_nutch_goes_on_and_goes_back(
    port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Import, index, a round on a web of today, search, export: pages known by both are one."""
    crawl, back = str(tmp_path / "crawl"), tmp_path / "nutch"
    led = ["-D", "http.resolve=" + ",".join(f"{host}:127.0.0.1:{port}" for host in HOSTS)]
    assert run(["nutch", "import", str(GOLDEN), crawl]) == 0
    assert run(["index", crawl]) == 0
    settings = ["-D", "http.allow_addresses=loopback", "-D", "fetcher.server_delay_s=0.01", *led]
    assert run(["crawl", crawl, "--rounds", "1", *settings]) == 0
    capsys.readouterr()
    assert run(["search", crawl, "now"]) == 0
    assert "Now /" in capsys.readouterr().out
    assert run(["nutch", "export", crawl, str(back)]) == 0
    before, after = _crawldb(GOLDEN), _crawldb(back)
    assert set(before) < set(after)
    fetched = {
        url
        for url, datum in before.items()
        if datum.status == Status.DB_UNFETCHED and after[url].status == Status.DB_FETCHED
    }
    assert fetched
    for url, datum in before.items():
        if url not in fetched and datum.status != Status.DB_UNFETCHED:
            assert after[url].signature == datum.signature
            assert after[url].fetch_interval == datum.fetch_interval
    assert "http://127.0.0.1:8901/after-nutch" in after
    (segment,) = (one for one in (back / "segments").iterdir() if one.name > "20261130203037")
    contents = {
        Text.from_bytes(one.key).value: Content.from_bytes(one.value)
        for one in records(segment / "content")
    }
    assert fetched <= set(contents)  # some are duplicates by now
    for url, content in contents.items():
        assert content.url == url
        assert content.content.startswith(b"<title>Now /")
        assert content.metadata.get("Content-Type") == "text/html"
        assert content.metadata.get("nutch.segment.name") == segment.name
