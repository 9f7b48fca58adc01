"""A fetch that has not ended: what it has done is told, or that it is not shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.model.hosts import HostState
from filbert.reports.explain import explain
from filbert.settings import Settings
from filbert.settings.http import HttpSettings
from filbert.testing.captured_segment import PaperPage, write_segment
from filbert.testing.paper_crawl import NOW, PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.store.crawl import CrawlFolder

OAK, ELM = "http://oak.test/", "http://elm.test/"
ROBOTS = HostState(
    host="http://oak.test",
    robots_url="http://oak.test/robots.txt",
    robots_time=NOW,
    robots_status=200,
    robots_body=b"User-agent: *\nDisallow: /x\n",
)


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    """Two pages; the fetch of one of them is in the journal."""
    paper = PaperCrawl(tmp_path / "crawl")
    paper.crawldb({OAK: {"fetch_time": NOW}, ELM: {"fetch_time": NOW}}, step="inject")
    write_segment(paper.folder, [PaperPage(url=OAK)], NOW, sealed=False, hosts=[ROBOTS])
    return paper.folder


def test_explain_reads_the_journal(crawl: CrawlFolder) -> None:
    """The fetch of the page is told, and the robots.txt that was read for it."""
    settings = Settings(http=HttpSettings(agent_name="tester"))
    (segment,) = crawl.segments()
    said = {one.kind: one for one in explain(crawl, settings, OAK, NOW + 60_000)}
    assert f"so it was before segment {segment.name}" in said["known"].text
    assert "its journal has 1 capture, this page's among them" in said["known"].text
    assert said["fetched"].text.startswith(f"Asked for in segment {segment.name}: fetch_success")
    assert said["robots"].facts["known"] is True
    said = {one.kind: one for one in explain(crawl, settings, ELM, NOW + 60_000)}
    assert "journal" not in said["known"].text
    assert said["robots"].facts["known"] is False


@pytest.mark.parametrize(
    "args",
    [
        ["readseg", "{}"],
        ["readseg", "{}", "--get", OAK],
        ["sql", "{}", "select count(*) from fetches"],
        ["sql", "{}", "select * from hosts"],
    ],
    ids=" ".join,
)
def test_what_is_not_shown_is_said(
    crawl: CrawlFolder, args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A report over tables says that there are captures which no table has yet."""
    assert run([arg.format(crawl.path) for arg in args]) == 0
    told = capsys.readouterr().err
    assert f"the fetch of segment {crawl.segments()[0].name} has not ended" in told
    assert "its journal has 1 capture, not shown here" in told
