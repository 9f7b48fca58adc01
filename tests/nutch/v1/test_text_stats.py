"""What `readdb -stats` and `-topN` print, character for character."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from filbert.nutch.v1 import text_stats
from filbert.nutch.v1.crawl_datum import CrawlDatum, Status
from filbert.nutch.v1.texts import pages_of

GOLDEN = Path(__file__).parents[2] / "data" / "nutch1"
TABLES = (
    ("crawldb", False, "expected-crawldb-stats.txt"),
    ("crawldb", True, "expected-crawldb-stats-sort.txt"),
    ("crawldb-large", True, "expected-crawldb-large-stats-sort.txt"),
)


@pytest.mark.parametrize(("name", "by_host", "expected"), TABLES)
def test_readdb_stats(name: str, by_host: bool, expected: str) -> None:
    """Counts, averages of 32 bits in Hadoop's order, and quantiles of the digest."""
    pages = pages_of(GOLDEN / name / "current", CrawlDatum)
    got = "".join(text_stats.crawldb_stats(pages, name, by_host=by_host))
    assert got == (GOLDEN / expected).read_text(encoding="utf-8")


def test_more_pages_than_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit only sums and quantiles of scores may differ, and only a little."""
    monkeypatch.setattr(text_stats, "EXACT", 100)
    pages = pages_of(GOLDEN / "crawldb-large" / "current", CrawlDatum)
    got = list(text_stats.crawldb_stats(pages, "crawldb-large", by_host=True))
    wanted = (GOLDEN / TABLES[2][2]).read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        if one != other:
            assert one.partition("\t")[0] == other.partition("\t")[0]
            assert math.isclose(float(one.split()[-1]), float(other.split()[-1]), rel_tol=0.15)


def test_readdb_top() -> None:
    """Pages of equal score stand in the order of two sorts of Hadoop's."""
    pages = pages_of(GOLDEN / "crawldb" / "current", CrawlDatum)
    got = "".join(text_stats.crawldb_top(pages, 10))
    assert got == (GOLDEN / "expected-crawldb-top10.txt").read_text(encoding="utf-8")


def test_top_of_more_pages_than_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the scores are the same."""
    monkeypatch.setattr(text_stats, "EXACT", 20)
    pages = pages_of(GOLDEN / "crawldb" / "current", CrawlDatum)
    got = [line.split("\t")[0] for line in text_stats.crawldb_top(pages, 10)]
    wanted = (GOLDEN / "expected-crawldb-top10.txt").read_text(encoding="utf-8")
    assert got == [line.split("\t")[0] for line in wanted.splitlines()]


def test_top_leaves_low_scores_out() -> None:
    """The third argument of `-topN`."""
    pages = [("http://a/", CrawlDatum(score=1.0)), ("http://b/", CrawlDatum(score=0.25))]
    assert list(text_stats.crawldb_top(pages, 10, least=0.5)) == ["1.0\thttp://a/\n"]


def test_stats_of_nothing() -> None:
    """An empty crawldb."""
    got = list(text_stats.crawldb_stats([], "db"))
    assert got == [
        "CrawlDb statistics start: db\n",
        "Statistics for CrawlDb: db\n",
        "TOTAL urls:\t0\n",
        "CrawlDb statistics: done\n",
    ]


def test_stats_of_scores_that_are_no_numbers() -> None:
    """They are counted apart; without any other there is no average."""
    got = list(text_stats.crawldb_stats([("http://a/", CrawlDatum(score=math.nan))], "db"))
    assert "score == NaN:\t1\n" in got
    assert not any(line.startswith(("avg score", "score quantile")) for line in got)


def test_the_highest_of_scores_that_are_not_above_zero() -> None:
    """Nutch's search begins at the smallest positive number, and so it prints that."""
    page = CrawlDatum(status=Status.DB_FETCHED, score=-1.0)
    got = list(text_stats.crawldb_stats([("http://a/", page)], "db"))
    assert "max score:\t1.401298464324817E-45\n" in got
    assert "min score:\t-1.0\n" in got


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://Example.org:80/a?b", "Example.org"),
        ("http://user:word@example.org/", "example.org"),
        ("http://[::1]:8080/", "[::1]"),
        ("http://example.org?a/b", "example.org"),
        ("file:/a/b", ""),
    ],
)
def test_hosts(url: str, host: str) -> None:
    """As Java's URL has them; a page without one counts under its status alone."""
    got = list(text_stats.crawldb_stats([(url, CrawlDatum(status=1))], "db", by_host=True))
    shown = f"   {host} :\t1\n" if host else "status 1 (db_unfetched):\t1\n"
    assert got[-2] == shown
