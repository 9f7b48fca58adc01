"""generate's queries give the same rows on DuckDB and on Spark."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.base import Files, Query, WriteFiles
from filbert.model.schemas import CRAWLDB
from filbert.rules.generate import CANDIDATES, CHOSEN, PARTS, Selection
from filbert.rules.urls import place_of
from filbert.settings.generate import GenerateSettings
from filbert.steps.url_chain import VERDICTS
from filbert.store.parquet import ParquetSink
from filbert.testing.paper_crawl import NOW, page_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.model.schemas import TableSchema
    from tests.contracts.conftest import Executes, SameRows

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]

DAY = 86_400_000


def files_of(schema: TableSchema, rows: Sequence[Mapping[str, Any]], folder: Path) -> Files:
    """The rows as Parquet."""
    with ParquetSink(schema, folder, schema.name) as sink:
        sink.extend(rows)
    return Files(schema=schema, paths=tuple(str(file.path) for file in sink.files))


def some_pages(seed: int, count: int = 300) -> list[dict[str, Any]]:
    """Pages of all kinds."""
    random = Random(seed)
    return [
        page_row(
            "crawldb",
            f"http{random.choice(['', 's'])}://{random.choice('abcdef')}.site{n % 7}.org/é/{n}",
            status=random.randint(1, 9),
            fetch_time=NOW + random.randint(-50, 200) * DAY,
            fetch_interval=random.choice([3600, 2_592_000, 99_999_999]),
            score=random.choice([0.1, 0.25, 1.0, random.random() * 3]),
            retries=random.randint(0, 3),
            signature=random.choice([None, b"\x01\xff"]),
            generate_time=random.choice([None, NOW - DAY, NOW - 30 * DAY]),
            metadata=random.choice([None, {}, {"my-key": "7", "lang": "de"}, {"lang": "x'y"}]),
            modified_time=random.choice([None, NOW]),
            content_type=random.choice([None, "text/html"]),
        )
        for n in range(count)
    ]


def selection(**settings: Any) -> Selection:
    """A selection with opic's sort value."""
    return Selection(
        settings=GenerateSettings(**settings),
        max_interval_s=7_776_000,
        sort=("cast(score as double) * score_in",),
        now=NOW,
        add_days=1.5,
    )


EXPRESSIONS = (
    "score > 0.2 && status =~ ['db_unfetched', 'db_fetched']",
    r"url =~ 'https?://[a-c]\..*/\d+' || retries / 2 == 1",
    "my_key > 5 or lang == \"x'y\" or lang.toUpperCase() == 'DE'",
    "fetchTime < 2026-12-24T00:00:00Z and modifiedTime == 0 and not (interval % 7 == 1)",
    "(lang ?: 'none').length() > 2 ? url.contains('site3') : url =$ '5'",
    "signature == '01ff' && url.substring(0, 5) == 'https' && url.indexOf('site') > 3",
    "Content_Type != null && -score * 2.5 < -1 && 'a' + retries == 'a2'",
    r"url.matches('.*\$.*') || url =~ '.*\.org/é/.*'",
)


@pytest.mark.parametrize("expr", ["", *EXPRESSIONS])
def test_who_may_be_chosen_and_why_not(expr: str, tmp_path: Path, same_rows: SameRows) -> None:
    """Reasons, floor and candidates, for every kind of expression."""
    views = {"crawldb": files_of(CRAWLDB, some_pages(1), tmp_path)}
    choice = selection(top_n=20, expr=expr, min_score=0.2, min_interval_s=50_000_000)

    assert len(same_rows(choice.counts(), views)) >= 3
    same_rows(choice.floor(10), views)
    same_rows(choice.candidates(None), views)
    same_rows(choice.candidates(0.25), views)


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"top_n": 9, "max_num_segments": 3},
        {"top_n": 15, "max_count": 2, "count_mode": "domain"},
        {"max_count": 3, "max_num_segments": 4},
    ],
)
def test_segments_and_fetch_lists(
    limits: dict[str, Any], tmp_path: Path, same_rows: SameRows, local_engine: Executes
) -> None:
    """Candidates into segments, and whole rows into fetch lists with part and position."""
    choice = selection(**limits)
    crawldb = files_of(CRAWLDB, some_pages(2), tmp_path)
    into = WriteFiles(schema=CANDIDATES, directory=tmp_path, stem="candidates")
    query = Query(name="candidates", sql=choice.candidates(None))
    written = local_engine.execute(query, {"crawldb": crawldb}, into)
    candidates = Files(schema=CANDIDATES, paths=tuple(str(file.path) for file in written.files))
    rejected = [{"url": f"{page['url']}", "reason": "regex"} for page in some_pages(2)[::9]]
    views = {"candidates": candidates, "verdicts": files_of(VERDICTS, rejected, tmp_path)}
    chosen = same_rows(choice.choice(), views)
    assert chosen
    same_rows(choice.ranked(), views)
    domains = sorted({page["domain"] for page in some_pages(2)})
    parts = [{"part_key": domain, "part": number % 3} for number, domain in enumerate(domains)]
    views = {
        "crawldb": crawldb,
        "chosen": files_of(CHOSEN, chosen, tmp_path),
        "parts": files_of(PARTS, parts, tmp_path),
    }

    assert same_rows(choice.segment(1, parts=True), views)
    del views["parts"]
    assert same_rows(choice.segment(1, parts=False), views)
    assert len(same_rows(choice.mark(3), views)) == 300


def test_hosts_are_found(tmp_path: Path) -> None:
    """The pages above have the hosts and domains that their URLs say."""
    for page in some_pages(1):
        assert (page["host"], page["domain"]) == tuple(place_of(page["url"]))
