"""Our generate beside decisions of Nutch's Generator.

Guarantee: each case runs through the step `filbert generate` itself, on a crawl folder made of the
case's rows. The segments must hold the same rows; their order says nothing (Nutch lists them as
the file system does). Where scores tie, which row comes first is chance in Nutch: there, its
segments must be what our rule gives under some order of the equal rows, found by replaying them.
Source: golden/README: generator-cases.jsonl.gz.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filbert.engine.local import LocalEngine
from filbert.model.clock import FixedClock
from filbert.model.schemas import CRAWLDB
from filbert.plugins.registry import PluginRepository
from filbert.rules.urls import place_of, url_hash
from filbert.settings import Settings
from filbert.settings.generate import GenerateSettings
from filbert.settings.schedule import ScheduleSettings
from filbert.steps.context import StepContext
from filbert.steps.generate import GenerateOptions
from filbert.steps.generate import run as generate
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import ParquetSink, read_rows
from filbert.store.tables import Commit
from filbert.testing.parity.generator_replay import Tied, can_be_replayed
from filbert.testing.parity.report import Difference, ParityReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["run"]

_NO_STATUS_NAME = ""
_COLUMNS = ("url", "host", "domain", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    number: int
    db: int
    ties: bool
    options: dict[str, Any]
    segments: tuple[frozenset[int], ...]


def run(path: Path) -> ParityReport:
    """Run the cases of a file through generate and compare."""
    agree = 0
    found: list[Difference] = []
    rows: dict[int, list[list[Any]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for entry in _entries(path):
            if entry["type"] == "crawldb":
                rows[entry["db"]] = entry["rows"]
                _make_crawl(Path(scratch) / str(entry["db"]), entry["columns"], entry["rows"])
                continue
            case = _case(entry)
            numbers = {row[0]: number for number, row in enumerate(rows[case.db])}
            wrong = _compare(Path(scratch) / str(case.db), case, numbers)
            if wrong is None:
                agree += 1
            else:
                found.append(wrong)
    return ParityReport(agree=agree, differences=tuple(found))


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="ascii") as lines:
        for line in lines:
            yield json.loads(line)


def _case(entry: dict[str, Any]) -> _Case:
    return _Case(
        number=entry["id"],
        db=entry["db"],
        ties=entry["ties"],
        options=entry["options"],
        segments=tuple(frozenset(segment) for segment in entry["segments"]),
    )


def _make_crawl(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    crawl = CrawlFolder.create(path, clock=FixedClock(0), buckets=1)
    with crawl.scratch("parity") as scratch, ParquetSink(CRAWLDB, scratch, "crawldb") as sink:
        sink.extend(_page(dict(zip(columns, row, strict=True))) for row in rows)
        sink.__exit__(None, None, None)
        crawl.table("crawldb").commit(Commit(step="import", add=sink.files))


def _page(row: dict[str, Any]) -> dict[str, Any]:
    place = place_of(row["url"])
    return {
        "url": row["url"],
        "bucket": url_hash(row["url"]) % 1,
        "host": place.host,
        "domain": place.domain,
        "status": row["status"],
        "fetch_time": row["fetchTime"],
        "modified_time": row["modifiedTime"] or None,
        "retries": row["retries"],
        "fetch_interval": row["interval"],
        "score": row["score"],
        "generate_time": row["generateTime"],
        "seq": 1,
    }


def _compare(path: Path, case: _Case, numbers: dict[str, int]) -> Difference | None:
    ours = _generated(path, case, _settings(case))
    got = sorted(sorted(numbers[row["url"]] for row in segment) for segment in ours)
    if got == sorted(sorted(segment) for segment in case.segments):
        return None
    if not case.ties:
        return _difference(case, "not the same rows", got)
    everything = _settings(case, top_n=-1, max_count=-1, max_num_segments=1)
    key = case.options["generate.count.mode"]
    eligible = [
        Tied(number=numbers[row["url"]], key=row[key], score=row["score"])
        for segment in _generated(path, case, everything)
        for row in segment
    ]
    if can_be_replayed(eligible, case.segments, _settings(case).generate):
        return None
    return _difference(case, "no order of the equal scores gives these rows", got)


def _difference(case: _Case, what: str, got: list[list[int]]) -> Difference:
    theirs = sorted(sorted(segment) for segment in case.segments)
    return Difference(
        case=str(case.number), what=f"{what}; {case.options}", theirs=str(theirs), ours=str(got)
    )


def _settings(case: _Case, **changed: int) -> Settings:
    options = dict(case.options)
    top_n, expr = options.pop("topN"), options.pop("expr")
    generate_settings = GenerateSettings(
        top_n=-1 if top_n is None else top_n,
        max_count=options.pop("generate.max.count"),
        count_mode=options.pop("generate.count.mode"),
        max_num_segments=options.pop("maxNumSegments"),
        min_score=float(options.pop("generate.min.score")),
        min_interval_s=options.pop("generate.min.interval"),
        restrict_status=options.pop("generate.restrict.status"),
        expr=expr or "",
        gen_delay_ms=options.pop("crawl.gen.delay"),
        filter=options.pop("filter"),
        normalize=options.pop("normalize"),
    )
    schedule = ScheduleSettings(interval_max_s=options.pop("db.fetch.interval.max"))
    del options["curTime"], options["adddays"]  # curTime has the days in it
    if options:
        raise LookupError(f"case {case.number} has options that mean nothing here: {options}")
    return Settings(generate=generate_settings.model_copy(update=changed), schedule=schedule)


def _generated(path: Path, case: _Case, settings: Settings) -> list[list[dict[str, Any]]]:
    """Run the step; return the rows of its segments."""
    clock = FixedClock(case.options["curTime"])
    crawl = CrawlFolder.open(path, clock=clock)
    with crawl.scratch("engine") as spill, LocalEngine(settings.engine, spill) as engine:
        context = StepContext(
            crawl=crawl,
            settings=settings,
            engine=engine,
            plugins=PluginRepository(settings, path),
            clock=clock,
        )
        result = generate(context, GenerateOptions())
    return [
        list(read_rows(crawl.segment(name).table("crawl_generate").files(), _COLUMNS))
        for name in result.segments
    ]
