"""Each command of the table, once as it is meant and once wrong."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.cli.commands import COMMANDS
from filbert.model.statuses import PageStatus
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

OAK, ELM, NEW = "http://oak.test/", "http://elm.test/", "http://new.test/"
SEGMENT = "20261130005320"

RIGHT: dict[str, tuple[list[str], int, str]] = {
    "crawl": (["CRAWL", "--rounds", "1"], 0, "0 rounds done; ended: nothing to fetch"),
    "search": (["CRAWL", "oak"], 0, "1 of 1 pages found:"),
    "explain": (["CRAWL", OAK], 0, "It is in the crawldb as db_fetched: it was fetched."),
    "inject": (["CRAWL", NEW], 0, "1 new page, 0"),
    "generate": (["CRAWL"], 1, "nothing to fetch: 1 not due yet"),
    "fetch": (["CRAWL", SEGMENT], 0, f"segment {SEGMENT} is fetched already"),
    "parse": (["CRAWL"], 0, "nothing to parse"),
    "updatedb": (["CRAWL"], 0, "the crawldb has absorbed all segments"),
    "invertlinks": (["CRAWL"], 0, "the linkdb has absorbed all segments"),
    "dedup": (["CRAWL"], 0, "0 pages marked as duplicates"),
    "index": (["CRAWL"], 0, "the index is up to date"),
    "clean": (["CRAWL"], 0, "nothing to clean"),
    "queues": (["CRAWL"], 1, "no fetch of"),
    "readdb": (["CRAWL", "--top-n", "1", "--format", "csv"], 0, f"1.0,{OAK},db_fetched"),
    "readseg": (["CRAWL", "--format", "csv"], 0, f"{SEGMENT},parsed,true,1,"),
    "readlinkdb": (["CRAWL", "--url", ELM, "--format", "csv"], 0, f"{OAK},elm,"),
    "sql": (["CRAWL", "select url from pages", "--format", "csv"], 0, OAK),
    "diff": (["CRAWL"], 0, "crawldb version 1 (1 URL) to 2 (1 URL)"),
    "filterchecker": (["CRAWL", OAK], 0, f"+{OAK}\tregex-urlfilter.txt:20 +."),
    "normalizerchecker": (["CRAWL", "HTTP://Oak.test"], 0, OAK),
    "robots": (["file:///x"], 0, "+file:///x\tfile: has no robots.txt"),
    "parsechecker": (["CRAWL", "PAGE", "--url", NEW], 0, "title:                   New"),
    "rollback": (["CRAWL"], 0, "undid updatedb (version 2): 1 URL before, 1 now"),
    "vacuum": (["CRAWL"], 0, "removed 0 segments and 0 files of old versions, 0.0 MB"),
    "nutch": (["export", "CRAWL", "NEW"], 0, "exported to "),
    "config": (["show", "CRAWL", "-D", "fetcher.threads=7"], 0, "fetcher.threads"),
}
"""Command → arguments, exit code, the beginning of a line that it prints."""

WRONG: dict[str, tuple[list[str], str]] = {
    "crawl": (["CRAWL", "--rounds", "-1"], "Invalid value for '-"),
    "search": (["CRAWL", "title:"], "such as title:oak"),
    "explain": (["NONE", OAK], "there is no crawl folder"),
    "inject": (["NONE", "no-such-file.txt"], "no-such-file.txt"),
    "generate": (["CRAWL", "--top-n", "all"], "Invalid value for '-"),
    "fetch": (["CRAWL", "20200101000000"], "20200101000000"),
    "parse": (["CRAWL", "20200101000000"], "20200101000000"),
    "updatedb": (["CRAWL", "20200101000000"], "20200101000000"),
    "invertlinks": (["CRAWL", "20200101000000"], "20200101000000"),
    "dedup": (["CRAWL", "--group", "planet"], "planet"),
    "index": (["CRAWL", "20200101000000"], "20200101000000"),
    "clean": (["NONE"], "there is no crawl folder"),
    "queues": (["NONE"], "there is no crawl folder"),
    "readdb": (["CRAWL"], "Say one of --stats, --url, --top-n and --dump."),
    "readseg": (["CRAWL", "--get", OAK, "--format", "csv"], "--format table (text) or jsonl"),
    "readlinkdb": (["CRAWL"], "Say one of --url and --dump."),
    "sql": (["CRAWL", "drop view pages"], "`filbert sql` only reads"),
    "diff": (["CRAWL", "2", "1"], "nothing to compare from version 2 to 1"),
    "filterchecker": (["CRAWL", OAK, "-D", "urls.filters=oaks"], "oaks"),
    "normalizerchecker": (["CRAWL", OAK, "--scope", "partition"], "Invalid value for '--scope'"),
    "robots": (["http://a.test/"], "http.agent_name is not set, and a.test is not this machine"),
    "parsechecker": (["CRAWL", NEW], "is no file, and no segment has a capture of it"),
    "rollback": (["CRAWL", "--to", "9"], "9"),
    "vacuum": (["CRAWL", "--keep-segments", "some"], "some"),
    "nutch": (["import", "NONE", "CRAWL"], "there is no "),
    "config": (["show", "CRAWL", "-D", "fetcher.thread=7"], "fetcher.threads"),
}
"""Command → wrong arguments, and what the error says: what is wrong, or what would be right."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a crawl of one round, indexed, and a page; tests that write copy it."""
    folder = tmp_path_factory.mktemp("commands")
    paper = PaperCrawl(folder / "crawl")
    paper.crawldb({OAK: PageStatus.DB_UNFETCHED}, step="inject")
    link = {"from_url": OAK, "kind": "outlink", "to_linkdb": True, "anchor": "elm"}
    page = {"title": "Oak", "text": "An oak."}
    segment = paper.segment({OAK: page}, links=[{"url": ELM, **link}])
    paper.crawldb({OAK: PageStatus.DB_FETCHED}, absorbs=[segment])
    assert [run([name, str(paper.folder.path)]) for name in ("invertlinks", "index")] == [0, 0]
    (folder / "page.html").write_text("<title>New</title>")
    return folder


def _call(name: str, arguments: list[str], folder: Path) -> int:
    places = {
        "NEW": folder / "new",
        "CRAWL": folder / "crawl",
        "NONE": folder / "none",
        "PAGE": folder / "page.html",
    }
    return run([name, *(str(places.get(one, one)) for one in arguments)])


def test_every_command_is_here() -> None:
    """Who adds a command adds a right and a wrong use of it."""
    assert (list(RIGHT), list(WRONG)) == ([*COMMANDS], [*COMMANDS])


@pytest.mark.parametrize("name", RIGHT)
def test_a_command_does_what_it_says(
    name: str, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends with its exit code, and says so in a line."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    arguments, code, line = RIGHT[name]
    assert _call(name, arguments, tmp_path) == code

    got = capsys.readouterr()
    lines = [one.strip() for one in (got.out + got.err).splitlines()]
    assert [one for one in lines if one.startswith(line)], got


@pytest.mark.parametrize("name", WRONG)
def test_a_command_refuses_wrong_use(
    name: str, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is exit 2; what is wrong goes to stderr, nothing to stdout, and nothing is made."""
    arguments, words = WRONG[name]
    assert _call(name, arguments, made) == 2

    got = capsys.readouterr()
    assert (got.out, words in got.err, (made / "none").exists()) == ("", True, False), got.err
