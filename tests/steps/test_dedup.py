"""Dedup: marks in the crawldb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.local import LocalEngine
from filbert.model.statuses import PageStatus
from filbert.plugins.registry import PluginRepository
from filbert.settings import Settings
from filbert.settings.engine import EngineSettings
from filbert.steps.context import StepContext
from filbert.steps.dedup import DedupOptions, run
from filbert.store.parquet import read_rows
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAME = {"status": PageStatus.DB_FETCHED, "signature": b"same", "fetch_time": 5}
A, B, C = "http://www.a.org/x", "http://m.a.org/x", "http://b.org/x"


@pytest.fixture
def context(tmp_path: Path) -> Iterator[StepContext]:
    """A step's context on an empty crawl folder."""
    paper = PaperCrawl(tmp_path / "crawl")
    settings = Settings()
    with LocalEngine(EngineSettings(processes=1, threads=1), tmp_path / "spill") as engine:
        yield StepContext(
            crawl=paper.folder,
            settings=settings,
            engine=engine,
            plugins=PluginRepository(settings, paper.folder.path),
            clock=paper.clock,
        )


def put(context: StepContext, pages: dict[str, dict[str, Any]]) -> None:
    """Make the crawldb of these pages."""
    PaperCrawl(context.crawl.path).crawldb({url: {**SAME, **said} for url, said in pages.items()})


def statuses(context: StepContext) -> dict[str, PageStatus]:
    """The statuses of all pages."""
    rows = read_rows(context.crawl.table("crawldb").files(), ("url", "status"))
    return {row["url"]: PageStatus(row["status"]) for row in rows}


def marked(context: StepContext) -> set[str]:
    """Pages marked as duplicates."""
    return {url for url, s in statuses(context).items() if s is PageStatus.DB_DUPLICATE}


def test_all_but_the_best_are_marked(context: StepContext) -> None:
    """By score, then time, then length of the URL; nothing else of the page changes."""
    put(context, {A: {"score": 1.0}, B: {"score": 3.0, "retries": 2}, C: {"score": 2.0}})
    result = run(context, DedupOptions())

    assert (marked(context), result.counters) == ({A, C}, {"duplicates": 2})


@pytest.mark.parametrize(
    ("group", "wanted"), [("none", {B, C}), ("domain", {B}), ("host", set()), (None, {B, C})]
)
def test_groups(context: StepContext, group: Any, wanted: set[str]) -> None:
    """Pages are compared within all, a domain or a host."""
    put(context, {A: {"score": 3.0}, B: {}, C: {}})
    run(context, DedupOptions(group=group))

    assert marked(context) == wanted


def test_what_nothing_tells_apart_stays(context: StepContext) -> None:
    """Both are kept, as in Nutch."""
    put(context, {"http://a.org/1": {}, "http://a.org/2": {}})
    run(context, DedupOptions())

    assert marked(context) == set()


@pytest.mark.parametrize(
    "said",
    [
        {"signature": None},
        {"signature": b"other"},
        {"status": PageStatus.DB_GONE},
        {"status": PageStatus.DB_UNFETCHED},
    ],
)
def test_only_fetched_pages_of_one_signature_are_compared(
    context: StepContext, said: dict[str, Any]
) -> None:
    """Others are no duplicates of anything."""
    put(context, {A: {"score": 3.0}, C: said})
    run(context, DedupOptions())

    assert marked(context) == set()


def test_https_wins_over_its_http_twin(context: StepContext) -> None:
    """`httpsOverHttp` compares only URLs that are equal but for the scheme."""
    put(context, {"http://a.org/": {"score": 2.0}, "https://a.org/": {}, C: {"score": 0.5}})
    order = ("httpsOverHttp", "score", "fetchTime", "urlLength")
    run(context, DedupOptions(compare_order=order))

    assert marked(context) == {"http://a.org/", C}


def test_again_changes_nothing(context: StepContext) -> None:
    """What is marked is not compared again; there is no new version."""
    put(context, {A: {"score": 3.0}, C: {}})
    run(context, DedupOptions())
    version = context.crawl.table("crawldb").version()
    result = run(context, DedupOptions())

    assert result.nothing_to_do
    assert context.crawl.table("crawldb").version() == version
