"""Queries of invertlinks and dedup give the same rows on DuckDB and on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.base import Files
from filbert.model.schemas import CRAWL_PARSE, CRAWLDB, LINKDB, PARSE_DATA
from filbert.rules.dedup import DUPLICATES, duplicates, mark
from filbert.rules.links import LINKS, NEWEST, PARSED, again, links, merge, newest, parsed
from filbert.settings.dedup import DedupSettings
from filbert.settings.links import LinksSettings
from filbert.steps.url_chain import VERDICTS
from filbert.store.parquet import ParquetSink
from filbert.testing.paper_crawl import page_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.model.schemas import TableSchema
    from tests.contracts.conftest import SameRows

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]

SITES = [
    "http://a.org:81/",
    "http://me@b.org/",
    "http://[::1]:9/x",
    "http://c.org",
    "http://d.org/?q",
]

TAILS = ["x", "%C3%A9", "%ff", "%4"]


def files_of(schema: TableSchema, rows: Sequence[Mapping[str, Any]], folder: Path) -> Files:
    """The rows as Parquet."""
    with ParquetSink(schema, folder, schema.name) as sink:
        sink.extend(rows)
    return Files(schema=schema, paths=tuple(str(file.path) for file in sink.files))


def link_rows() -> list[dict[str, Any]]:
    """Every site links to every site, some twice."""
    return [
        page_row(
            "crawl_parse",
            target,
            from_url=source,
            ordinal=number,
            kind="outlink",
            to_linkdb=number % 5 > 0,
            anchor=[None, "", "Ünï longer than that", "x"][number % 4],
            metadata=[None, {"k": "v"}][number % 2],
        )
        for source in SITES
        for number, target in enumerate([*SITES, *SITES])
    ]


@pytest.mark.parametrize("ignored", [{}, {"ignore_internal": False, "ignore_external": True}])
def test_links_of_segments(ignored: dict[str, bool], tmp_path: Path, same_rows: SameRows) -> None:
    """Links out of crawl_parse and linkdb, the newest parses, and the merge of a bucket."""
    settings = LinksSettings(max_anchor_length=5, max_inlinks=3, **ignored)
    verdicts = [{"url": SITES[0], "reason": "regex"}, {"url": SITES[3], "target": "http://c.org/"}]
    old = [
        page_row("linkdb", SITES[1], from_url=source, anchor="old", bucket=0) for source in SITES
    ]
    views = {
        "crawl_parse": files_of(CRAWL_PARSE, link_rows(), tmp_path),
        "verdicts": files_of(VERDICTS, verdicts, tmp_path),
        "linkdb": files_of(LINKDB, old, tmp_path),
    }
    found = same_rows(links(settings, segment=2, buckets=1), views)
    assert found
    assert len(same_rows(again(1), views)) == 4
    data = [page_row("parse_data", url, major=n % 2) for n, url in enumerate(SITES)]
    parses = same_rows(parsed(2), {"parse_data": files_of(PARSE_DATA, data, tmp_path)})
    parses += [{"url": SITES[3], "segment": 3}]
    latest = same_rows(newest(), {"parsed": files_of(PARSED, parses, tmp_path)})
    views = {
        "linkdb": views["linkdb"],
        "links": files_of(LINKS, found, tmp_path),
        "newest": files_of(NEWEST, latest, tmp_path),
    }
    for keep_old in (True, False):
        assert same_rows(merge(settings, bucket=0, fresh={2}, keep_old=keep_old), views)


@pytest.mark.parametrize("group", ["none", "host", "domain"])
def test_duplicates(group: Any, tmp_path: Path, same_rows: SameRows) -> None:
    """Who is marked, by all criteria, and the bucket afterwards."""
    pages = [
        page_row(
            "crawldb",
            f"http{'s' * (n % 2)}://{'wm'[n // 3 % 2]}.a{n // 12}.org/{TAILS[n % 4]}",
            status=[2, 2, 6, 3][n % 4],
            score=[1.0, 2.0, 2.0][n % 3],
            signature=[b"one", b"one", b"one", None][n % 4],
            fetch_time=n % 5,
        )
        for n in range(24)
    ]
    pages = list({page["url"]: page for page in pages}.values())
    view = files_of(CRAWLDB, pages, tmp_path)
    order = ("httpsOverHttp", "urlLength", "score", "fetchTime")
    found = same_rows(
        duplicates(DedupSettings(group=group, compare_order=order)), {"crawldb": view}
    )
    views = {"crawldb": view, "duplicates": files_of(DUPLICATES, found, tmp_path)}

    assert found
    assert len(same_rows(mark(9), views)) == len(pages)
