"""The crawl folder: made, opened, refused."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from filbert.errors import DataError, UserError
from filbert.store.crawl import CrawlFolder

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.clock import FixedClock

NOW = 1_796_000_000_000


def listing(path: Path) -> list[str]:
    """Return every path below `path`."""
    return sorted(str(p.relative_to(path)) for p in path.rglob("*"))


def test_create_makes_empty_tables(crawl: CrawlFolder, clock: FixedClock) -> None:
    """A new folder has crawldb, origins, linkdb and hostdb; crawldb and linkdb lie in buckets."""
    again = CrawlFolder.open(crawl.path, clock=clock)
    names = ("crawldb", "origins", "linkdb", "hostdb")
    assert [again.table(name).version() for name in names] == [0, 0, 0, 0]
    assert [again.table(name).buckets for name in names] == [4, 1, 4, 1]
    assert (again.segments(), again.index_dir.name) == ([], "index")


def test_create_takes_a_folder_with_settings(tmp_path: Path, clock: FixedClock) -> None:
    """Settings and rule files may be there before the first command."""
    (tmp_path / "filbert.toml").write_text("")
    crawl = CrawlFolder.create(tmp_path, clock=clock, buckets=1)
    assert crawl.table("crawldb").version() == 0


def test_create_adds_what_a_crash_left_out(tmp_path: Path, clock: FixedClock) -> None:
    """The crawldb is made last: without it the folder is made anew, keeping what is there."""
    crawl = CrawlFolder.create(tmp_path / "c", clock=clock, buckets=2)
    (crawl.table("crawldb").log_path / f"{0:020d}.json").unlink()
    assert not CrawlFolder.exists(tmp_path / "c")
    assert CrawlFolder.create(tmp_path / "c", clock=clock, buckets=2).table("crawldb").exists()


@pytest.mark.parametrize("kind", ["missing", "empty", "file", "photos"])
def test_what_is_no_crawl_folder_is_refused(kind: str, tmp_path: Path, clock: FixedClock) -> None:
    """Opening says what is missing and what would be right, and changes nothing."""
    path = tmp_path / kind
    if kind == "file":
        path.write_text("")
    elif kind != "missing":
        path.mkdir()
    if kind == "photos":
        (path / "2026").mkdir()
    before = listing(tmp_path)
    with pytest.raises(UserError) as caught:
        CrawlFolder.open(path, clock=clock)
    assert str(path) in caught.value.message
    assert caught.value.hint
    assert listing(tmp_path) == before


def test_create_refuses_a_folder_of_something_else(tmp_path: Path, clock: FixedClock) -> None:
    """A mistyped path does not get a crawl between other people's files."""
    (tmp_path / "photos").mkdir()
    with pytest.raises(UserError, match="not a crawl folder, and not empty: it has photos/"):
        CrawlFolder.create(tmp_path, clock=clock, buckets=1)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UserError, match="is a file"):
        CrawlFolder.create(file, clock=clock, buckets=1)
    assert listing(tmp_path) == ["file", "photos"]


def test_segments_without_a_crawldb_are_half_made(tmp_path: Path, clock: FixedClock) -> None:
    """A folder that lost its crawldb is damaged data, not a wrong argument."""
    (tmp_path / "segments" / "20261130201530").mkdir(parents=True)
    with pytest.raises(DataError, match="half-made"):
        CrawlFolder.open(tmp_path, clock=clock)


def test_a_stop_is_asked_for_and_forgotten(crawl: CrawlFolder) -> None:
    """A file `.STOP` asks the loop to end."""
    assert not crawl.stop_requested()
    (crawl.path / ".STOP").touch()
    assert crawl.stop_requested()
    crawl.clear_stop()
    assert not crawl.stop_requested()


def test_unknown_tables_and_segments(crawl: CrawlFolder) -> None:
    """A table name is ours (KeyError: a bug); a segment name is the user's (UserError)."""
    with pytest.raises(KeyError):
        crawl.table("crawl_fetch")
    with pytest.raises(UserError, match=r"has no segment 2026\n.*none yet"):
        crawl.segment("2026")


def test_data_without_their_log_are_not_begun_anew(crawl: CrawlFolder, clock: FixedClock) -> None:
    """A table whose log is gone is not taken for a new one: its rows may still be saved."""
    (crawl.path / "crawldb" / "v000001-00000-x.parquet").write_bytes(b"PAR1")
    shutil.rmtree(crawl.path / "crawldb" / "_delta_log")
    with pytest.raises(DataError, match=r"crawldb has data, but its log _delta_log is gone"):
        CrawlFolder.create(crawl.path, clock=clock, buckets=1)
