"""A site with traps is crawled to its end, and loses none of its own pages."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, ClassVar

import pytest

from filbert.cli import run
from filbert.testing.handler_site import SilentHandler, serving

if TYPE_CHECKING:
    from pathlib import Path

PAGES = 12


class Site(SilentHandler):
    """Ordinary pages, a calendar without end, and relative links that grow the path."""

    seen: ClassVar[Counter[str]] = Counter()

    def answer(self) -> None:
        """Answer."""
        path = self.path.partition("?")[0]
        self.seen[path.split("/")[1]] += 1
        links = []
        if found := re.fullmatch(r"/calendar/(\d+)/(\d+)", path):
            year, month = int(found[1]), int(found[2])
            links = [f"/calendar/{year + month // 12}/{month % 12 + 1}"]
        elif path.startswith("/deeper/"):
            links = ["sub/", "./more/sub/"]  # the server takes any path for this page
        elif path == "/":
            links = [f"/page/{number}" for number in range(PAGES)]
            links += ["/calendar/2040/6", "/deeper/"]
        self.send_response(200 if path != "/robots.txt" else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write("".join(f"<a href='{link}'>x</a>" for link in links).encode())


@pytest.mark.journey
@pytest.mark.timeout(300)
def test_a_crawl_of_a_trap_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the filter `traps`: every ordinary page, few of the trap, and why no more."""
    crawl = str(tmp_path / "crawl")
    settings = [
        "http.agent_name=testbot",
        "fetcher.server_delay_s=0",
        'urls.filters=["traps"]',
        "traps.repeats=3",
        "traps.depth=8",
    ]
    options = [part for one in settings for part in ("-D", one)]
    with serving(Site) as port:
        root = f"http://127.0.0.1:{port}"
        assert run(["crawl", crawl, "--seeds", f"{root}/", "--rounds", "all", *options]) == 0
        capsys.readouterr()
        assert run(["filterchecker", crawl, f"{root}/calendar/2041/1", *options]) == 0
        assert "far_date: a date in the year 2041" in capsys.readouterr().out
    query = (
        "select count(*) as pages from crawldb where url like '%/page/%' and status = 'db_fetched'"
    )
    assert run(["sql", crawl, query, "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == PAGES
    assert Site.seen["calendar"] == 7
    assert 0 < Site.seen["deeper"] < 100
