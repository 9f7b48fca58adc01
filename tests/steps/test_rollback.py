"""Rounds undone: three tables together, absorbed again, killed and finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from structlog.testing import capture_logs

from filbert.engine.local import LocalEngine
from filbert.errors import DataError, UserError
from filbert.model.statuses import PageStatus
from filbert.plugins.registry import PluginRepository
from filbert.settings import Settings
from filbert.settings.engine import EngineSettings
from filbert.steps import rollback
from filbert.steps.absorbing import to_absorb
from filbert.steps.context import StepContext
from filbert.steps.rollback import RollbackOptions, run
from filbert.store.parquet import ParquetSink, read_rows
from filbert.store.tables import Commit
from filbert.testing.paper_crawl import NOW, PaperCrawl, page_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from filbert.store.segments import Segment
    from filbert.store.tables import Table

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
TABLES = ("crawldb", "linkdb", "origins")


class Rounds:
    """A crawl whose rounds commit origins, crawldb and linkdb as the steps do."""

    def __init__(self, path: Path) -> None:
        self.paper = PaperCrawl(path)
        self.folder = self.paper.folder
        self.pages: dict[str, PageStatus] = {}

    def inject(self, url: str) -> None:
        """Crawldb first, then origins, without a transaction."""
        self.pages[url] = PageStatus.DB_UNFETCHED
        self.paper.crawldb(self.pages, step="inject")
        self.paper.clock.advance(10)
        self.paper.rows("origins", [_origin(url)], step="inject")
        self.paper.clock.advance(60_000)

    def round(self, url: str, found: str, segment: Segment | None = None) -> Segment:
        """One segment, updatedb (origins, then crawldb) and invertlinks."""
        segment = segment or self.paper.segment({url: {}})
        self.add("origins", [_origin(found)], {f"update:{segment.name}": 1}, "updatedb")
        self.paper.clock.advance(10)
        self.pages |= {url: PageStatus.DB_FETCHED, found: PageStatus.DB_UNFETCHED}
        self.paper.crawldb(self.pages, absorbs=[segment])
        self.paper.clock.advance(10)
        link = page_row("linkdb", found, from_url=url, anchor="x")
        self.add("linkdb", [link], {f"invert:{segment.name}": 1}, "invertlinks")
        self.paper.clock.advance(60_000)
        return segment

    def add(
        self, name: str, rows: list[Mapping[str, Any]], transactions: dict[str, int], step: str
    ) -> None:
        """Add rows to a table with a transaction."""
        table = self.folder.table(name)
        with self.folder.scratch("test") as scratch:
            with ParquetSink(table.schema, scratch, name) as sink:
                sink.extend(rows)
            table.commit(Commit(step=step, add=sink.files, transactions=transactions))

    def urls(self) -> dict[str, list[str]]:
        """Return the URLs of the three tables."""
        return {
            name: sorted(r["url"] for r in read_rows(self.folder.table(name).files(), ["url"]))
            for name in TABLES
        }

    def absorbed(self, segment: Segment) -> tuple[bool, ...]:
        """Tell whether crawldb, linkdb and origins have absorbed a segment."""
        apps = (f"update:{segment.name}", f"invert:{segment.name}", f"update:{segment.name}")
        return tuple(
            self.folder.table(name).transaction(app) is not None
            for name, app in zip(TABLES, apps, strict=True)
        )


def _origin(url: str) -> dict[str, Any]:
    return {"url": url, "origin": "link", "first_seen": NOW}


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    """A crawl of one seed."""
    made = Rounds(tmp_path / "crawl")
    made.inject(A)
    return made


@pytest.fixture
def context(rounds: Rounds, tmp_path: Path) -> Iterator[StepContext]:
    """The step's context."""
    settings = Settings()
    with LocalEngine(EngineSettings(processes=1), tmp_path / "spill") as engine:
        yield StepContext(
            crawl=rounds.folder,
            settings=settings,
            engine=engine,
            plugins=PluginRepository(settings, rounds.folder.path),
            clock=rounds.paper.clock,
        )


