"""The queries of `index` give the same rows on DuckDB and on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.base import Files, Query, WriteFiles
from filbert.model.statuses import FetchStatus, PageStatus, ParseMajor
from filbert.rules import index as rules
from filbert.store.parquet import ParquetSink
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.contracts.conftest import Executes, SameRows

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]

A, B, C, D, E = (f"http://{name}.test/" for name in "abcde")
INSIDE = "http://a.test/x.zip!/y"
EVERY = rules.IndexRules(
    delete=True, delete_noindex=True, delete_failed_parse=True, skip_notmodified=True
)


@pytest.fixture
def views(tmp_path: Path) -> dict[str, Files]:
    """Two segments with a verdict of each kind, a document inside another, and inlinks."""
    paper = PaperCrawl(tmp_path / "crawl")
    headers = {"content_metadata": {"Content-Type": ["text/html", "x"]}, "language": "en"}
    first = paper.segment(
        {
            A: {"text": "one", "parsed": headers},
            B: {"text": "one"},
            C: {"text": "x", "parsed": {"robots_noindex": True}},
            D: {"text": "x", "parsed": {"major": ParseMajor.FAILED}},
            INSIDE: {"text": "inside"},
        },
        links=[{"url": INSIDE, "from_url": A, "kind": "subdocument", "fetch_time": 1}],
    )
    second = paper.segment(
        {A: {"text": "two"}, B: {"status": FetchStatus.FETCH_RETRY}, E: {"text": "y"}}
    )
    pages: dict[str, PageStatus | Mapping[str, Any]] = {
        A: {"status": PageStatus.DB_FETCHED, "score": 2.5, "metadata": {"k": "v"}},
        B: {"status": PageStatus.DB_NOTMODIFIED},
        E: {"status": PageStatus.DB_DUPLICATE},
        "http://gone.test/": {"status": PageStatus.DB_GONE},
    }
    paper.crawldb(pages, absorbs=[first, second])
    paper.rows("linkdb", [{"url": A, "from_url": B, "anchor": "link"}, {"url": A, "from_url": C}])
    made = {name: paper.folder.table(name).files() for name in ("crawldb", "linkdb")}
    tables = {
        "fetch": "crawl_fetch",
        "rows": "crawl_parse",
        "data": "parse_data",
        "text": "parse_text",
    }
    for number, segment in enumerate((first, second)):
        for view, table in tables.items():
            made[f"{view}_{number}"] = segment.table(table).files()
    return made


@pytest.mark.parametrize("decided", [EVERY, rules.IndexRules()], ids=["every", "none"])
def test_documents(decided: rules.IndexRules, views: dict[str, Files], same_rows: SameRows) -> None:
    """Each page gets the same verdict, from the same record, in the same chunk."""
    got = same_rows(rules.documents_sql(["20260101000000", "20260102000000"], decided, 7), views)
    newest = {row["url"]: row["segment"] for row in got}
    assert newest[A] == "20260102000000"
    assert newest[B] == "20260101000000"


def test_truth_and_inlinks(
    views: dict[str, Files], tmp_path: Path, same_rows: SameRows, local_engine: Executes
) -> None:
    """Untrue and unknown pages, and the inlinks of documents, are the same."""
    sql = rules.documents_sql(["20260101000000", "20260102000000"], EVERY, 2)
    target = WriteFiles(schema=rules.DOCUMENTS, directory=tmp_path, stem="documents")
    written = local_engine.execute(Query(name="index", sql=sql), views, target)
    documents = Files(schema=rules.DOCUMENTS, paths=tuple(str(f.path) for f in written.files))
    with ParquetSink(rules.INDEXED, tmp_path, "indexed") as sink:
        sink.extend([{"url": A}, {"url": "http://unknown.test/"}])
    indexed = Files(schema=rules.INDEXED, paths=tuple(str(file.path) for file in sink.files))
    crawldb, linkdb = views["crawldb"], views["linkdb"]
    got = (
        same_rows(rules.inlinks_sql(), {"documents": documents, "linkdb": linkdb}),
        same_rows(rules.untrue_sql(), {"documents": documents, "crawldb": crawldb}),
        same_rows(rules.unknown_sql(), {"indexed": indexed, "crawldb": crawldb}),
        same_rows(
            rules.undone_sql(),
            {
                "undone": views["fetch_1"],
                "documents": Files(schema=rules.DOCUMENTS),
                "crawldb": crawldb,
            },
        ),
    )
    assert [row["from_url"] for row in got[0]] == [B]
    assert got[1] == [{"url": "http://gone.test/", "reason": "gone"}]
    assert got[2] == [{"url": "http://unknown.test/", "reason": "unknown"}]
    assert got[3] == [{"url": E, "reason": "undone"}]
