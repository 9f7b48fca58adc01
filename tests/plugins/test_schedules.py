"""The schedules beside Nutch's classes, and their rule files."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.base import Collect, Query
from filbert.engine.local import LocalEngine
from filbert.errors import UserError
from filbert.plugins.rule_files import RuleText
from filbert.plugins.schedules.adaptive import AdaptiveSchedule
from filbert.plugins.schedules.default import DefaultSchedule
from filbert.plugins.schedules.host_intervals import (
    HostInterval,
    load_host_intervals,
    read_host_intervals,
)
from filbert.plugins.schedules.mime_adaptive import (
    MimeAdaptiveSchedule,
    Rates,
    read_mime_rates,
)
from filbert.rules.schedule import gone_interval, refetch_interval
from filbert.rules.sql import literal, stages
from filbert.rules.urls import host_of
from filbert.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filbert.plugins.contracts import Schedule
    from filbert.settings.schedule import ScheduleSettings

Case = dict[str, Any]

_SETTINGS: dict[str, tuple[str, Callable[[str], object]]] = {
    "db.fetch.interval.default": ("interval_default_s", int),
    "db.fetch.interval.max": ("interval_max_s", int),
    "db.fetch.schedule.adaptive.inc_rate": ("adaptive_inc_rate", float),
    "db.fetch.schedule.adaptive.dec_rate": ("adaptive_dec_rate", float),
    "db.fetch.schedule.adaptive.min_interval": ("adaptive_min_interval_s", float),
    "db.fetch.schedule.adaptive.max_interval": ("adaptive_max_interval_s", float),
    "db.fetch.schedule.adaptive.sync_delta_rate": ("adaptive_sync_delta_rate", float),
    "db.fetch.schedule.adaptive.sync_delta": ("adaptive_sync_delta", lambda v: v == "true"),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    """An engine for the module."""
    with LocalEngine(Settings().engine, tmp_path_factory.mktemp("engine")) as made:
        yield made


@pytest.fixture(scope="module")
def cases(repository: Path) -> list[Case]:
    """The golden cases."""
    path = repository / "tests/data/golden/schedules.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def settings_of(case: Case) -> ScheduleSettings:
    """The schedule's settings; Nutch takes some values that ours refuse."""
    chosen = ((*_SETTINGS[name], value) for name, value in case["conf"].items())
    return Settings().schedule.model_copy(
        update={field: read(value) for field, read, value in chosen}
    )


def schedule_of(case: Case) -> Schedule:
    """The schedule of a case."""
    settings = settings_of(case)
    hosts, _ = read_host_intervals(
        RuleText("h", case.get("host_intervals") or "").lines(), settings
    )
    mimes, _ = read_mime_rates(RuleText("m", case.get("mime_rates") or "").lines())
    schedules: dict[str, Schedule] = {
        "DefaultFetchSchedule": DefaultSchedule(settings),
        "AdaptiveFetchSchedule": AdaptiveSchedule(settings, hosts),
        "MimeAdaptiveFetchSchedule": MimeAdaptiveSchedule(settings, hosts, mimes),
    }
    return schedules[case["class"]]


def input_sql(number: int, case: Case) -> str:
    """One row of what a schedule may read."""
    args, datum = case["args"], case["datum"]
    values = {
        "number": literal(number),
        "prev_fetch_time": f"cast({literal(args['prev_fetch_time'])} as bigint)",
        "prev_modified_time": f"cast({literal(args['prev_modified_time'])} as bigint)",
        "fetched_at": f"cast({literal(args['fetch_time'])} as bigint)",
        "fetched_modified": f"cast({literal(args['modified_time'])} as bigint)",
        "old_interval": literal(datum["interval"]),
        "fixed_interval": f"cast({literal(datum.get('fixed_interval'))} as float)",
        "page_content_type": f"cast({literal(datum.get('content_type'))} as string)",
        "page_host": literal(host_of(case["url"])),
        "modified_state": literal(args["state"]),
    }
    return "select " + ", ".join(f"{sql} as {name}" for name, sql in values.items())


def run(engine: LocalEngine, sql: str) -> list[Case]:
    """The rows of a query."""
    table = engine.execute(Query(name="schedule", sql=sql), {}, Collect()).table
    assert table is not None
    rows: list[Case] = table.to_pylist()
    return rows


def is_host_in_another_case(case: Case) -> bool:
    """Say whether a host's line in the file holds here and, for upper case, not in Nutch."""
    host = "EXAMPLE.org"
    return host in case["url"] and host.lower() in (case.get("host_intervals") or "").lower()


