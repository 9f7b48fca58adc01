"""Which files of a table may go."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import DataError
from filbert.store.parquet import read_rows
from filbert.store.vacuum import shorten_log, unlisted_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.model.clock import FixedClock
    from filbert.store.crawl import CrawlFolder
    from filbert.store.tables import Table

    Page = Callable[..., dict[str, Any]]
    CommitPages = Callable[..., int]

HOUR = 3600 * 1000
# Files change on the real clock; the clock of the test stands long after it.
LATER = 10 * 365 * 24 * HOUR


@pytest.fixture
def table(crawl: CrawlFolder, clock: FixedClock, page: Page, commit_pages: CommitPages) -> Table:
    """Three versions, each replacing the last, at 0, 10 and 20 hours; the clock stands at 20."""
    clock.advance(LATER)
    commit_pages(page("http://a.example/"))
    clock.advance(10 * HOUR)
    commit_pages(page("http://b.example/"), remove="all", read_version=1)
    clock.advance(10 * HOUR)
    commit_pages(page("http://c.example/"), remove="all", read_version=2)
    return crawl.table("crawldb")


@pytest.mark.parametrize(
    ("keep_hours", "gone"),
    [(0, ["v000001", "v000002"]), (5, ["v000001"]), (10, ["v000001"]), (11, []), (20, [])],
)
def test_versions_within_reach_stay_whole(
    keep_hours: int, gone: list[str], table: Table, clock: FixedClock
) -> None:
    """The newest version, each younger one, and the one in force at the edge are kept."""
    found = unlisted_files(table, keep_ms=keep_hours * HOUR, now_ms=clock.now_ms())
    assert [path.name[:7] for path in found] == gone


def test_files_of_a_commit_under_way_stay(table: Table) -> None:
    """A file that no version lists is garbage only after an hour."""
    stray = table.path / "v000004-00000-stray.parquet"
    stray.write_bytes(b"")
    changed_ms = stray.stat().st_ctime * 1000
    kept = unlisted_files(table, keep_ms=LATER, now_ms=int(changed_ms + HOUR - 1000))
    assert kept == []
    found = unlisted_files(table, keep_ms=100 * LATER, now_ms=int(changed_ms + HOUR + 1000))
    assert found == [stray]


def test_the_log_stays_readable_when_it_is_shortened(table: Table) -> None:
    """A checkpoint is written; the newest version reads as before."""
    shorten_log(table, keep_ms=0)
    assert (table.log_path / "_last_checkpoint").exists()
    assert [row["url"] for row in read_rows(table.files(), ["url"])] == ["http://c.example/"]


def test_old_log_entries_go_with_their_versions(table: Table) -> None:
    """What was absorbed is still known; a version that is gone is named, with those there are."""
    for entry in table.log_path.iterdir():
        os.utime(entry, (0, 0))
    shorten_log(table, keep_ms=0)
    assert [record.version for record in table.history()] == [3]
    assert (table.exists(), table.is_committed(), table.version()) == (True, True, 3)
    with pytest.raises(DataError, match=r"has no version 1\n.*it has 3 to 3"):
        table.files(1)
