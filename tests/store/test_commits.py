"""A crash or a full disk between any two operations of a commit."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import DataError
from filbert.model.clock import FixedClock
from filbert.model.schemas import CRAWLDB
from filbert.store import commits, durable
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import ParquetSink, read_rows
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Page = Callable[..., dict[str, Any]]
    CommitPages = Callable[..., int]

STEPS = ("sync_file", "move", "sync_folder")


class Killed(BaseException):
    """The process ends here: no handler of ours may see it."""


class Breaker:
    """Counts the operations of a commit and breaks the one it is told to, before or after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.at = -1
        self.after = False
        self.error: BaseException = Killed()
        for name in STEPS:
            monkeypatch.setattr(durable, name, self.wrap(getattr(durable, name)))
        monkeypatch.setattr(commits, "_write_entry", self.wrap(commits._write_entry))

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return `call`, counted and breakable."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            number, self.calls = self.calls, self.calls + 1
            if number == self.at and not self.after:
                raise self.error
            result = call(*args, **kwargs)
            if number == self.at and self.after:
                raise self.error
            return result

        return counted


@pytest.fixture
def breaker(crawl: CrawlFolder, monkeypatch: pytest.MonkeyPatch) -> Breaker:
    """A breaker that is set up after the folder was made."""
    return Breaker(monkeypatch)


def state(crawl: CrawlFolder) -> tuple[list[str], int | None]:
    """Return the URLs and what was absorbed, as a fresh process sees them."""
    table = CrawlFolder.open(crawl.path, clock=FixedClock(0)).table("crawldb")
    urls = sorted(row["url"] for row in read_rows(table.files(), ["url"]))
    return urls, table.transaction("update:1")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(6))
def test_a_kill_at_any_operation_leaves_the_old_version_or_the_new(
    at: int, after: bool, crawl: CrawlFolder, breaker: Breaker, page: Page, commit_pages: Any
) -> None:
    """A commit of two files is all there or not at all; doing it again then gives the new one."""
    commit_pages(page("http://old.example/"))
    old, new = (["http://old.example/"], None), (["http://new.example/"], 1)
    breaker.calls, breaker.at, breaker.after = 0, at, after

    def replace() -> None:
        commit_pages(
            page("http://new.example/"),
            step="updatedb",
            remove="all",
            transactions={"update:1": 1},
            read_version=1,
        )

    with contextlib.suppress(Killed):
        replace()
    assert breaker.calls <= 6, "a new operation: raise the range of this test"
    breaker.at = -1
    got = state(crawl)
    assert got in (old, new)
    if got == old:
        replace()
    assert state(crawl) == new


@pytest.mark.parametrize("at", range(6))
def test_a_full_disk_at_any_operation_is_said_and_harms_nothing(
    at: int, crawl: CrawlFolder, breaker: Breaker, page: Page, commit_pages: CommitPages
) -> None:
    """'no space left' names the step and the table; with room again the same commit works."""
    commit_pages(page("http://old.example/"))
    breaker.calls, breaker.at = 0, at
    breaker.error = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(DataError, match="updatedb: commit to crawldb: no space left on the disk"):
        commit_pages(page("http://new.example/"), step="updatedb", remove="all", read_version=1)
    breaker.at = -1
    assert state(crawl)[0] in (["http://old.example/"], ["http://new.example/"])


def test_an_error_after_the_entry_is_no_failure(
    crawl: CrawlFolder, breaker: Breaker, page: Page, commit_pages: CommitPages
) -> None:
    """A library that raises although its entry is in the log has committed: the files stay."""
    breaker.calls, breaker.at, breaker.after = 0, 3, True
    breaker.error = OSError(errno.EIO, "the checkpoint failed")
    assert commit_pages(page("http://new.example/"), transactions={"update:1": 1}) == 1
    assert state(crawl) == (["http://new.example/"], 1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB; skips aloud where it cannot be mounted."""
    path = tmp_path / "small"
    path.mkdir()
    mounted = os.geteuid() == 0 and (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(path)],
            check=False,
            capture_output=True,
        ).returncode
        == 0
    )
    if not mounted:
        pytest.skip("a small file system needs root and the right to mount")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def fill(path: Path) -> Path:
    """Fill the file system with one file and return it."""
    ballast = path / "ballast"
    with ballast.open("wb") as file:
        try:
            while True:
                file.write(os.urandom(65536))
                file.flush()
        except OSError:
            pass
    return ballast


def test_a_disk_that_is_really_full(small_disk: Path, page: Page) -> None:
    """On 2 MB: writing rows and committing them both say 'no space left'; then going on works."""
    crawl = CrawlFolder.create(small_disk / "crawl", clock=FixedClock(0), buckets=4)
    table = crawl.table("crawldb")

    def write(directory: Path, url: str) -> Commit:
        with ParquetSink(CRAWLDB, directory, "rows") as sink:
            sink.append(page(url))
        return Commit(step="inject", add=sink.files)

    elsewhere = small_disk.parent / "elsewhere"
    table.commit(write(elsewhere, "http://old.example/"))
    ready = write(elsewhere, "http://new.example/")
    ballast = fill(small_disk)
    with pytest.raises(DataError, match="no space left"):
        write(small_disk / "crawl" / "rows", "http://new.example/")
    with pytest.raises(DataError, match="inject: commit to crawldb: no space left"):
        table.commit(ready)
    with pytest.raises(DataError, match="no space left"):
        table.commit(Commit(step="updatedb", remove="all", read_version=1))
    assert state(crawl)[0] == ["http://old.example/"]
    ballast.unlink()
    table.commit(write(elsewhere, "http://new.example/"))
    assert state(crawl)[0] == ["http://new.example/", "http://old.example/"]
