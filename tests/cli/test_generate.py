"""The door `generate`: segments on stdout, and exit codes that a script can ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from filbert.cli import run
from filbert.cli.generate import command
from filbert.model.clock import FixedClock, SystemClock
from filbert.model.statuses import PageStatus
from filbert.store.crawl import CrawlFolder
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

A, B = "http://a.org/", "http://b.org/"
_DAY_MS = 86_400_000


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl folder with one page due and one due in ten days."""
    path = tmp_path / "crawl"
    now = SystemClock().now_ms()
    paper = PaperCrawl(path, clock=FixedClock(now))
    due = {"status": PageStatus.DB_UNFETCHED, "fetch_time": now - 1000}
    paper.crawldb({A: due, B: {**due, "fetch_time": now + 10 * _DAY_MS}})
    return path


def names(crawl: Path) -> list[str]:
    """The segments of a crawl."""
    return [segment.name for segment in CrawlFolder.open(crawl, clock=FixedClock(0)).segments()]


def test_names_of_segments_on_stdout(crawl: Path) -> None:
    """One a line, so that a script can take them; what was done goes to stderr."""
    done = CliRunner().invoke(command, [str(crawl), "--add-days", "11", "--top-n", "5"])

    assert done.stdout.split() == names(crawl)
    assert done.stderr == f"2 of 2 due pages in {names(crawl)[0]}\n"


def test_nothing_to_do_is_exit_code_1(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the reason and the time of the next page on stderr, and nothing on stdout."""
    assert run(["generate", str(crawl), "--expr", "score > 5"]) == 1
    captured = capsys.readouterr()

    assert captured.out == ""
    assert "nothing to fetch: 1 not due yet, 1 rejected by the expression" in captured.err
    assert names(crawl) == []


def test_a_wrong_expression_is_exit_code_2(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a mark under the fault."""
    assert run(["generate", str(crawl), "--expr", "score >> 5"]) == 2
    assert "expression, column 8: > cannot stand here" in capsys.readouterr().err


def test_show_sql_does_nothing(crawl: Path) -> None:
    """It prints what would run."""
    done = CliRunner().invoke(command, [str(crawl), "--show-sql", "--top-n", "3"])

    assert "from crawldb" in done.stdout
    assert names(crawl) == []


def test_a_slip_in_an_expression_is_told(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name near a variable is a warning: it may be metadata. What is wrong is an error alone."""
    assert run(["generate", str(crawl), "--expr", 'statuss == "db_unfetched"']) == 1
    assert "statuss is read as metadata; did you mean status?" in capsys.readouterr().err

    assert run(["generate", str(crawl), "--expr", "fetchtime > 3"]) == 2
    err = capsys.readouterr().err
    assert ("is read as metadata" in err, "Write fetchTime." in err) == (False, True)
