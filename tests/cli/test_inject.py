"""The door `inject`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from filbert.cli.inject import command
from filbert.errors import UserError
from filbert.model.clock import FixedClock
from filbert.store.crawl import CrawlFolder

if TYPE_CHECKING:
    from pathlib import Path


def call(*arguments: str) -> str:
    """Run the command; return what it prints."""
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_it_makes_the_crawl_folder(tmp_path: Path) -> None:
    """And says what it did."""
    crawl = tmp_path / "crawl"
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://a.org/\nhttp://b.org/x.gif\n")

    assert call(str(crawl), str(seeds)) == (
        "1 new page, 0 were there already, 1 line is no seed (see above)\n"
    )
    assert call(str(crawl), str(seeds), "http://c.org/", "--no-filter") == (
        "2 new pages, 1 were there already\n"
    )
    assert CrawlFolder.open(crawl, clock=FixedClock(0)).table("crawldb").count() == 3


def test_a_missing_file_makes_no_folder(tmp_path: Path) -> None:
    """Seeds are looked for before anything is made."""
    with pytest.raises(UserError, match="there is no seed file"):
        call(str(tmp_path / "crawl"), str(tmp_path / "missing.txt"))

    assert list(tmp_path.iterdir()) == []
