"""A small crawl on paper for the reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from filbert.model.statuses import PageStatus
from filbert.settings.engine import EngineSettings
from filbert.testing.paper_crawl import NOW, PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.store.crawl import CrawlFolder
    from filbert.store.segments import Segment

OAK, HAZEL, ELM = "http://oak.test/", "http://hazel.test/nuts", "http://elm.test/"


@dataclass(frozen=True, slots=True)
class Grove:
    """The crawl: three pages, one fetched and parsed, one gone, one not fetched yet."""

    paper: PaperCrawl
    segment: Segment

    @property
    def folder(self) -> CrawlFolder:
        """The crawl folder."""
        return self.paper.folder


@pytest.fixture
def engine() -> EngineSettings:
    """Memory and threads of the queries."""
    return EngineSettings(threads=1)


def _fetched(paper: PaperCrawl) -> Segment:
    """Make a segment: one page fetched and parsed, one that was not found."""
    return paper.segment(
        {
            OAK: {
                "title": "Oak",
                "text": "An oak.",
                "response_ms": 12,
                "http_status": 200,
                "warc_file": "part-00000.warc.gz",
                "warc_offset": 0,
                "warc_length": 10,
            },
            HAZEL: {"status": 37, "protocol_code": 14, "http_status": 404},
        },
        links=[
            {"url": ELM, "from_url": OAK, "kind": "outlink", "anchor": "elm", "to_db": True},
            {"url": OAK, "kind": "signature", "signature": b"\x01", "ordinal": 1},
        ],
    )


@pytest.fixture
def grove(tmp_path: Path) -> Grove:
    """Injected (version 1), then a round (version 2)."""
    paper = PaperCrawl(tmp_path / "crawl")
    paper.crawldb(
        {url: {"status": PageStatus.DB_UNFETCHED, "fetch_time": NOW} for url in (OAK, HAZEL)},
        step="inject",
    )
    paper.clock.advance(1000)
    segment = _fetched(paper)
    paper.crawldb(
        {
            OAK: {
                "status": PageStatus.DB_FETCHED,
                "signature": b"\xab\xcd",
                "score": 2.0,
                "fetch_time": NOW + 2_592_000_000,
            },
            HAZEL: {"status": PageStatus.DB_GONE, "retries": 1, "fetch_time": NOW},
            ELM: {
                "status": PageStatus.DB_UNFETCHED,
                "score": 0.5,
                "metadata": {"k": "v"},
                "fetch_time": NOW,
            },
        },
        absorbs=[segment],
    )
    paper.rows("linkdb", [{"url": ELM, "from_url": OAK, "anchor": "elm"}])
    paper.rows("origins", [{"url": ELM, "origin": "link", "origin_url": OAK, "first_seen": NOW}])
    return Grove(paper, segment)
