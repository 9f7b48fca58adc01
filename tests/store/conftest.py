"""Crawl folders, rows and files for the tests of the store."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from filbert.model.clock import FixedClock
from filbert.model.schemas import CRAWLDB
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import ParquetSink
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.model.schemas import TableSchema

NOW = 1_796_000_000_000
BUCKETS = 4


def _page(url: str, **values: Any) -> dict[str, Any]:
    host = url.split("/")[2]
    bucket = int(hashlib.md5(url.encode()).hexdigest()[:8], 16) % BUCKETS
    row = {
        "url": url,
        "bucket": bucket,
        "host": host,
        "domain": host,
        "status": 1,
        "fetch_time": NOW,
        "retries": 0,
        "fetch_interval": 2_592_000,
        "score": 1.0,
        "seq": 1,
    }
    return row | values


@pytest.fixture
def page() -> Callable[..., dict[str, Any]]:
    """Make a row of the crawldb: `page(url, column=value …)`."""
    return _page


@pytest.fixture
def clock() -> FixedClock:
    """A clock that stands still."""
    return FixedClock(NOW)


@pytest.fixture
def crawl(tmp_path: Path, clock: FixedClock) -> CrawlFolder:
    """A crawl folder with empty tables."""
    return CrawlFolder.create(tmp_path / "crawl", clock=clock, buckets=BUCKETS)


@pytest.fixture
def write(crawl: CrawlFolder) -> Callable[..., tuple[WrittenFile, ...]]:
    """Write rows into one Parquet file that nobody has committed yet."""

    def write_rows(schema: TableSchema, rows: Sequence[dict[str, Any]]) -> tuple[WrittenFile, ...]:
        with ParquetSink(schema, crawl.path / ".scratch" / "test", "rows") as sink:
            sink.extend(rows)
        return sink.files

    return write_rows


@pytest.fixture
def commit_pages(
    crawl: CrawlFolder, write: Callable[..., tuple[WrittenFile, ...]]
) -> Callable[..., int]:
    """Commit rows to the crawldb and return the version."""

    def commit(*rows: dict[str, Any], step: str = "inject", **values: Any) -> int:
        return crawl.table("crawldb").commit(
            Commit(step=step, add=write(CRAWLDB, rows) if rows else (), **values)
        )

    return commit
