"""Generate: what is chosen, where it lies, and what is said of the rest."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.local import LocalEngine
from filbert.errors import UserError
from filbert.model.statuses import PageStatus
from filbert.plugins.registry import PluginRepository
from filbert.rules.segment_filler import SegmentFiller
from filbert.rules.urls import url_hash
from filbert.settings import Settings
from filbert.settings.engine import EngineSettings
from filbert.settings.generate import GenerateSettings
from filbert.steps.context import StepContext
from filbert.steps.generate import GenerateOptions, run, show_sql
from filbert.steps.url_chain import CHAIN_KEY
from filbert.store.commits import Commit
from filbert.store.parquet import read_rows
from filbert.testing.paper_crawl import NOW, PaperCrawl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from filbert.engine.base import Files, Query, Target, Written
    from filbert.steps.context import StepResult

DAY = 86_400_000
A, B, C, D = "http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/"
DUE = {"status": PageStatus.DB_UNFETCHED, "fetch_time": NOW}


class Scene:
    """A crawl folder on paper, and the step on it."""

    def __init__(self, path: Path, engine: LocalEngine) -> None:
        self.paper = PaperCrawl(path / "crawl")
        self._engine = engine

    def pages(self, pages: dict[str, dict[str, Any]], *, agrees: bool = True) -> None:
        """Make the crawldb; `agrees`: its rows have passed the URL chains."""
        self.paper.crawldb({url: {**DUE, **said} for url, said in pages.items()})
        if agrees:
            chain = self.context(GenerateSettings()).plugins.url_chain()
            note = {CHAIN_KEY: str(chain.fingerprint())}
            self.paper.folder.table("crawldb").commit(Commit(step="note", metadata=note))

    def context(self, settings: GenerateSettings) -> StepContext:
        """The step's context."""
        folder = self.paper.folder
        whole = Settings(generate=settings)
        return StepContext(
            crawl=folder,
            settings=whole,
            engine=self._engine,
            plugins=PluginRepository(whole, folder.path),
            clock=self.paper.clock,
        )

    def generate(self, options: GenerateOptions | None = None, **settings: Any) -> StepResult:
        """Run the step with settings of its section."""
        context = self.context(GenerateSettings(**settings))
        return run(context, options or GenerateOptions())

    def rows(self, result: StepResult) -> list[list[dict[str, Any]]]:
        """The fetch lists of a result."""
        tables = [self.paper.folder.segment(n).table("crawl_generate") for n in result.segments]
        return [list(read_rows(table.files(), table.schema.names)) for table in tables]

    def chosen(self, options: GenerateOptions | None = None, **settings: Any) -> list[set[str]]:
        """The URLs of each segment."""
        result = self.generate(options, **settings)
        return [{row["url"] for row in segment} for segment in self.rows(result)]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """An empty crawl folder."""
    with LocalEngine(EngineSettings(processes=1, threads=1), tmp_path / "spill") as engine:
        yield Scene(tmp_path, engine)


def counted(result: StepResult) -> dict[str, int]:
    """The counters that are not zero."""
    return {name: count for name, count in result.counters.items() if count}


def test_only_what_is_due(scene: Scene) -> None:
    """Due at the clock, or at a clock put forward."""
    scene.pages({A: {}, B: {"fetch_time": NOW + 1}, C: {"fetch_time": NOW + DAY}})

    assert scene.chosen() == [{A}]
    assert scene.chosen(GenerateOptions(add_days=0.5)) == [{A, B}]
    assert scene.chosen(GenerateOptions(add_days=1)) == [{A, B, C}]


def test_nothing_is_a_message_and_no_segment(scene: Scene) -> None:
    """It says why, and when the next page is due."""
    later = {"fetch_time": NOW + DAY}
    scene.pages({A: later, B: {"fetch_time": NOW + 2 * DAY}, C: {"score": -1.0}})
    result = scene.generate()

    assert result.nothing_to_do
    assert result.segments == ()
    assert scene.paper.folder.segments() == []
    assert result.message == (
        "nothing to fetch: 2 not due yet, 1 below generate.min_score;"
        " the next page is due at 2026-12-01T00:53:20.000Z"
    )


