"""A crawl folder that cannot be written: it can be read, and what writes says why it does not."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.model.statuses import PageStatus
from filbert.steps.context import open_context
from filbert.steps.index import IndexOptions
from filbert.steps.index import run as make_index
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OAK = "http://oak.test/"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with `crawl`, which has one page, searchable."""
    paper = PaperCrawl(tmp_path / "there" / "crawl")
    paper.crawldb({OAK: PageStatus.DB_UNFETCHED}, step="inject")
    segment = paper.segment({OAK: {"title": "Oak", "text": "An oak."}})
    paper.crawldb({OAK: PageStatus.DB_FETCHED}, absorbs=[segment])
    with open_context(paper.folder.path, (), {}) as context:
        make_index(context, IndexOptions())
    return tmp_path / "there"


@pytest.fixture(params=["mount", "permission"])
def closed(made: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    """The folder, made unwritable, and the word for why."""
    if request.param == "mount":
        if os.geteuid() != 0 or not _mounted(made):
            pytest.skip("a folder can be mounted read-only by root only")
        yield made, "read-only file system"
        subprocess.run(["umount", "-l", str(made)], check=True)
        return
    if os.geteuid() == 0:
        pytest.skip("permissions hold for users who are not root")
    folders = [made, *(path for path in made.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield made, "no permission"
    for folder in folders:
        folder.chmod(0o755)


def _mounted(folder: Path) -> bool:
    calls = (
        ["mount", "--bind", str(folder), str(folder)],
        ["mount", "-o", "remount,ro,bind", str(folder)],
    )
    return all(
        subprocess.run(call, check=False, capture_output=True).returncode == 0 for call in calls
    )


def test_what_reads_works(closed: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    """search, explain, readdb, readseg and sql need no right to write."""
    crawl = str(closed[0] / "crawl")
    calls = (
        ["search", crawl, "oak"],
        ["explain", crawl, OAK],
        ["readdb", crawl, "--stats"],
        ["readseg", crawl, "--list"],
        ["sql", crawl, "select url from crawldb"],
    )
    assert [run(call) for call in calls] == [0] * len(calls), capsys.readouterr().err


@pytest.mark.parametrize(
    "args",
    [
        ["generate", "{}"],
        ["inject", "{}", "http://ash.test/"],
        ["inject", "{}-new", "http://ash.test/"],
        ["crawl", "{}", "-D", "http.agent_name=tester"],
        ["vacuum", "{}"],
        ["rollback", "{}"],
    ],
    ids=" ".join,
)
def test_what_writes_says_why_it_cannot(
    closed: tuple[Path, str], args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A step ends before its work with exit code 3, the folder and the reason; no traceback."""
    crawl = closed[0] / "crawl"
    assert run([arg.format(crawl) for arg in args]) == 3
    told = capsys.readouterr().err
    assert f"error: cannot write to {crawl}" in told
    assert closed[1] in told
