"""What a site says of the use of its pages comes with each page, for one query."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.testing.handler_site import SilentHandler, serving

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {
    "/robots.txt": ({}, "User-agent: *\nContent-Signal: ai-train=no, search=yes\n"),
    "/": ({}, "<a href='/open'>o</a><a href='/tdm'>t</a><p>walnut"),
    "/open": ({"Content-Usage": "train-ai=y"}, "<p>hazelnut"),
    "/tdm": ({"tdm-reservation": "1"}, "<meta name=robots content=noai><p>acorn"),
}


class Site(SilentHandler):
    """Answers from the table."""

    def answer(self) -> None:
        """Answer."""
        headers, body = PAGES[self.path]
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if "robots" in self.path else "text/html")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())


@pytest.mark.journey
def test_one_query_tells_what_may_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """robots.txt, headers and meta elements together; the strictest holds."""
    crawl = str(tmp_path / "crawl")
    with serving(Site) as port:
        root = f"http://127.0.0.1:{port}"
        options = ["-D", "fetcher.server_delay_s=0", "-D", "http.agent_name=testbot"]
        options += ["-D", "publish.publishers=jsonl"]
        assert run(["crawl", crawl, "--seeds", f"{root}/", "--rounds", "2", *options]) == 0
        capsys.readouterr()
        assert run(["robots", f"{root}/open", *options]) == 0
        assert "Content-Signal: ai-train=no, search=yes (line 2)" in capsys.readouterr().out
    query = (
        "select url, parse_metadata['use.ai-train'] as train, parse_metadata['use.search'][1] as"
        " search, parse_metadata['use.tdm'][1] as tdm from pages order by url"
    )
    assert run(["sql", crawl, query, "--format", "jsonl"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    answers = [(row["train"][0], len(row["train"]) - 1, row["search"], row["tdm"]) for row in rows]
    assert answers == [("no", 1, "yes", None), ("no", 2, "yes", None), ("no", 2, "yes", "no")]
    lines = (tmp_path / "crawl" / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    of_root = [event for event in events if event["url"] == f"{root}/"]
    assert [event["event"] for event in of_root] == ["start", "end", "report"]
    assert of_root[1]["status"] == "fetch_success"
    assert of_root[2]["outlinks"] == [f"{root}/open", f"{root}/tdm"]
    assert len(events) == 3 * 3
