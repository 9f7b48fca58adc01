"""The loop, where it begins and ends: markers of runs, and what a look at the folder costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import UserError
from filbert.model.statuses import PageStatus
from filbert.steps.context import open_context
from filbert.steps.crawl import CrawlOptions, rounds_done, run
from filbert.store.run_marker import RunMarker
from filbert.store.tables import Table
from filbert.testing.paper_crawl import NOW, PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.steps.context import StepResult

QUICK = ("store.fsync=never",)


class _Nobody:
    """Looks on and says nothing."""

    def started(self, step: str, round_number: int) -> None:
        """A step begins."""

    def ended(self, result: StepResult) -> None:
        """A step is done."""


def _run(path: Path, options: CrawlOptions, paper: PaperCrawl | None = None) -> str:
    clock = paper.clock if paper else None
    with open_context(path, QUICK, {}, create=True, clock=clock) as context:
        return run(context, options, _Nobody()).ended


def test_wrong_seeds_begin_no_run(tmp_path: Path) -> None:
    """A run that was refused for its seeds is not one that the next command goes on with."""
    path = tmp_path / "crawl"
    (tmp_path / "seeds.txt").write_text("no seed\n", encoding="utf-8")
    refused: list[CrawlOptions] = [
        CrawlOptions(seeds=(str(tmp_path / "seeds.txt"),)),
        CrawlOptions(seeds=(str(tmp_path / "missing.txt"),)),
        CrawlOptions(),
    ]
    for options in refused:
        with pytest.raises(UserError):
            _run(path, options)
        assert not path.exists()


def test_wrong_seeds_leave_a_run_to_be_gone_on_with(tmp_path: Path) -> None:
    """A run that was killed still counts its rounds after a call that was refused."""
    path = tmp_path / "crawl"
    PaperCrawl(path).crawldb({"http://a.test/": PageStatus.DB_FETCHED})
    began = RunMarker.begin(path, 0)
    with pytest.raises(UserError):
        _run(path, CrawlOptions(seeds=(str(tmp_path / "missing.txt"),)))
    assert RunMarker.read(path) == began


def test_a_robot_without_a_name_makes_no_segment(tmp_path: Path) -> None:
    """Refused before a segment is made; with a name the same command then does its rounds."""
    path = tmp_path / "crawl"
    paper = PaperCrawl(path)
    paper.crawldb({"http://example.com/": {"fetch_time": NOW}}, step="inject")
    with pytest.raises(UserError, match=r"http\.agent_name is not set"):
        _run(path, CrawlOptions(), paper)
    assert paper.folder.segments() == []
    assert RunMarker.read(path) is None


def test_a_run_that_goes_on_counts_its_rounds_once(tmp_path: Path) -> None:
    """Rounds of the run and of the call begin at the same mark, and agree with why it ended."""
    path = tmp_path / "crawl"
    paper = PaperCrawl(path)
    RunMarker.begin(path, paper.folder.table("crawldb").version())
    paper.crawldb({"http://a.test/": PageStatus.DB_FETCHED}, absorbs=[paper.segment({})])
    with open_context(path, QUICK, {}, clock=paper.clock) as context:
        report = run(context, CrawlOptions(rounds=1), _Nobody())
    assert (report.rounds, report.before) == (1, 1)
    assert report.ended == "that was all that was asked for"
    assert (report.only_completed, report.failed) == (True, False)


def test_rounds_that_were_undone_do_not_count(tmp_path: Path) -> None:
    """A rollback in the middle of a run gives its rounds back."""
    path = tmp_path / "crawl"
    paper = PaperCrawl(path)
    absorbed = [paper.segment({})]
    paper.crawldb({"http://a.test/": PageStatus.DB_FETCHED}, absorbs=absorbed)
    crawldb = paper.folder.table("crawldb")
    assert rounds_done(crawldb, 0) == 1
    crawldb.restore(0)
    assert rounds_done(crawldb, 0) == 0


@pytest.mark.slow
def test_a_look_at_the_folder_grows_with_its_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is absorbed is asked a few times of each segment, not once for each pair of them."""
    asked = 0
    transaction = Table.transaction

    def counted(table: Table, app_id: str) -> int | None:
        nonlocal asked
        asked += 1
        return transaction(table, app_id)

    monkeypatch.setattr(Table, "transaction", counted)
    costs = []
    for segments in (1, 2, 3):
        path = tmp_path / str(segments)
        paper = PaperCrawl(path)
        absorbed = [paper.segment({}) for _ in range(segments)]
        paper.crawldb({"http://a.test/": PageStatus.DB_FETCHED}, absorbs=absorbed)
        asked = 0
        ended = _run(path, CrawlOptions(rounds=None, index=False), paper)
        assert ended.startswith("nothing to fetch: 1 not due yet")
        costs.append(asked)
    assert costs[2] - costs[1] == costs[1] - costs[0]
