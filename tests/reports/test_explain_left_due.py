"""`explain` says why a fetch left a page of its list unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.fetcher.left_due import LeftDue
from filbert.reports.explain import explain
from filbert.rules.fetch_actions import Dropped
from filbert.rules.host_queue import DropReason
from filbert.settings import Settings
from filbert.store.tables import Commit
from filbert.testing.paper_crawl import NOW, PaperCrawl
from filbert.testing.records import fetch_item

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://oak.test/"


def test_what_a_fetch_left_due_has_its_reason(tmp_path: Path) -> None:
    """A page of a fetch list without a row of crawl_fetch: the segment and the reason."""
    paper = PaperCrawl(tmp_path / "crawl")
    paper.crawldb({URL: {"fetch_time": NOW}}, step="inject")
    segment = paper.segment({URL: {}})
    with LeftDue(segment.left_due_dir, 0) as left:
        left.note(Dropped(fetch_item(URL), DropReason.EXCEPTIONS))
    said = explain(paper.folder, Settings(), URL, NOW + 60_000)
    (found,) = (one for one in said if one.kind == "left_due")
    assert found.text.startswith(f"Not fetched with segment {segment.name}, and left due: its host")
    assert found.facts["reason"] == "exceptions"


def test_a_dead_server_is_named(tmp_path: Path) -> None:
    """Why robots.txt could not be had: in the answer, the rules, and for other pages there."""
    paper = PaperCrawl(tmp_path / "crawl")
    other = "http://oak.test/never-listed"
    paper.crawldb({URL: {"fetch_time": NOW}, other: {"fetch_time": NOW}}, step="inject")
    segment = paper.segment({URL: {}})
    segment.table("crawl_fetch").commit(Commit(step="fetch", remove="all"))
    why = "robots.txt of http://oak.test could not be had: Connection refused (3 tries)"
    with LeftDue(segment.left_due_dir, 0) as left:
        left.note(Dropped(fetch_item(URL), DropReason.ROBOTS_UNAVAILABLE), why)
    said = {one.kind: one.text for one in explain(paper.folder, Settings(), URL, NOW + 60_000)}
    assert f"Segment {segment.name} listed it, and left it due: {why}." in said["known"]
    assert said["left_due"].endswith(f"left due: {why}")
    assert said["robots"] == f"{why}; without it nothing is fetched there"
    said = {one.kind: one.text for one in explain(paper.folder, Settings(), other, NOW + 60_000)}
    assert said["robots"] == f"{why}; without it nothing is fetched there"
    assert "left_due" not in said
