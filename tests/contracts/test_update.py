"""updatedb's queries give the same rows on DuckDB and on Spark."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from filbert.engine.base import Files, Query, WriteFiles
from filbert.model.schemas import CRAWL_FETCH, CRAWL_PARSE, CRAWLDB
from filbert.rules.update import TOUCHED, given_rows_sql
from filbert.steps.url_chain import VERDICTS
from filbert.store.parquet import ParquetSink
from filbert.testing.parity.reducer import read_cases, rule_for, tables_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.model.schemas import TableSchema
    from filbert.testing.parity.datums import Row
    from filbert.testing.parity.reducer_decisions import Case
    from tests.contracts.conftest import Executes, SameRows

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]

SCHEDULES = ("DefaultFetchSchedule", "AdaptiveFetchSchedule", "MimeAdaptiveFetchSchedule")


def files_of(schema: TableSchema, rows: Sequence[Row], folder: Path) -> Files:
    """The rows as Parquet."""
    with ParquetSink(schema, folder, schema.name) as sink:
        sink.extend({name: row.get(name) for name in schema.names} for row in rows)
    return Files(schema=schema, paths=tuple(str(file.path) for file in sink.files))


def cases_of(repository: Path, schedule: str) -> list[Case]:
    """Recorded cases of a configuration with that schedule and opic."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in read_cases(repository / "tests/data/golden/reducer-cases.jsonl.gz"):
        if case.config["schedule"] == schedule and case.config["scoring"] == "opic":
            groups[json.dumps(case.config, sort_keys=True)].append(case)
    return max(groups.values(), key=lambda cases: cases[0].config["db.update.max.inlinks"] == 2)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_both_halves_of_the_reducer(
    schedule: str,
    repository: Path,
    tmp_path: Path,
    same_rows: SameRows,
    local_engine: Executes,
) -> None:
    """What a round says, and what becomes of the crawldb, is equal bit for bit."""
    cases = cases_of(repository, schedule)
    tables = tables_of(cases)
    rule = rule_for(cases[0].config, cases[0].now)
    views = {
        "crawl_fetch": files_of(CRAWL_FETCH, tables["crawl_fetch"], tmp_path),
        "crawl_parse": files_of(CRAWL_PARSE, tables["crawl_parse"], tmp_path),
    }
    for derived in (
        rule.captured(),
        rule.fetched(),
        rule.linked(displaced=True),
        rule.linked(),
        rule.linked(crowded=True),
        rule.best(),
    ):
        assert same_rows(derived.sql, views)
        schema = derived.schema
        into = WriteFiles(schema=schema, directory=tmp_path, stem=schema.name)
        query = Query(name=schema.name, sql=derived.sql)
        files = local_engine.execute(query, views, into).files
        views[schema.name] = Files(schema=schema, paths=tuple(str(file.path) for file in files))
    views["crawldb"] = files_of(CRAWLDB, tables["crawldb"], tmp_path)
    assert len(same_rows(rule.crawldb_sql(seq=1), views)) > 20
    touched = same_rows(rule.touched_sql(), views)
    assert {tuple(row) for row in touched} == {TOUCHED.names}


def test_segment_rows_under_the_urls_of_the_chains(
    repository: Path, tmp_path: Path, same_rows: SameRows
) -> None:
    """A changed URL brings its place, a rejected one goes, the others stay."""
    rows = tables_of(cases_of(repository, SCHEDULES[0]))["crawl_fetch"]
    moved, dropped = rows[0]["url"], rows[1]["url"]
    verdicts = [
        {"url": moved, "target": "http://new.example/", "host": "new.example", "domain": "d"},
        {"url": dropped, "reason": "regex"},
    ]
    views = {
        "crawl_fetch": files_of(CRAWL_FETCH, rows, tmp_path),
        "verdicts": files_of(VERDICTS, verdicts, tmp_path),
    }
    got = same_rows(given_rows_sql(CRAWL_FETCH), views)
    urls = {row["url"]: row["host"] for row in got}
    assert urls["http://new.example/"] == "new.example"
    assert {moved, dropped}.isdisjoint(urls)
    assert len(got) < len(rows)


def test_both_engines_write_the_same_file(
    repository: Path, tmp_path: Path, local_engine: Executes, spark_engine: Executes
) -> None:
    """Times, types and order of a written file do not depend on the engine."""
    rows = tables_of(cases_of(repository, SCHEDULES[0]))["crawldb"]
    views = {"crawldb": files_of(CRAWLDB, rows, tmp_path)}
    query = Query(name="copy", sql="select * from crawldb")
    written = []
    for engine in (local_engine, spark_engine):
        into = WriteFiles(schema=CRAWLDB, directory=tmp_path, stem="copy", order_by="url desc")
        (file,) = engine.execute(query, views, into).files
        written.append(pq.read_table(file.path).to_pylist())
    assert written[1] == written[0]
    assert [row["url"] for row in written[0]] == sorted((r["url"] for r in rows), reverse=True)