def test_the_last_round_goes(rounds: Rounds, context: StepContext) -> None:
    """All three tables are as before it, and have not absorbed its segment."""
    first = rounds.round(A, B)
    before = rounds.urls()
    second = rounds.round(B, C)
    result = run(context, RollbackOptions())
    assert rounds.urls() == before
    assert (rounds.absorbed(first), rounds.absorbed(second)) == ((True,) * 3, (False,) * 3)
    assert result.segments == (second.name,)
    call = f"filbert rollback {rounds.folder.path} --segment {second.name} --leave-out"
    assert result.message.splitlines() == [
        "undid updatedb (version 3): 3 URLs before, 2 now",
        f"the next updatedb or crawl absorbs again by itself: {second.name}",
        f"to leave a segment out for good: {call}",
    ]


def test_what_was_undone_is_absorbed_again(rounds: Rounds, context: StepContext) -> None:
    """The same segment brings the same rows, once; and can be undone again."""
    segment = rounds.round(A, B)
    whole = rounds.urls()
    run(context, RollbackOptions())
    seed = rounds.urls()
    assert seed == {"crawldb": [A], "linkdb": [], "origins": [A]}
    rounds.pages = {A: PageStatus.DB_UNFETCHED}
    rounds.round(A, B, segment)
    assert (rounds.urls(), rounds.absorbed(segment)) == (whole, (True,) * 3)
    run(context, RollbackOptions())
    assert (rounds.urls(), rounds.absorbed(segment)) == (seed, (False,) * 3)


def test_back_to_before_a_segment(rounds: Rounds, context: StepContext) -> None:
    """`--segment` undoes that round and all after it."""
    before = rounds.urls()
    first, second = rounds.round(A, B), rounds.round(B, C)
    result = run(context, RollbackOptions(segment=first.name))
    assert rounds.urls() == before
    assert result.segments == (first.name, second.name)
    with pytest.raises(UserError, match=f"segment {first.name} is not absorbed"):
        run(context, RollbackOptions(segment=first.name))


def test_to_a_version_and_forward_again(rounds: Rounds, context: StepContext) -> None:
    """Back to the empty crawldb; the rollback itself can be undone, transactions included."""
    segment = rounds.round(A, B)
    crawldb = rounds.folder.table("crawldb")
    newest = crawldb.version()
    run(context, RollbackOptions(to=0))
    assert rounds.urls() == {"crawldb": [], "linkdb": [], "origins": []}
    run(context, RollbackOptions(to=newest))
    assert rounds.urls()["crawldb"] == [A, B]
    assert crawldb.transaction(f"update:{segment.name}") == 1


