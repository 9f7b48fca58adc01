"""What a crash leaves behind, and what recovery may take."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from filbert.store.process import Process
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.clock import FixedClock
    from filbert.store.crawl import CrawlFolder

NOW = 1_796_000_000_000
DAY = 24 * 3600 * 1000


@pytest.fixture
def dead() -> Process:
    """A process of this host that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    this = Process.this()
    return Process(host=this.host, pid=child.pid, start="0-0")


def test_scratch_is_gone_at_exit(crawl: CrawlFolder) -> None:
    """A fresh folder in the crawl folder; nothing of it is left, also after an error."""
    with pytest.raises(FileNotFoundError), crawl.scratch("update") as path:
        (path / "no folder" / "x").touch()
    assert path.is_relative_to(crawl.path)
    assert not path.exists()


def test_recovery_takes_scratch_of_the_dead_only(crawl: CrawlFolder, dead: Process) -> None:
    """A running process keeps its folder; a dead one's goes, and the words say of which step."""
    left = crawl.path / ".scratch" / f"{dead}@updatedb-12345678"
    left.mkdir(parents=True)
    with crawl.scratch("generate") as mine:
        assert crawl.recover() == ["removed unfinished files of updatedb"]
        assert mine.exists()
    assert not left.exists()
    assert crawl.recover() == []


def test_scratch_of_another_host_goes_by_age(crawl: CrawlFolder, clock: FixedClock) -> None:
    """Nobody can be asked about it: a week must do."""
    left = crawl.path / ".scratch" / "1@0-0@elsewhere@fetch-12345678"
    left.mkdir(parents=True)
    os.utime(left, (NOW / 1000, NOW / 1000))
    assert crawl.recover() == []
    clock.advance(8 * DAY)
    assert crawl.recover() == ["removed unfinished files of fetch"]


def test_a_half_made_segment_of_the_dead_goes(crawl: CrawlFolder, dead: Process) -> None:
    """Its fetch list was never committed; one that is being made now stays."""
    mine, left = crawl.new_segment(NOW), crawl.new_segment(NOW)
    (left.path / ".making").write_text(str(dead))
    assert crawl.recover() == [
        f"removed the segment {left.name}, whose fetch list was never finished"
    ]
    assert (mine.path.exists(), left.path.exists()) == (True, False)


def test_captures_are_never_taken(crawl: CrawlFolder, dead: Process) -> None:
    """A segment with a fetch list, or with captures, is not recovery's business."""
    made, captured = crawl.new_segment(NOW), crawl.new_segment(NOW)
    made.table("crawl_generate").commit(Commit(step="generate"))
    captured.content_dir.mkdir()
    for segment in (made, captured):
        (segment.path / ".making").write_text(str(dead))
    assert crawl.recover() == []
    assert made.path.exists()
    assert captured.path.exists()


def test_processes_are_told_apart() -> None:
    """The same number at another start is another process; on another host nothing is known."""
    this = Process.this()
    assert Process.parse(str(this)) == this
    assert not this.is_dead()
    assert Process(host=this.host, pid=this.pid, start="0-1").is_dead()
    assert not Process(host="elsewhere", pid=this.pid, start="0-1").is_dead()
    assert Process.parse("no process") is None


def test_a_zombie_is_dead(tmp_path: Path) -> None:
    """A killed process that nobody waited for holds its number, but no lease."""
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert Process(host=Process.this().host, pid=child.pid, start="0-0").is_dead()
    child.stdout.close()
    child.wait()
