"""`filbert queues`: which queues of a running fetch will take longest, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.fetcher.progress import PartProgress, QueueWait, write_progress
from filbert.model.clock import FixedClock
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import ParquetSink
from filbert.store.tables import Commit
from filbert.testing.records import generate_row

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_700_000_000_000
SLOW = QueueWait(
    key="slow.test", urls=9, waits_for="crawl delay", until=NOW + 4_000, delay_ms=30_000,
    empty_at=NOW + 274_000,
)  # fmt: skip
QUICK = QueueWait(key="quick.test", urls=1, waits_for="an answer", empty_at=NOW)


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl folder with a segment whose fetch said how it is going."""
    path = tmp_path / "crawl"
    folder = CrawlFolder.create(path, clock=FixedClock(NOW), buckets=1)
    segment = folder.new_segment(NOW)
    table = segment.table("crawl_generate")
    with ParquetSink(table.schema, tmp_path, "list") as sink:
        sink.extend([generate_row("http://slow.test/")])
    table.commit(Commit(step="generate", add=sink.files))
    journal = segment.journal_dir
    journal.mkdir(parents=True)
    for number, queue in enumerate((QUICK, SLOW)):
        progress = PartProgress(
            part=number, now=NOW, started=NOW - 9_000, listed=10, ended=4, pages=4,
            pages_per_s=0.0, in_flight=1, queued=10, queue_count=2, queues=(queue,),
            slowest=(queue,), last_wait=queue.empty_at,
        )  # fmt: skip
        write_progress(journal, progress)
    return path


def test_the_slowest_comes_first(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what it waits for, for how long, and when it can be empty."""
    assert run(["queues", str(crawl), "--format", "jsonl"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["key"] for row in rows] == ["slow.test", "quick.test"]
    assert rows[0] == {
        "key": "slow.test", "urls": 9, "waits_for": "crawl delay", "seconds": 4.0,
        "delay_s": 30.0, "failures": 0, "empty_in_s": 274.0,
    }  # fmt: skip
    assert rows[1]["seconds"] is None


def test_a_person_sees_how_the_fetch_is_going(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line of the live display, the age of what was said, and as many queues as asked for."""
    assert run(["queues", str(crawl), "--slowest", "1"]) == 0
    printed = capsys.readouterr().out
    assert "8 of 20 URLs" in printed
    assert "the fetch was stopped, or is stuck" in printed
    assert "slow.test" in printed
    assert "quick.test" not in printed


def test_no_fetch_is_going_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to show is exit code 1, and said."""
    path = tmp_path / "crawl"
    CrawlFolder.create(path, clock=FixedClock(NOW), buckets=1)
    assert run(["queues", str(path)]) == 1
    assert "no fetch" in capsys.readouterr().err
