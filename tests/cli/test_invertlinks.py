"""The doors `invertlinks` and `dedup`, over one small crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from filbert.cli.dedup import command as dedup
from filbert.cli.invertlinks import command as invertlinks
from filbert.model.statuses import PageStatus
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

    import click

A, B = "http://a.org/", "http://b.org/"
LINK = {"from_url": A, "kind": "outlink", "to_linkdb": True, "anchor": "b"}


@pytest.fixture
def paper(tmp_path: Path) -> PaperCrawl:
    """A parsed segment of one link, and two pages of equal content."""
    paper = PaperCrawl(tmp_path / "crawl")
    paper.segment({A: {"text": "a"}}, links=[{"url": B, **LINK}])
    page = {"status": PageStatus.DB_FETCHED, "signature": b"s"}
    paper.crawldb({A: {**page, "score": 2.0}, B: page})
    return paper


def call(command: click.Command, paper: PaperCrawl, *arguments: str) -> str:
    """Run a command; return what it prints."""
    done = CliRunner().invoke(command, [str(paper.folder.path), *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_invertlinks_says_what_it_absorbed(paper: PaperCrawl) -> None:
    """Once; after that it says that there is nothing new."""
    (segment,) = paper.folder.segments()

    assert call(invertlinks, paper) == f"1 link absorbed, of {segment.name}\n"
    assert call(invertlinks, paper, segment.name) == "the linkdb has absorbed all segments\n"


def test_dedup_takes_group_and_order(paper: PaperCrawl) -> None:
    """As in Nutch's options."""
    order = "httpsOverHttp, score,fetchTime,urlLength"

    assert "over (partition by signature, host)" in call(
        dedup, paper, "--group", "host", "--show-sql"
    )
    assert call(dedup, paper, "--group", "domain") == "0 pages marked as duplicates\n"
    assert call(dedup, paper, "--compare-order", order) == "1 page marked as duplicate\n"
