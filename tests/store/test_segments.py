"""Segments: names, states, parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from filbert.model.schemas import CRAWL_GENERATE
from filbert.store.segments import SegmentState
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.engine.base import WrittenFile
    from filbert.store.crawl import CrawlFolder

    Page = Callable[..., dict[str, Any]]
    Write = Callable[..., tuple[WrittenFile, ...]]

NOW = 1_796_000_000_000


def test_a_segment_is_named_by_its_second(crawl: CrawlFolder) -> None:
    """Nutch's form in UTC; a second one in the same second gets the next free name."""
    names = [crawl.new_segment(NOW).name for _ in range(3)]
    assert names == ["20261130005320", "20261130005321", "20261130005322"]


def test_a_segment_counts_once_a_table_has_a_commit(
    crawl: CrawlFolder, page: Page, write: Write
) -> None:
    """A folder without one is not listed; the state follows the tables and the journal."""
    segment = crawl.new_segment(NOW)
    assert crawl.segments() == []
    rows = [page("http://a.example/", part=1, position=0)]
    segment.table("crawl_generate").commit(Commit(step="generate", add=write(CRAWL_GENERATE, rows)))
    assert crawl.segments() == [segment]
    assert crawl.segment(f"crawl/segments/{segment.name}/") == segment
    states = [segment.state]
    segment.journal_dir.mkdir()
    states.append(segment.state)
    (segment.journal_dir / "part-00000.journal").touch()
    states.append(segment.state)
    for name in ("crawl_parse", "crawl_fetch", "parse_text", "parse_data"):
        segment.table(name).commit(Commit(step="fetch"))
        states.append(segment.state)
    assert states == [
        SegmentState.GENERATED,
        SegmentState.GENERATED,
        SegmentState.FETCHING,
        SegmentState.FETCHING,
        SegmentState.FETCHED,
        SegmentState.FETCHED,
        SegmentState.PARSED,
    ]


def test_parts_are_those_of_the_fetch_list(crawl: CrawlFolder, page: Page, write: Write) -> None:
    """The numbers that occur, in order."""
    segment = crawl.new_segment(NOW)
    assert segment.parts() == []
    rows = [page(f"http://{n}.example/", part=n, position=0) for n in (3, 0, 3)]
    segment.table("crawl_generate").commit(Commit(step="generate", add=write(CRAWL_GENERATE, rows)))
    assert segment.parts() == [0, 3]
