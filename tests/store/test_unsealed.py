"""What a fetch that has not ended has done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.model.hosts import HostState
from filbert.store.unsealed import Unsealed, captures_of, look_up
from filbert.testing.captured_segment import PaperPage, write_segment
from filbert.testing.paper_crawl import NOW, PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

OAK, ELM = "http://oak.test/", "http://elm.test/"
PAGES = (PaperPage(url=OAK), PaperPage(url=OAK + "acorns"), PaperPage(url=ELM, part=1))
STATES = (
    HostState(host="oak.test", failures=1),
    HostState(host="http://oak.test", robots_body=b"User-agent: *", robots_time=NOW),
    HostState(host="http://oak.test", robots_body=b"User-agent: *", robots_time=NOW + 1),
)


def test_a_url_and_its_host_are_found_in_the_journal(tmp_path: Path) -> None:
    """The rows of the URL, the newest state of each host asked for, and how many captures."""
    crawl = PaperCrawl(tmp_path / "crawl").folder
    segment = write_segment(crawl, PAGES, NOW, sealed=False, hosts=STATES)
    found = look_up(crawl.segments(), OAK, ["oak.test", "http://oak.test", "", "ash.test"])
    assert captures_of(segment) == 3
    assert found.captures == {segment.name: 3}
    assert [(row["url"], row["segment"], row["position"]) for row in found.rows] == [
        (OAK, segment.name, 0)
    ]
    assert found.hosts["oak.test"]["failures"] == 1
    assert found.hosts["http://oak.test"]["robots_time"] == NOW + 1
    assert found.hosts["http://oak.test"]["robots_body"] == b"User-agent: *"
    assert set(found.hosts) == {"oak.test", "http://oak.test"}


def test_a_torn_frame_counts_for_nothing(tmp_path: Path) -> None:
    """A kill in the middle of a write takes that capture alone."""
    crawl = PaperCrawl(tmp_path / "crawl").folder
    segment = write_segment(crawl, PAGES[:2], NOW, sealed=False)
    journal = segment.journal_dir / "part-00000.journal"
    journal.write_bytes(journal.read_bytes()[:-3])
    assert captures_of(segment) == 1


def test_what_is_sealed_is_not_read_twice(tmp_path: Path) -> None:
    """A segment whose fetch has ended has its captures in tables, journal or not."""
    crawl = PaperCrawl(tmp_path / "crawl").folder
    segment = write_segment(crawl, PAGES, NOW)
    assert segment.journal_dir.exists()
    assert captures_of(segment) is None
    assert look_up(crawl.segments(), OAK, ["oak.test"]) == Unsealed()
