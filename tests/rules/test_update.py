"""updatedb's queries: what links, limits and forced refetching do, beside the golden cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.base import Collect, Files, Query, WriteFiles
from filbert.engine.local import LocalEngine
from filbert.model.schemas import CRAWL_FETCH, CRAWL_PARSE, CRAWLDB
from filbert.model.statuses import FetchStatus, PageStatus
from filbert.plugins.contracts import SqlColumn
from filbert.plugins.schedules.default import DefaultSchedule
from filbert.plugins.scoring.opic import OpicScoring
from filbert.rules.update import UpdateRule
from filbert.rules.urls import url_hash
from filbert.settings import Settings
from filbert.settings.engine import EngineSettings
from filbert.store.parquet import ParquetSink
from filbert.testing.paper_crawl import page_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from filbert.model.schemas import TableSchema
    from filbert.plugins.contracts import Scoring

A, B = "http://a.example/", "http://b.example/"
NOW = 1_796_000_000_000
Row = dict[str, Any]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    """An engine for the module."""
    with LocalEngine(EngineSettings(threads=1), tmp_path_factory.mktemp("engine")) as made:
        yield made


class Paper:
    """Rows in, rows out."""

    def __init__(self, engine: LocalEngine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self.tables: dict[str, list[Row]] = {"crawldb": [], "crawl_fetch": [], "crawl_parse": []}
        self.settings = Settings()
        self.crowded = False
        self.scorings: list[Scoring] = [OpicScoring(self.settings.scoring)]

    def old(self, url: str, **said: Any) -> None:
        """A page of the crawldb."""
        row = {"status": PageStatus.DB_UNFETCHED, "fetch_time": 5, "seq": 1, **said}
        self.tables["crawldb"].append(page_row("crawldb", url, **row))

    def fetch(self, url: str, **said: Any) -> None:
        """A row of crawl_fetch."""
        row = {"status": FetchStatus.FETCH_SUCCESS, "fetch_time": NOW - 1, **said}
        self.tables["crawl_fetch"].append(page_row("crawl_fetch", url, **row))

    def link(self, url: str, score: float, **said: Any) -> None:
        """A link to `url`."""
        rows = self.tables["crawl_parse"]
        row = {"kind": "outlink", "to_db": True, "score": score, "ordinal": len(rows), **said}
        rows.append(page_row("crawl_parse", url, **row))

    def update(self) -> dict[str, Row]:
        """What becomes of the crawldb."""
        rule = UpdateRule(
            settings=self.settings,
            schedule=DefaultSchedule(self.settings.schedule),
            scorings=self.scorings,
            now=NOW,
            buckets=4,
        )
        views = {
            name: self._files(schema, self.tables[name])
            for name, schema in (("crawl_fetch", CRAWL_FETCH), ("crawl_parse", CRAWL_PARSE))
        }
        linked = rule.linked(crowded=self.crowded)
        for derived in (rule.captured(), rule.fetched(), linked, rule.best()):
            schema = derived.schema
            into = WriteFiles(schema=schema, directory=self._folder, stem=schema.name)
            query = Query(name=schema.name, sql=derived.sql)
            files = self._engine.execute(query, views, into).files
            views[schema.name] = Files(schema=schema, paths=tuple(str(file.path) for file in files))
        views["crawldb"] = self._files(CRAWLDB, self.tables["crawldb"])
        query = Query(name="update", sql=rule.crawldb_sql(seq=7))
        table = self._engine.execute(query, views, Collect()).table
        assert table is not None
        return {row["url"]: row for row in table.to_pylist()}

    def _files(self, schema: TableSchema, rows: Sequence[Row]) -> Files:
        with ParquetSink(schema, self._folder, schema.name) as sink:
            sink.extend(rows)
        return Files(schema=schema, paths=tuple(str(file.path) for file in sink.files))


@pytest.fixture
def paper(engine: LocalEngine, tmp_path: Path) -> Paper:
    """Nothing yet."""
    return Paper(engine, tmp_path)


def test_a_page_left_alone_keeps_all_it_had(paper: Paper) -> None:
    """Neither fetched nor linked: not a column changes, nor the version that wrote it."""
    paper.old(A, generate_time=3, metadata={"k": "v"}, score=0.25, retries=2)
    paper.fetch(B)
    got = paper.update()[A]
    kept = {name: got[name] for name in CRAWLDB.names}
    kept["metadata"] = dict(kept["metadata"])
    assert kept == {**dict.fromkeys(CRAWLDB.names), **paper.tables["crawldb"][0]}
    assert paper.update()[B]["seq"] == 7


@pytest.mark.parametrize(("limit", "score"), [(1, 4.0), (2, 7.0), (3, 9.0), (10, 9.0)])
def test_of_too_many_links_the_best_count(paper: Paper, limit: int, score: float) -> None:
    """`update.max_inlinks` keeps the links of best score (Nutch's queue drops them)."""
    update = paper.settings.update.model_copy(update={"max_inlinks": limit})
    paper.settings = paper.settings.model_copy(update={"update": update})
    paper.crowded = True
    for given in (2.0, 4.0, 3.0):
        paper.link(A, given)
    assert paper.update()[A]["score"] == score


def test_a_new_page_has_the_metadata_of_its_best_link(paper: Paper) -> None:
    """Of the links to a new page, that of best score gives it depth, metadata and the like."""
    paper.link(A, 1.0, metadata={"from": "first"}, depth=9)
    paper.link(A, 2.0, metadata={"from": "best"})
    paper.link(B, 2.0)
    got = paper.update()
    assert (got[A]["metadata"], got[A]["depth"]) == ([("from", "best")], None)
    assert got[B]["metadata"] is None


def test_a_page_with_too_long_an_interval_is_forced(paper: Paper) -> None:
    """An interval beyond the greatest is cut, and the page counts as not fetched."""
    paper.old(A, signature=b"old")
    paper.fetch(A, fetch_interval=9_000_000, signature=b"new")
    got = paper.update()[A]
    assert (got["status"], got["fetch_interval"], got["signature"], got["modified_time"]) == (
        PageStatus.DB_UNFETCHED,
        6_998_400,
        None,
        None,
    )
    assert got["fetch_time"] == NOW - 1 + 9_000_000_000


def test_a_page_without_a_page_of_its_own_is_no_page(paper: Paper) -> None:
    """A signature alone makes no page."""
    paper.link(A, 0.0, kind="signature", signature=b"s")
    assert paper.update() == {}


def test_scoring_plugins_make_a_chain(paper: Paper) -> None:
    """Each plugin's score goes into the next one; aggregates are their own."""

    class Doubling(OpicScoring):
        def link_aggregates(self) -> tuple[SqlColumn, ...]:
            return (SqlColumn("most", "max(cast(score as double))"),)

        def update(self) -> str:
            return "score_in * cast('2' as double) + coalesce(most, cast('0' as double))"

    paper.scorings = [*paper.scorings, Doubling(paper.settings.scoring)]
    paper.old(A, score=3.0)
    paper.link(A, 1.0)
    paper.link(A, 0.5)
    assert paper.update()[A]["score"] == (3.0 + 1.5) * 2 + 1.0


def test_the_bucket_is_that_of_the_url(paper: Paper) -> None:
    """New pages go to the bucket of their URL's hash."""
    paper.link(A, 1.0)
    assert paper.update()[A]["bucket"] == url_hash(A) % 4
