"""Our updatedb beside decisions of Nutch's CrawlDbReducer.

Guarantee: each case runs through the queries that `filbert updatedb` runs. Scores compare within
1e-6 of all scores that went in; everything else exactly. A difference is "by decision" only as
`reducer_decisions` says.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filbert.engine.base import Collect, Files, Query, WriteFiles
from filbert.engine.local import LocalEngine
from filbert.model.schemas import CRAWL_FETCH, CRAWL_PARSE, CRAWLDB
from filbert.plugins.rule_files import RuleText
from filbert.plugins.schedules.adaptive import AdaptiveSchedule
from filbert.plugins.schedules.default import DefaultSchedule
from filbert.plugins.schedules.host_intervals import read_host_intervals
from filbert.plugins.schedules.mime_adaptive import MimeAdaptiveSchedule, read_mime_rates
from filbert.plugins.scoring.opic import OpicScoring
from filbert.rules.reapply import MOVED, reapplied
from filbert.rules.update import UpdateRule
from filbert.rules.urls import place_of
from filbert.settings import Settings
from filbert.store.parquet import ParquetSink
from filbert.testing.parity.datums import columns_of
from filbert.testing.parity.reducer_decisions import Case, Outcome, decided, differences
from filbert.testing.parity.report import Difference, ParityReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from filbert.engine.base import Engine
    from filbert.model.schemas import TableSchema
    from filbert.plugins.contracts import Schedule
    from filbert.testing.parity.datums import Row

__all__ = ["read_cases", "rule_for", "run", "tables_of"]

_SETTINGS = {
    "db.fetch.interval.default": ("schedule", "interval_default_s"),
    "db.fetch.interval.max": ("schedule", "interval_max_s"),
    "db.fetch.schedule.adaptive.inc_rate": ("schedule", "adaptive_inc_rate"),
    "db.fetch.schedule.adaptive.dec_rate": ("schedule", "adaptive_dec_rate"),
    "db.fetch.schedule.adaptive.min_interval": ("schedule", "adaptive_min_interval_s"),
    "db.fetch.schedule.adaptive.max_interval": ("schedule", "adaptive_max_interval_s"),
    "db.fetch.schedule.adaptive.sync_delta": ("schedule", "adaptive_sync_delta"),
    "db.fetch.schedule.adaptive.sync_delta_rate": ("schedule", "adaptive_sync_delta_rate"),
    "db.fetch.retry.max": ("update", "retry_max"),
    "db.update.additions.allowed": ("update", "additions_allowed"),
    "db.update.max.inlinks": ("update", "max_inlinks"),
    "db.update.purge.404": ("update", "purge_404"),
    "db.update.purge.orphans": ("update", "purge_orphans"),
}
_NO_SETTING = {"schedule", "scoring", "adaptiveHostSpecificIntervals", "adaptiveMimetypes"}
_SIGNATURE, _LINKED, _PARSE_METADATA, _FIRST_FETCH = 65, 67, 68, 32
_KINDS = {_SIGNATURE: "signature", _LINKED: "outlink", _PARSE_METADATA: "parse_metadata"}


def run(path: Path) -> ParityReport:
    """Run the cases of a file through our queries and compare."""
    agree = 0
    found: list[Difference] = []
    by_decision: Counter[str] = Counter()
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in read_cases(path):
        groups[json.dumps(case.config, sort_keys=True)].append(case)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        settings = Settings().engine
        with LocalEngine(settings, folder) as engine:
            for number, cases in enumerate(groups.values()):
                rows = _outcomes(engine, cases, folder / str(number))
                for case in cases:
                    ours = rows.get(case.url)
                    if not (wrong := differences(case.theirs, ours, case)):
                        agree += 1
                    elif (name := decided(case, ours)) is not None:
                        by_decision[name] += 1
                    else:
                        found += [_difference(case, wrong)]
    return ParityReport(agree=agree, differences=tuple(found), by_decision=by_decision)


def read_cases(path: Path) -> Iterable[Case]:
    """Read a file of cases, each with a URL of its own."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield Case.read(json.loads(line))


def rule_for(config: Mapping[str, Any], now: int) -> UpdateRule:
    """Return the rule that a case's configuration asks for.

    Raises:
        KeyError: The configuration has a property that we do not know.
    """
    changes: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in config.items():
        if name not in _NO_SETTING:
            section, field = _SETTINGS[name]
            changes[section][field] = value
    settings = Settings()
    # Nutch takes values that our settings refuse, such as a greatest interval of 0.
    settings = settings.model_copy(
        update={
            section: getattr(settings, section).model_copy(update=fields)
            for section, fields in changes.items()
        }
    )
    scorings = [OpicScoring(settings.scoring)] if config["scoring"] == "opic" else []
    return UpdateRule(
        settings=settings,
        schedule=_schedule(config, settings),
        scorings=scorings,
        now=now,
        buckets=1,
    )