def test_an_empty_crawldb_is_an_error(scene: Scene) -> None:
    """With what to do about it."""
    with pytest.raises(UserError, match="the crawldb is empty"):
        scene.generate()


def test_a_page_far_beyond_the_greatest_interval_is_due_now(scene: Scene) -> None:
    """And its interval comes down: Nutch's shouldFetch."""
    scene.pages({A: {"fetch_time": NOW + 200 * DAY, "fetch_interval": 99_999_999}})
    ((row,),) = scene.rows(scene.generate())

    assert (row["fetch_time"], row["fetch_interval"]) == (NOW, 6_998_400)
    assert row["generate_time"] == NOW


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"expr": "score > 5"}, "expr_rejected"),
        ({"restrict_status": "db_fetched"}, "status_rejected"),
        ({"min_score": 1.5}, "score_too_low"),
        ({"min_interval_s": 3600}, "interval_rejected"),
        ({"gen_delay_ms": 1000}, "wait_for_update"),
        ({"gen_delay_ms": 1000, "expr": "score > 5"}, "wait_for_update"),
    ],
)
def test_what_is_rejected_is_counted_by_reason(
    scene: Scene, settings: dict[str, Any], reason: str
) -> None:
    """By the first reason that holds, in Nutch's order."""
    scene.pages({A: {"generate_time": NOW - 999}})

    assert counted(scene.generate(**{"gen_delay_ms": 0, **settings})) == {reason: 1}


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"top_n": 2}, [{A, B}]),
        ({"top_n": 2, "max_num_segments": 2}, [{A, B}, {C, D}]),
        ({"top_n": 3, "max_num_segments": 2}, [{A, B, C}, {D}]),
        ({"top_n": 0}, []),
        ({}, [{A, B, C, D}]),
    ],
)
def test_the_best_come_first(
    scene: Scene, settings: dict[str, Any], wanted: list[set[str]]
) -> None:
    """By sort value; of equal ones, by URL."""
    scene.pages({D: {"score": 1.0}, B: {"score": 2.0}, A: {"score": 2.0}, C: {"score": 1.5}})

    assert scene.chosen(**settings) == wanted


def test_hosts_over_the_cap_are_counted(scene: Scene) -> None:
    """As Nutch counts them: until the segment is full."""
    scene.pages({f"{A}{n}": {"score": 9.0 - n} for n in range(4)} | {B: {"score": 0.5}, C: {}})
    result = scene.generate(max_count=2, top_n=4)

    assert [len(rows) for rows in scene.rows(result)] == [4]
    assert counted(result) == {
        "due": 6,
        "generated": 4,
        "urls_skipped_per_host_overflow": 2,
        "hosts_affected": 1,
    }