@pytest.mark.slow
def test_set_fetch_schedule_is_nutchs_to_the_millisecond(
    engine: LocalEngine, cases: list[Case]
) -> None:
    """Interval, next fetch and time of change are what Nutch's classes gave."""
    groups: dict[str, list[int]] = defaultdict(list)
    for number, case in enumerate(cases):
        if case["method"] == "setFetchSchedule" and not is_host_in_another_case(case):
            schedule = schedule_of(case)
            groups["\n".join(f"{c.name}={c.sql}" for c in schedule.columns())].append(number)
    assert sum(map(len, groups.values())) > 300
    for numbers in groups.values():
        rows = " union all ".join(input_sql(number, cases[number]) for number in numbers)
        columns = schedule_of(cases[numbers[0]]).columns()
        sql = f"with given as ({rows}), {stages('given', columns, 'done')} select * from done"
        for row in run(engine, sql):
            expected = cases[row["number"]]["result"]
            got = {
                "fetch_time": row["next_fetch_time"],
                "interval": row["next_interval"],
                "modified": row["next_modified_time"],
            }
            assert got == {name: expected[name] for name in got}, cases[row["number"]]


def test_gone_and_forced_pages_get_nutchs_intervals(engine: LocalEngine, cases: list[Case]) -> None:
    """A gone page waits half as long again, a forced one at most the greatest interval."""
    rules = {"setPageGoneSchedule": gone_interval, "forceRefetch": refetch_interval}
    chosen = {n: case for n, case in enumerate(cases) if case["method"] in rules}
    assert len(chosen) > 100
    sql = " union all ".join(
        f"select {number} as number,"
        f" {rules[c['method']](str(c['datum']['interval']), settings_of(c).interval_max_s)} as s"
        for number, c in chosen.items()
    )
    for row in run(engine, sql):
        case = chosen[row["number"]]
        assert row["s"] == case["result"]["interval"], case
        if case["method"] == "setPageGoneSchedule":
            due = case["args"]["fetch_time"] + 1000 * row["s"]
            assert due == case["result"]["fetch_time"], case


def test_host_intervals_are_nutchs_file() -> None:
    """`default` and 0 stand for the bound that holds everywhere; wrong lines are told apart."""
    text = """# host min max
WWW.example.com\tdefault 1728000
a.example 1296000 0

none.example 0 default
two.example 5
swap.example 1000 100
"""
    hosts, complaints = read_host_intervals(
        RuleText("hosts.txt", text).lines(), Settings().schedule
    )
    assert hosts == {
        "www.example.com": HostInterval(None, 1728000.0),
        "a.example": HostInterval(1296000.0, None),
    }
    assert complaints == [
        "hosts.txt:6 two.example 5: 2 words instead of 3",
        "hosts.txt:7 swap.example 1000 100: the shortest is longer than the longest",
    ]


def test_a_wrong_line_refuses_with_file_and_line(tmp_path: Path) -> None:
    """A schedule is not made of a file with wrong lines."""
    (tmp_path / "hosts.txt").write_text("a.example -1 5\n")
    settings = Settings()
    settings = settings.model_copy(
        update={
            "schedule": settings.schedule.model_copy(update={"host_intervals_file": "hosts.txt"})
        }
    )
    with pytest.raises(UserError, match=r"hosts\.txt:1 a\.example -1 5: an interval below 0"):
        load_host_intervals(settings.schedule, tmp_path)
    with pytest.raises(UserError, match=r"hosts\.txt:1"):
        AdaptiveSchedule.from_settings(settings, tmp_path)


def test_mime_rates_are_nutchs_file(tmp_path: Path) -> None:
    """Type, growth and shrinking are separated by TABs; the type has no case."""
    text = "# c\nTEXT/HTML\t0.5\t0.05\nimage/png 0.1 0.2\n"
    mimes, complaints = read_mime_rates(RuleText("mimes.txt", text).lines())
    assert mimes == {"text/html": Rates(0.5, 0.05)}
    assert complaints == [
        "mimes.txt:3 image/png 0.1 0.2: not a type and two numbers with TABs between"
    ]
    (tmp_path / "mimes.txt").write_text(text)
    settings = Settings()
    settings = settings.model_copy(
        update={"schedule": settings.schedule.model_copy(update={"mime_rates_file": "mimes.txt"})}
    )
    with pytest.raises(UserError, match=r"mimes\.txt:3"):
        MimeAdaptiveSchedule.from_settings(settings, tmp_path)
