"""What vacuum may remove, and what never."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from filbert.engine.local import LocalEngine
from filbert.errors import DataError, UserError
from filbert.model.statuses import PageStatus
from filbert.plugins.registry import PluginRepository
from filbert.settings import Settings
from filbert.settings.engine import EngineSettings
from filbert.settings.store import StoreSettings
from filbert.steps.context import StepContext
from filbert.steps.vacuum import Retention, VacuumOptions, parse_retention, run
from filbert.store.tables import Commit
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filbert.store.segments import Segment

A = "http://a.test/"
HOUR, DAY = 3_600_000, 86_400_000
# Files change on the real clock; the clock of the test stands long after it.
LATER = 3650 * DAY


@pytest.fixture
def paper(tmp_path: Path) -> PaperCrawl:
    """An empty crawl folder."""
    return PaperCrawl(tmp_path / "crawl")


@pytest.fixture
def context(paper: PaperCrawl, tmp_path: Path) -> Iterator[Callable[..., StepContext]]:
    """Make a step's context, with settings of the store."""
    with LocalEngine(EngineSettings(processes=1), tmp_path / "spill") as engine:

        def make(**store: object) -> StepContext:
            settings = Settings(store=StoreSettings.model_validate(store))
            return StepContext(
                crawl=paper.folder,
                settings=settings,
                engine=engine,
                plugins=PluginRepository(settings, paper.folder.path),
                clock=paper.clock,
            )

        yield make


def absorbed(paper: PaperCrawl, count: int) -> list[Segment]:
    """Make segments a day apart, each absorbed by its own version of the crawldb."""
    made = []
    for _ in range(count):
        segment = paper.segment({A: {"text": "a"}})
        paper.crawldb({A: PageStatus.DB_FETCHED}, absorbs=[segment])
        paper.clock.advance(DAY)
        made.append(segment)
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Retention()),
        ("10", Retention(count=10)),
        ("30d", Retention(days=30)),
        ("30 days", Retention(days=30)),
        (" 1 Day ", Retention(days=1)),
    ],
)
def test_retention_is_a_number_or_days(text: str, expected: Retention) -> None:
    """As the setting store.keep_segments says it."""
    assert parse_retention(text) == expected


@pytest.mark.parametrize("text", ["-1", "ten", "3 weeks", "30h"])
def test_other_retention_is_refused(text: str) -> None:
    """The error says what is right."""
    with pytest.raises(UserError, match="such as 10"):
        parse_retention(text)


@pytest.mark.parametrize(("said", "kept"), [("2", 2), ("0", 0), ("3d", 2), ("9", 4), ("", 4)])
def test_old_segments_go(
    said: str, kept: int, paper: PaperCrawl, context: Callable[..., StepContext]
) -> None:
    """The newest N stay, or those of the last N days; blank keeps all."""
    made = absorbed(paper, 4)
    result = run(context(), VacuumOptions(keep_segments=said))
    assert paper.folder.segments() == made[len(made) - kept :]
    assert result.counters["segments_removed"] == 4 - kept
    assert result.segments == tuple(segment.name for segment in made[: 4 - kept])


def test_the_setting_holds_without_an_option(
    paper: PaperCrawl, context: Callable[..., StepContext]
) -> None:
    """store.keep_segments; an option overrides it."""
    made = absorbed(paper, 2)
    run(context(keep_segments="1"), VacuumOptions(keep_segments="", dry_run=False))
    assert paper.folder.segments() == made
    run(context(keep_segments="1"), VacuumOptions())
    assert paper.folder.segments() == made[1:]


def test_what_is_not_absorbed_stays(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """However old: the crawldb does not know it yet; the message says so."""
    waiting = paper.segment({A: {}})
    absorbed(paper, 1)
    result = run(context(), VacuumOptions(keep_segments="0"))
    assert paper.folder.segments() == [waiting]
    assert "1 kept: not absorbed" in result.message


def test_what_the_linkdb_needs_stays(
    paper: PaperCrawl, context: Callable[..., StepContext]
) -> None:
    """Where there is a linkdb, a segment stays until it is inverted."""
    first, second = absorbed(paper, 2)
    paper.folder.table("linkdb").commit(
        Commit(step="invertlinks", transactions={f"invert:{first.name}": 1})
    )
    result = run(context(), VacuumOptions(keep_segments="0"))
    assert paper.folder.segments() == [second]
    assert "1 kept: not inverted" in result.message


def test_what_the_index_needs_stays(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """Where there is an index, a segment stays until it is indexed."""
    from filbert.steps import index

    first, second = absorbed(paper, 2)
    index.run(context(), index.IndexOptions(segments=(first.name,)))
    result = run(context(), VacuumOptions(keep_segments="0"))
    assert paper.folder.segments() == [second]
    assert "1 kept: not indexed" in result.message


def test_old_versions_go_and_the_newest_stays(
    paper: PaperCrawl, context: Callable[..., StepContext]
) -> None:
    """Versions out of reach lose their files; the crawldb reads as before."""
    paper.clock.advance(LATER)
    absorbed(paper, 4)
    crawldb = paper.folder.table("crawldb")
    result = run(context(vacuum_after_hours=36), VacuumOptions())
    assert result.counters["files_removed"] == 2
    assert sorted(p.name[:7] for p in crawldb.path.glob("*.parquet")) == ["v000003", "v000004"]
    assert (crawldb.count(), result.nothing_to_do) == (1, False)
    again = run(context(vacuum_after_hours=36), VacuumOptions())
    assert again.nothing_to_do


def test_a_dry_run_removes_nothing(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """It counts what would go."""
    paper.clock.advance(LATER)
    made = absorbed(paper, 3)
    options = VacuumOptions(keep_segments="1", keep_hours=0, dry_run=True)
    result = run(context(), options)
    assert result.message.startswith("would remove 2 segments and 2 files")
    assert paper.folder.segments() == made
    assert len(list(paper.folder.table("crawldb").path.glob("*.parquet"))) == 3


def test_no_vacuum_beside_a_crawl(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """What a running crawl reads stays; its own vacuum holds the folder already."""
    absorbed(paper, 2)
    keep = VacuumOptions(keep_segments="1")
    with paper.folder.lease("crawl"):
        with pytest.raises(DataError, match="is locked: crawl by process"):
            run(context(), keep)
        assert run(context(), replace(keep, of_crawl=True)).counters["segments_removed"] == 1


def test_a_segment_that_was_left_out_may_go(
    paper: PaperCrawl, context: Callable[..., StepContext]
) -> None:
    """Nobody waits for it, though no crawldb has it."""
    segment = paper.segment({A: {}})
    assert run(context(), VacuumOptions(keep_segments="0")).segments == ()
    segment.leave_out("rollback")
    assert run(context(), VacuumOptions(keep_segments="0")).segments == (segment.name,)