def random_pages(seed: int, pages: int) -> dict[str, dict[str, Any]]:
    """Pages of hosts of two domains each, with scores that are all different."""
    random = Random(seed)
    hosts = [f"{'www' if n % 2 else 'm'}.h{n // 2}.org" for n in range(12)]
    weights = [2 ** (n // 3) for n in range(12)]
    scores = random.sample(range(1, 8 * pages), pages)
    urls = [f"http://{random.choices(hosts, weights)[0]}/{n}" for n in range(pages)]
    return {url: {"score": float(score)} for url, score in zip(urls, scores, strict=True)}


@pytest.mark.parametrize("count_mode", ["host", "domain"])
@pytest.mark.parametrize(
    "limits",
    [
        {"top_n": 7, "max_count": 3},
        {"top_n": 30, "max_count": 2, "max_num_segments": 3},
        {"top_n": 40, "max_num_segments": 3},
        {"max_count": 4, "max_num_segments": 3},
        {"max_count": 4},
        {"top_n": 1, "max_count": 1, "max_num_segments": 2},
    ],
)
def test_sql_and_the_sequential_pass_agree(
    scene: Scene, limits: dict[str, int], count_mode: str
) -> None:
    """What SQL chooses is what Nutch's pass, one URL after the other, chooses."""
    pages = random_pages(len(limits), 300)
    scene.pages(pages)
    settings = GenerateSettings(count_mode=count_mode, **limits)  # type: ignore[arg-type]
    top_n = settings.top_n if settings.top_n >= 0 else None
    filler = SegmentFiller(
        top_n=top_n, max_count=settings.max_count, segments=settings.max_num_segments
    )
    wanted: dict[int, set[str]] = {}
    skipped = 0
    for url in sorted(pages, key=lambda url: -pages[url]["score"]):
        if filler.is_full:
            break
        host = url.split("/")[2]
        key = host if count_mode == "host" else host.partition(".")[2]
        number = filler.place(key).segment
        skipped += number == 0
        wanted.setdefault(number, set()).add(url)
    wanted.pop(0, None)
    asked: dict[str, Any] = {"count_mode": count_mode, **limits}
    result = scene.generate(**asked)
    got = [{row["url"] for row in segment} for segment in scene.rows(result)]

    assert got == [wanted[number] for number in sorted(wanted)]
    assert result.counters["urls_skipped_per_host_overflow"] == skipped


def test_a_floor_that_is_too_high_is_lowered(scene: Scene) -> None:
    """When caps leave too few above the floor, the result is that of all candidates."""
    pages = {f"{A}{n}": {"score": 1000.0 - n} for n in range(300)}
    scene.pages({**pages, B: {"score": 2.0}, C: {"score": 1.0}})

    assert scene.chosen(top_n=3, max_count=1) == [{f"{A}0", B, C}]


def test_filters_are_asked_only_where_the_crawldb_does_not_agree(scene: Scene) -> None:
    """With the fingerprint noted, they are not; `--recheck` asks all the same."""
    gif = f"{A}x.gif"
    scene.pages({A: {}, gif: {}}, agrees=True)
    assert scene.chosen() == [{A, gif}]
    assert scene.chosen(GenerateOptions(recheck=True)) == [{A}]
    assert scene.chosen(GenerateOptions(recheck=True, filter=False)) == [{A, gif}]
    scene.pages({A: {}, gif: {}}, agrees=False)
    result = scene.generate()

    assert [[row["url"] for row in segment] for segment in scene.rows(result)] == [[A]]
    assert counted(result) == {"due": 2, "url_filters_rejected": 1, "generated": 1}


def test_a_normalised_url_counts_by_its_own_host(scene: Scene) -> None:
    """The key of the page stays as it is (Nutch: scope generate_host_count)."""
    pages: dict[str, dict[str, Any]] = {
        "http://A.org/1": {"host": "A.org"},
        "http://a.org/2": {"score": 2.0},
    }
    scene.pages(pages, agrees=False)

    assert scene.chosen(max_count=1) == [{"http://a.org/2"}]
    assert scene.chosen() == [set(pages)]


@pytest.mark.parametrize("mode", ["domain", "host"])
def test_one_part_owns_its_hosts(scene: Scene, mode: str) -> None:
    """All of a domain (or host) lies in one part; inside, the order is that of a hash."""
    scene.pages(random_pages(1, 200))
    (rows,) = scene.rows(scene.generate(num_fetchers=3, partition_mode=mode))
    parts_of: dict[str, set[int]] = {}
    for row in rows:
        parts_of.setdefault(row[mode], set()).add(row["part"])

    assert {len(parts) for parts in parts_of.values()} == {1}
    assert {row["part"] for row in rows} == {0, 1, 2}
    for part in range(3):
        mine = sorted((r for r in rows if r["part"] == part), key=lambda row: row["position"])
        assert [row["position"] for row in mine] == list(range(len(mine)))
        assert [url_hash(row["url"]) for row in mine] == sorted(url_hash(r["url"]) for r in mine)
    assert [(row["part"], row["position"]) for row in rows] == sorted(
        (row["part"], row["position"]) for row in rows
    )


def test_parts_by_address(scene: Scene) -> None:
    """Hosts of one address are in one part."""
    hosts = ("127.0.0.1", "localhost")
    pages: dict[str, dict[str, Any]] = {f"http://{h}/{n}": {} for h in hosts for n in range(4)}
    scene.pages({**pages, **{f"http://127.0.0.{n}/": {} for n in range(2, 6)}})
    (rows,) = scene.rows(scene.generate(num_fetchers=4, partition_mode="ip"))
    parts = {row["host"]: row["part"] for row in rows}

    assert set(parts.values()) == {0, 1, 2, 3}
    assert max(Counter(row["part"] for row in rows).values()) <= 9


def test_marks_keep_the_next_generate_off(scene: Scene) -> None:
    """`generate.update_crawldb`: chosen pages wait for updatedb, others are chosen meanwhile."""
    scene.pages({A: {"score": 3.0}, B: {"score": 2.0}, C: {"score": 1.0}})
    first = scene.generate(top_n=2, update_crawldb=True)
    second = scene.generate(top_n=2, update_crawldb=True)
    table = scene.paper.folder.table("crawldb")

    assert [{row["url"] for row in part} for part in scene.rows(first)] == [{A, B}]
    assert [{row["url"] for row in part} for part in scene.rows(second)] == [{C}]
    assert table.transaction(f"generate:{first.segments[0]}") == 1
    assert {row["generate_time"] for row in read_rows(table.files(), ("generate_time",))} == {NOW}
    assert scene.generate().nothing_to_do


def test_marks_that_a_kill_cut_off_are_made_by_the_next_generate(scene: Scene) -> None:
    """Killed between its segments and their marks, a generate has chosen all the same."""
    scene.pages({A: {"score": 2.0}, B: {"score": 1.0}})
    context = scene.context(GenerateSettings(top_n=1, update_crawldb=True))
    engine = context.engine

    class Killed:
        """The engine of a process that is killed before it has written the marks."""

        run = engine.run

        def execute(self, query: Query, views: Mapping[str, Files], into: Target) -> Written:
            if query.name == "generate_mark":
                raise KeyboardInterrupt
            return engine.execute(query, views, into)

    with pytest.raises(KeyboardInterrupt):
        run(replace(context, engine=Killed()), GenerateOptions())
    scene.paper.clock.advance(5_000)
    (first,) = scene.paper.folder.segments()

    assert scene.chosen(top_n=1, update_crawldb=True) == [{B}]
    files = scene.paper.folder.table("crawldb").files()
    marks = {row["url"]: row["generate_time"] for row in read_rows(files, ("url", "generate_time"))}
    assert marks == {A: NOW, B: NOW + 5_000}
    assert scene.paper.folder.table("crawldb").transaction(f"generate:{first.name}") == 1


def test_without_marks_the_crawldb_is_not_touched(scene: Scene) -> None:
    """As in Nutch, the same list comes again until it is absorbed."""
    scene.pages({A: {}})
    version = scene.paper.folder.table("crawldb").version()

    assert scene.chosen() == scene.chosen() == [{A}]
    assert scene.paper.folder.table("crawldb").version() == version


def test_whole_rows_travel(scene: Scene) -> None:
    """Everything that the crawldb knows of a page is in the fetch list."""
    said = {"score": 2.5, "signature": b"s", "metadata": {"k": "v"}, "repr_url": B, "retries": 2}
    scene.pages({A: said})
    ((row,),) = scene.rows(scene.generate())

    assert {name: row[name] for name in said} == said


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"restrict_status": "db_unfetchd"}, "no status 'db_unfetchd'"),
        ({"expr": "score >"}, "expression, column"),
    ],
)
def test_wrong_settings_are_refused(scene: Scene, settings: dict[str, Any], what: str) -> None:
    """Before anything is made."""
    scene.pages({A: {}})
    with pytest.raises(UserError, match=what):
        scene.generate(**settings)


def test_the_queries_can_be_shown(scene: Scene) -> None:
    """`--show-sql` shows what would run."""
    scene.pages({A: {}})
    text = show_sql(scene.context(GenerateSettings(top_n=5)), GenerateOptions(expr="score > 7"))

    assert "schedule_rejected" in text
    assert "cast(score as double) > cast(7 as bigint)" in text
    assert "{{" not in text
