"""Tables: versions, exact files, transactions, conflicts, other readers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

from filbert.errors import DataError
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import read_rows
from filbert.store.tables import Commit, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.model.clock import FixedClock

    Page = Callable[..., dict[str, Any]]
    CommitPages = Callable[..., int]


def urls(table: Table, version: int | None = None) -> list[str]:
    """Return the URLs of a version, sorted."""
    return sorted(row["url"] for row in read_rows(table.files(version), ["url"]))


def test_a_new_table_is_version_0_and_empty(crawl: CrawlFolder) -> None:
    """Version 0 is the empty table; the rows of the first commit have seq 1."""
    table = crawl.table("crawldb")
    assert (table.version(), table.next_version(), table.count()) == (0, 1, 0)
    assert table.files().paths == ()


def test_a_table_that_is_not_there_is_empty(crawl: CrawlFolder) -> None:
    """A segment's table before its first commit has version -1, no files, no transactions."""
    table = crawl.new_segment(0).table("crawl_fetch")
    got = (table.exists(), table.version(), table.next_version(), table.files().paths)
    assert got == (False, -1, 1, ())
    assert (table.count(), table.transaction("fetch:1"), table.history()) == (0, None, [])


def test_every_version_keeps_its_exact_files(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """The files of an old version give the rows of that version."""
    table = crawl.table("crawldb")
    commit_pages(page("http://a.example/"))
    commit_pages(page("http://b.example/"), remove="all", read_version=1)
    commit_pages(page("http://c.example/"))
    assert urls(table, 0) == []
    assert urls(table, 1) == ["http://a.example/"]
    assert urls(table, 2) == ["http://b.example/"]
    assert urls(table) == ["http://b.example/", "http://c.example/"]
    assert table.count() == 2


def test_one_file_can_be_replaced(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """`remove` names files as `files()` gave them; the others stay."""
    table = crawl.table("crawldb")
    commit_pages(page("http://a.example/"))
    first = table.files().paths
    commit_pages(page("http://b.example/"))
    commit_pages(page("http://c.example/"), remove=first, read_version=2)
    assert urls(table) == ["http://b.example/", "http://c.example/"]


def test_buckets_are_pruned_by_the_log(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """A file of one bucket is read for that bucket alone; a mixed one is narrowed."""
    table = crawl.table("crawldb")
    commit_pages(page("http://a.example/", bucket=2))
    pure = table.bucket_files()
    assert {b: len(f.paths) for b, f in pure.items()} == {0: 0, 1: 0, 2: 1, 3: 0}
    assert pure[2].where == ""
    commit_pages(page("http://b.example/", bucket=0), page("http://c.example/", bucket=3))
    mixed = table.files(bucket=3)
    assert (len(mixed.paths), mixed.where) == (1, "bucket = 3")
    assert [row["url"] for row in read_rows(mixed)] == ["http://c.example/"]


def test_a_transaction_is_known_after_its_commit(
    crawl: CrawlFolder, commit_pages: CommitPages, page: Page
) -> None:
    """What was absorbed is in the same log entry as the rows."""
    table = crawl.table("crawldb")
    assert table.transaction("update:1") is None
    commit_pages(page("http://a.example/"), transactions={"update:1": 7})
    assert table.transaction("update:1") == 7


def test_a_commit_of_transactions_alone_makes_a_version(
    crawl: CrawlFolder, commit_pages: CommitPages
) -> None:
    """A step that found nothing can still say that it was done."""
    assert commit_pages(transactions={"update:1": 0}) == 1
    assert crawl.table("crawldb").transaction("update:1") == 0


def test_the_history_says_who_did_what_when(
    crawl: CrawlFolder, clock: FixedClock, page: Page, commit_pages: CommitPages
) -> None:
    """Newest first: step, the crawl's own time, transactions, metadata."""
    clock.advance(5)
    commit_pages(
        page("http://a.example/"),
        step="updatedb",
        transactions={"update:1": 1},
        metadata={"settings": "abc"},
    )
    newest, first = crawl.table("crawldb").history()
    got = (newest.version, newest.step, newest.time_ms - first.time_ms)
    assert got == (1, "updatedb", 5)
    assert (newest.transactions, newest.metadata) == ({"update:1": 1}, {"settings": "abc"})
    assert (first.version, first.step) == (0, "create")


def test_a_second_writer_gets_a_conflict_and_harms_nothing(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """A commit that read version 1 fails after version 2, says by whom, and leaves no file."""
    table = crawl.table("crawldb")
    commit_pages(page("http://a.example/"))
    commit_pages(page("http://b.example/"), step="dedup", remove="all", read_version=1)
    before = sorted(path.name for path in table.path.glob("*.parquet"))
    with pytest.raises(DataError) as caught:
        commit_pages(page("http://c.example/"), step="updatedb", remove="all", read_version=1)
    assert "crawldb was changed by another command while updatedb worked on version 1" in str(
        caught.value
    )
    assert "version 2 is by dedup" in str(caught.value)
    assert "run it again" in str(caught.value)
    assert urls(table) == ["http://b.example/"]
    assert sorted(path.name for path in table.path.glob("*.parquet")) == before


def test_an_addition_goes_with_any_version(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """Two pure additions do not disturb each other."""
    commit_pages(page("http://a.example/"))
    assert commit_pages(page("http://b.example/")) == 2
    assert crawl.table("crawldb").count() == 2


def test_a_file_removed_twice_is_a_conflict(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """Removing a file that a version does not have is refused before anything is moved."""
    commit_pages(page("http://a.example/"))
    old = crawl.table("crawldb").files().paths
    commit_pages(page("http://b.example/"), remove="all", read_version=1)
    with pytest.raises(DataError, match="has no file v000001"):
        commit_pages(remove=old)


def test_restore_brings_back_rows_and_undoes_transactions(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """Delta's restore leaves transactions in force; ours undoes those of the versions undone."""
    table = crawl.table("crawldb")
    commit_pages(page("http://a.example/"), transactions={"update:1": 1})
    commit_pages(page("http://b.example/"), transactions={"update:2": 2, "update:1": 9})
    assert table.restore(1) == 3
    assert urls(table) == ["http://a.example/"]
    assert (table.transaction("update:1"), table.transaction("update:2")) == (1, None)


def test_restore_goes_forward_again(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """A rollback can itself be rolled back, transactions included."""
    table = crawl.table("crawldb")
    commit_pages(page("http://a.example/"), transactions={"update:1": 1})
    commit_pages(page("http://b.example/"), transactions={"update:2": 2})
    table.restore(0)
    assert (table.count(), table.transaction("update:1")) == (0, None)
    assert table.restore(2) == 4
    assert (table.transaction("update:1"), table.transaction("update:2")) == (1, 2)
    assert urls(table) == ["http://a.example/", "http://b.example/"]


def test_transactions_survive_checkpoints(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """What was absorbed and what was undone is still known from a checkpoint."""
    table = crawl.table("crawldb")
    commit_pages(transactions={"update:1": 1})
    commit_pages(transactions={"update:2": 1})
    table.restore(1)
    table.load().create_checkpoint()
    assert (table.transaction("update:1"), table.transaction("update:2")) == (1, None)


def test_restore_refuses_when_files_are_gone(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """A version whose files were vacuumed cannot come back; nothing changes."""
    table = crawl.table("crawldb")
    commit_pages(page("http://a.example/"))
    commit_pages(page("http://b.example/"), remove="all", read_version=1)
    for path in table.path.glob("v000001-*"):
        path.unlink()
    with pytest.raises(DataError, match=r"version 1 .* cannot come back: 1 of its files"):
        table.restore(1)
    assert (table.version(), urls(table)) == (2, ["http://b.example/"])


def test_a_version_that_never_was_is_named(crawl: CrawlFolder) -> None:
    """The error says which versions there are."""
    with pytest.raises(DataError, match=r"has no version 9\n.*0 to 0"):
        crawl.table("crawldb").files(9)


def test_a_newer_schema_is_refused(crawl: CrawlFolder, clock: FixedClock) -> None:
    """A table of a newer filbert: what was found, what is expected, nothing changed."""
    table = crawl.table("crawldb")
    table.load().alter.set_table_properties(
        {"filbert.schemaVersion": "99"}, raise_if_not_exists=False
    )
    with pytest.raises(DataError, match="its schema is 99, this one reads up to 1"):
        table.files()
    with pytest.raises(DataError, match="newer filbert"):
        CrawlFolder.open(crawl.path, clock=clock)


def test_a_damaged_log_is_an_error_that_says_where(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """Half an entry in the log is not read around: it is reported, with the table's path."""
    table = crawl.table("crawldb")
    commit_pages(page("http://a.example/"))
    (table.log_path / f"{2:020d}.json").write_text('{"add":{"pa')
    with pytest.raises(DataError, match=r"the log of the table .*crawldb cannot be read"):
        table.files()


def test_other_readers_open_the_table(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """Polars reads the Delta table, DuckDB its files: equal rows, times as real timestamps."""
    commit_pages(page("http://a.example/", metadata={"a": "b"}, signature=b"\x01"))
    commit_pages(page("http://b.example/"), remove="all", read_version=1)
    table = crawl.table("crawldb")
    frame = pl.read_delta(str(table.path))
    assert frame["url"].to_list() == ["http://b.example/"]
    assert frame["fetch_time"].dt.epoch("ms").to_list() == [1_796_000_000_000]
    first = pl.read_delta(str(table.path), version=1)
    assert first["url"].to_list() == ["http://a.example/"]
    got = duckdb.execute(
        "select url, epoch_ms(fetch_time) from read_parquet(?)", [list(table.files().paths)]
    ).fetchall()
    assert got == [("http://b.example/", 1_796_000_000_000)]


def test_the_log_holds_bounds_of_the_columns_that_matter(
    crawl: CrawlFolder, page: Page, commit_pages: CommitPages
) -> None:
    """Bounds are JSON numbers and ISO times; a long text is cut, its upper bound rounded up."""
    long = "http://" + "h" * 100 + "/"
    commit_pages(page(long, score=0.5, fetch_time=0), page("http://b.example/", score=2.0))
    log = (crawl.table("crawldb").log_path / f"{1:020d}.json").read_text().splitlines()
    stats = next(json.loads(json.loads(line)["add"]["stats"]) for line in log if '"add"' in line)
    assert stats["numRecords"] == 2
    assert (stats["minValues"]["score"], stats["maxValues"]["score"]) == (0.5, 2.0)
    assert stats["minValues"]["fetch_time"] == "1970-01-01T00:00:00.000Z"
    assert stats["maxValues"]["host"] == "h" * 64 + "\U0010ffff"
    assert stats["nullCount"]["bucket"] == 0


def test_a_checkpoint_is_made_now_and_then(
    crawl: CrawlFolder, monkeypatch: pytest.MonkeyPatch, commit_pages: CommitPages
) -> None:
    """The log stays quick to open: every so many versions there is a checkpoint."""
    monkeypatch.setattr("filbert.store.commits.CHECKPOINT_EVERY", 3)
    for _ in range(4):
        commit_pages()
    table = crawl.table("crawldb")
    assert (table.log_path / "_last_checkpoint").exists()
    assert table.version() == 4


def test_no_conflict_on_version_minus_1(crawl: CrawlFolder) -> None:
    """A step that read a table before it was there commits against the empty version."""
    table = crawl.new_segment(0).table("crawl_fetch")
    assert table.commit(Commit(step="fetch", read_version=table.version())) == 1


def test_a_missing_commit_is_named(crawl: CrawlFolder, clock: FixedClock) -> None:
    """A gap in the log is told by its number and file, not by the library's own words."""
    table = crawl.table("crawldb")
    for number in range(3):
        table.commit(Commit(step="inject", transactions={f"t{number}": 1}))
    (table.path / "_delta_log" / f"{2:020d}.json").unlink()
    fresh = Table(table.schema, table.path, clock=clock)
    with pytest.raises(DataError, match=r"commit 2 is missing \(_delta_log/0+2\.json\)"):
        fresh.files()
