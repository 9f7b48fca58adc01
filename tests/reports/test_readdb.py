"""Figures and rows of the crawldb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from filbert.errors import UserError
from filbert.reports.readdb import Selection, dump, dump_parquet, find, top
from filbert.reports.stats import crawldb_stats
from filbert.store.crawl import CrawlFolder

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Grove  # type: ignore[import-not-found]
    from filbert.settings.engine import EngineSettings

OAK, HAZEL, ELM = "http://oak.test/", "http://hazel.test/nuts", "http://elm.test/"


def test_stats_are_nutchs_figures(grove: Grove, engine: EngineSettings) -> None:
    """Nutch's names in Nutch's order (CrawlDbReader -stats)."""
    figures = crawldb_stats(grove.folder, engine)
    assert [(f.name, f.text) for f in figures if "quantile" not in f.name] == [
        ("TOTAL urls", "3"),
        ("shortest fetch interval", "30 days, 00:00:00"),
        ("longest fetch interval", "30 days, 00:00:00"),
        ("avg fetch interval", "30 days, 00:00:00"),
        ("earliest fetch time", "2026-11-30 00:53"),
        ("latest fetch time", "2026-12-30 00:53"),
        ("avg of fetch times", "2026-12-10 00:53"),
        ("retry 0", "2"),
        ("retry 1", "1"),
        ("min score", "0.5"),
        ("avg score", "1.16667"),
        ("max score", "2"),
        ("status 1 (db_unfetched)", "1"),
        ("status 2 (db_fetched)", "1"),
        ("status 3 (db_gone)", "1"),
    ]
    quantiles = {f.name: f.value for f in figures if "quantile" in f.name}
    assert len(quantiles) == 15
    assert quantiles["score quantile 0.5"] == 1.0
    assert quantiles["score quantile 0.99"] == 2.0


def test_stats_by_host(grove: Grove, engine: EngineSettings) -> None:
    """With -sort, hosts stand under their status."""
    figures = crawldb_stats(grove.folder, engine, by_host=True)
    assert [(f.name, f.value) for f in figures[-6:]] == [
        ("status 1 (db_unfetched)", 1),
        ("   elm.test", 1),
        ("status 2 (db_fetched)", 1),
        ("   oak.test", 1),
        ("status 3 (db_gone)", 1),
        ("   hazel.test", 1),
    ]


def test_stats_of_nothing(tmp_path: Path, grove: Grove, engine: EngineSettings) -> None:
    """An empty crawldb has a total and no more."""
    empty = CrawlFolder.create(tmp_path / "empty", clock=grove.paper.clock, buckets=4)
    assert [(f.name, f.value) for f in crawldb_stats(empty, engine)] == [("TOTAL urls", 0)]


def test_a_score_that_is_no_number_is_counted_apart(grove: Grove, engine: EngineSettings) -> None:
    """NaN spoils neither the bounds nor the quantiles."""
    grove.paper.crawldb({OAK: {"status": 1, "score": float("nan")}, ELM: {"status": 1}})
    figures = {f.name: f.value for f in crawldb_stats(grove.folder, engine)}
    assert (figures["score == NaN"], figures["max score"]) == (1, 1.0)


def test_find_one(grove: Grove, engine: EngineSettings) -> None:
    """The row of a URL, or None."""
    row = find(grove.folder, ELM, engine)
    assert row is not None
    assert (row["url"], row["status"], row["metadata"]) == (ELM, "db_unfetched", {"k": "v"})
    assert find(grove.folder, "http://o'brien.test/", engine) is None


def test_top(grove: Grove, engine: EngineSettings) -> None:
    """By score, then URL; only those of the least score or more."""
    assert [r["url"] for r in top(grove.folder, 2, engine)] == [OAK, HAZEL]
    assert [r["url"] for r in top(grove.folder, 9, engine, min_score=1.5)] == [OAK]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, [ELM, HAZEL, OAK]),
        ({"regex": r"http://[eo].*"}, [ELM, OAK]),
        ({"regex": "oak"}, []),
        ({"status": "DB_Gone"}, [HAZEL]),
        ({"retry": 1}, [HAZEL]),
        ({"expr": "score >= 1 and host like 'o%' -- of course"}, [OAK]),
        ({"sample": 1.0}, [ELM, HAZEL, OAK]),
        ({"sample": 0.0}, []),
        ({"status": "db_gone", "retry": 2}, []),
    ],
)
def test_dump_chooses(
    said: dict[str, Any], expected: list[str], grove: Grove, engine: EngineSettings
) -> None:
    """All conditions hold together; a pattern must match the whole URL."""
    with dump(grove.folder, Selection(**said), engine) as answer:
        assert sorted(row["url"] for row in answer.rows) == expected


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"status": "fetched"}, "did you mean db_fetched"),
        ({"regex": "("}, "the pattern '\\(' is wrong"),
        ({"expr": "1=1); drop view crawldb; select (1"}, "only reads|statements were given"),
        ({"expr": "scoer > 1"}, "scoer"),
    ],
)
def test_a_wrong_condition_is_refused(
    said: dict[str, Any], message: str, grove: Grove, engine: EngineSettings
) -> None:
    """The error says what would be right."""
    with pytest.raises(UserError, match=message), dump(grove.folder, Selection(**said), engine):
        pass


def test_dump_as_parquet(grove: Grove, engine: EngineSettings, tmp_path: Path) -> None:
    """One file with real timestamps; nothing else is left beside it."""
    output = tmp_path / "out" / "dump.parquet"
    output.parent.mkdir()
    assert dump_parquet(grove.folder, Selection(retry=1), engine, output) == 1
    table = pq.read_table(output)
    assert table["url"].to_pylist() == [HAZEL]
    assert str(table.schema.field("fetch_time").type) == "timestamp[us]"
    assert [path.name for path in output.parent.iterdir()] == ["dump.parquet"]