def _schedule(config: Mapping[str, Any], settings: Settings) -> Schedule:
    chosen = settings.schedule
    hosts, _ = read_host_intervals(
        RuleText("hosts", config.get("adaptiveHostSpecificIntervals", "")).lines(), chosen
    )
    mimes, _ = read_mime_rates(RuleText("mimes", config.get("adaptiveMimetypes", "")).lines())
    schedules: dict[str, Schedule] = {
        "DefaultFetchSchedule": DefaultSchedule(chosen),
        "AdaptiveFetchSchedule": AdaptiveSchedule(chosen, hosts),
        "MimeAdaptiveFetchSchedule": MimeAdaptiveSchedule(chosen, hosts, mimes),
    }
    return schedules[config["schedule"]]


def tables_of(cases: Sequence[Case]) -> dict[str, list[Row]]:
    """Return the cases' data as rows of our tables; `moved` has what comes twice in crawldb."""
    tables: dict[str, list[Row]] = defaultdict(list)
    for case in cases:
        host, domain = place_of(case.url)
        page: Row = {"url": case.url, "host": host, "domain": domain}
        known = False
        for number, datum in enumerate(case.inputs):
            status = datum["status"]
            row = page | columns_of(datum) | {"fetch_time": datum["fetchTime"], "status": status}
            if status in _KINDS:
                said = {"kind": _KINDS[status], "ordinal": number, "to_db": True}
                tables["crawl_parse"].append(row | said | {"to_linkdb": False})
            elif status < _FIRST_FETCH:
                tables["moved" if known else "crawldb"].append(
                    row | {"bucket": 0, "seq": 0, "came_from": f"~{number:03d}"}
                )
                known = True
            else:
                place = {"hop": 0, "part": 0, "position": number, "protocol_code": 1}
                tables["crawl_fetch"].append(row | place)
    return tables


def _outcomes(engine: Engine, cases: Sequence[Case], folder: Path) -> dict[str, Outcome]:
    tables = tables_of(cases)
    rule = rule_for(cases[0].config, cases[0].now)
    schemas = {"crawl_fetch": CRAWL_FETCH, "crawl_parse": CRAWL_PARSE}
    views = {name: _files(schema, tables[name], folder) for name, schema in schemas.items()}
    crowded = any(len(c.links) > rule.settings.update.max_inlinks for c in cases)
    derived = (rule.captured(), rule.fetched(), rule.linked(crowded=crowded), rule.best())
    for one in derived:
        views[one.schema.name] = _written(engine, one.sql, views, one.schema, folder)
    views["crawldb"] = _old_pages(engine, tables, folder)
    query = Query(name="update", sql=rule.crawldb_sql(seq=1))
    table = engine.execute(query, views, Collect()).table
    assert table is not None
    return {row["url"]: Outcome.of_row(row, now=rule.now) for row in table.to_pylist()}


def _old_pages(engine: Engine, tables: Mapping[str, Sequence[Row]], folder: Path) -> Files:
    """Return the crawldb; pages that come twice are merged as those whose URLs become one."""
    pages = _files(CRAWLDB, tables["crawldb"], folder)
    if not tables["moved"]:
        return pages
    views = {
        "crawldb": pages,
        "moved": _files(MOVED, tables["moved"], folder),
        "verdicts": Files(schema=CRAWLDB.select("verdicts", ("url",))),
    }
    return _written(engine, reapplied(0), views, CRAWLDB, folder)


def _written(
    engine: Engine, sql: str, views: Mapping[str, Files], schema: TableSchema, folder: Path
) -> Files:
    into = WriteFiles(schema=schema, directory=folder, stem=schema.name)
    files = engine.execute(Query(name=schema.name, sql=sql), views, into).files
    return Files(schema=schema, paths=tuple(str(file.path) for file in files))


def _files(schema: TableSchema, rows: Sequence[Row], folder: Path) -> Files:
    with ParquetSink(schema, folder, schema.name) as sink:
        sink.extend({name: row.get(name) for name in schema.names} for row in rows)
    return Files(schema=schema, paths=tuple(str(file.path) for file in sink.files))


def _difference(case: Case, wrong: Sequence[tuple[str, object, object]]) -> Difference:
    return Difference(
        case=str(case.number),
        what=", ".join(name for name, _, _ in wrong),
        theirs=str({name: theirs for name, theirs, _ in wrong}),
        ours=str({name: ours for name, _, ours in wrong}),
    )