def test_an_inject_after_the_target_goes_too(rounds: Rounds, context: StepContext) -> None:
    """Origins of an inject carry no transaction: they go with the crawldb version of that run."""
    rounds.round(A, B)
    rounds.inject(C)
    run(context, RollbackOptions(to=2))
    assert rounds.urls() == {"crawldb": [A, B], "linkdb": [B], "origins": [A, B]}


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_killed_rollback_is_finished_by_the_same_command(
    at: int, rounds: Rounds, context: StepContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The crawldb goes last: it says what is still to undo."""
    rounds.round(A, B)
    before = rounds.urls()
    rounds.round(B, C)
    bring_back = rollback._bring_back
    calls: list[Any] = []

    def killed(*args: Any) -> None:
        if len(calls) == at:
            raise KeyboardInterrupt
        calls.append(args)
        bring_back(*args)

    monkeypatch.setattr(rollback, "_bring_back", killed)
    with pytest.raises(KeyboardInterrupt):
        run(context, RollbackOptions())
    monkeypatch.setattr(rollback, "_bring_back", bring_back)
    run(context, RollbackOptions())
    assert rounds.urls() == before


def test_a_dry_run_changes_nothing(rounds: Rounds, context: StepContext) -> None:
    """It says what would be undone."""
    rounds.round(A, B)
    before = rounds.urls(), rounds.folder.table("crawldb").version()
    assert run(context, RollbackOptions(dry_run=True)).message.startswith("would undo updatedb")
    assert (rounds.urls(), rounds.folder.table("crawldb").version()) == before


def test_what_is_left_out_is_not_absorbed_by_itself(rounds: Rounds, context: StepContext) -> None:
    """Only the segment that was named; the message says how to absorb it all the same."""
    first, second = rounds.round(A, B), rounds.round(B, C)
    result = run(context, RollbackOptions(segment=first.name, leave_out=True))
    assert to_absorb(rounds.folder) == [second]
    assert to_absorb(rounds.folder, [first.name]) == [first]
    call = f"filbert rollback {rounds.folder.path} --segment {second.name} --leave-out"
    assert result.message.splitlines()[1:] == [
        f"the next updatedb or crawl absorbs again by itself: {second.name}",
        f"to leave a segment out for good: {call}",
        f"left out by updatedb and crawl: {first.name}",
        f"to absorb one all the same: filbert updatedb {rounds.folder.path} {first.name}",
    ]


def test_what_was_undone_before_can_be_left_out(rounds: Rounds, context: StepContext) -> None:
    """Nothing more is undone by it."""
    segment = rounds.round(A, B)
    run(context, RollbackOptions())
    before = rounds.folder.table("crawldb").version()
    result = run(context, RollbackOptions(segment=segment.name, leave_out=True))
    assert to_absorb(rounds.folder) == []
    assert rounds.folder.table("crawldb").version() == before
    assert result.message.startswith(f"segment {segment.name} is not absorbed: nothing to undo\n")


@pytest.mark.parametrize("step", ["crawl", "fetch"])
def test_no_rollback_beside_a_crawl(step: str, rounds: Rounds, context: StepContext) -> None:
    """A crawl would absorb again what is undone; refused, with who holds the folder."""
    rounds.round(A, B)
    before = rounds.urls()
    with (
        rounds.folder.lease(step),
        pytest.raises(DataError, match=f"is locked: {step} by process"),
    ):
        run(context, RollbackOptions())
    assert rounds.urls() == before


def test_no_crawl_beside_a_rollback(
    rounds: Rounds, context: StepContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever begins meanwhile is told that a rollback is at work."""
    rounds.round(A, B)
    refused: list[str] = []

    def meanwhile(*_: object) -> None:
        for step in ("crawl", "fetch"):
            with pytest.raises(DataError) as caught, rounds.folder.lease(step):
                pass
            refused.append(caught.value.message)

    monkeypatch.setattr(rollback, "_warn", meanwhile)
    run(context, RollbackOptions())
    assert ["is locked: rollback by process" in message for message in refused] == [True, True]


def test_a_version_that_came_meanwhile_is_not_undone(
    rounds: Rounds, context: StepContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rollback undoes what it read and said, or nothing."""
    rounds.round(A, B)
    bring_back = rollback._bring_back

    def after_an_inject(table: Table, *args: Any) -> None:
        if table.name == "crawldb":
            rounds.inject(C)
        bring_back(table, *args)

    monkeypatch.setattr(rollback, "_bring_back", after_an_inject)
    with pytest.raises(DataError, match="was changed by another command while rollback"):
        run(context, RollbackOptions())
    assert C in rounds.urls()["crawldb"]


def test_nothing_to_undo(rounds: Rounds, context: StepContext) -> None:
    """No updatedb yet, or a version that is not there: what would be right."""
    with pytest.raises(UserError, match="nothing absorbed"):
        run(context, RollbackOptions())
    with pytest.raises(UserError, match=r"cannot go back to version 7\n.*at version 1"):
        run(context, RollbackOptions(to=7))


def test_a_segment_that_is_gone_is_said(rounds: Rounds, context: StepContext) -> None:
    """Vacuumed segments cannot be absorbed again: a warning names them."""
    segment = rounds.round(A, B)
    segment.path.rename(rounds.folder.path / "elsewhere")
    with capture_logs() as logs:
        run(context, RollbackOptions())
    assert [(log["event"], log["segments"]) for log in logs] == [
        ("rollback.segments_gone", [segment.name])
    ]


def test_marks_of_a_pending_segment_are_said(rounds: Rounds, context: StepContext) -> None:
    """A segment generated after the target is not absorbed, and its marks are undone."""
    rounds.round(A, B)
    pending = rounds.paper.segment({B: {}})
    rounds.folder.table("crawldb").commit(
        Commit(step="generate", transactions={f"generate:{pending.name}": 1})
    )
    with capture_logs() as logs:
        run(context, RollbackOptions())
    assert [(log["event"], log["segments"]) for log in logs] == [
        ("rollback.marks_undone", [pending.name])
    ]
