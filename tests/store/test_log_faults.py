"""What breaks in the log of a table is told by table, file and remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import DataError
from filbert.store.tables import Commit, Table

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.clock import FixedClock
    from filbert.store.crawl import CrawlFolder

NEWER = '{"protocol":{"minReaderVersion":9,"minWriterVersion":9}}\n'


@pytest.fixture
def table(crawl: CrawlFolder, clock: FixedClock) -> Table:
    """Return a table with versions 0 to 3, opened afresh."""
    made = crawl.table("crawldb")
    for number in range(3):
        made.commit(Commit(step="inject", transactions={f"t{number}": 1}))
    return Table(made.schema, made.path, clock=clock)


def _entry(table: Table, version: int) -> Path:
    return table.log_path / f"{version:020d}.json"


@pytest.mark.parametrize(
    ("version", "content", "said"),
    [
        (0, None, "commit 0 is missing"),
        (2, None, "commit 2 is missing"),
        (1, b"", "commit 1 is empty"),
        (3, b"", "commit 3 is empty"),
        (2, b"{{{", "commit 2 is damaged"),
        (2, b'{"add":{"pa', "commit 2 is damaged"),
        (2, b"\xff\xfe\x00\n", "commit 2 is damaged"),
        (2, b"[1, 2]\n", "commit 2 is damaged"),
        (3, b"\0" * 100, "commit 3 is damaged"),
        (3, NEWER.encode(), "was written for newer readers of Delta tables than this one"),
    ],
)
def test_a_fault_is_named(table: Table, version: int, content: bytes | None, said: str) -> None:
    """Missing, empty, cut off, garbage, newer: the table, the entry, and no words of a library."""
    if content is None:
        _entry(table, version).unlink()
    else:
        _entry(table, version).write_bytes(content)
    with pytest.raises(DataError, match=said) as refused:
        table.files()
    assert str(table.path) in str(refused.value)
    assert "Kernel" not in str(refused.value)
    assert "kernel" not in str(refused.value)


def test_the_newest_entry_may_be_moved_away(table: Table) -> None:
    """What a power cut left of the newest entry: the hint, followed, gives the version before."""
    _entry(table, 3).write_bytes(b"")
    with pytest.raises(DataError, match="the table is then what version 2 was"):
        table.files()
    _entry(table, 3).unlink()
    assert table.version() == 2
