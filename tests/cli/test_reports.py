"""The reports and undo commands as they are typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.model.statuses import PageStatus
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

OAK, ELM = "http://oak.test/", "http://elm.test/"


@pytest.fixture
def crawl(tmp_path: Path) -> str:
    """The path of a crawl of one round: a page fetched, a link found."""
    paper = PaperCrawl(tmp_path / "crawl")
    paper.crawldb({OAK: PageStatus.DB_UNFETCHED}, step="inject")
    segment = paper.segment({OAK: {"title": "Oak\x1b[31m", "text": "An oak."}})
    paper.crawldb({OAK: PageStatus.DB_FETCHED, ELM: PageStatus.DB_UNFETCHED}, absorbs=[segment])
    paper.rows("linkdb", [{"url": ELM, "from_url": OAK, "anchor": "elm"}])
    return str(paper.folder.path)


def asked(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    """Run a command; return its exit code and what it printed."""
    code = run(args)
    return code, capsys.readouterr().out


def test_the_same_rows_in_each_form(crawl: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A table for people, JSON lines or CSV for programs; no page steers the terminal."""
    query = "select url, title from pages"
    assert "Oak\\u001b[31m" in asked(capsys, "sql", crawl, query)[1]
    code, out = asked(capsys, "sql", crawl, query, "--format", "jsonl")
    assert (code, json.loads(out)) == (0, {"url": OAK, "title": "Oak\x1b[31m"})
    out = asked(capsys, "sql", crawl, query, "--format", "csv")[1]
    assert out == f"url,title\n{OAK},Oak\x1b[31m\n"


def test_readdb_answers_four_questions(
    crawl: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--stats, --url, --top-n, --dump."""
    assert "TOTAL urls" in asked(capsys, "readdb", crawl, "--stats")[1]
    assert "db_fetched" in asked(capsys, "readdb", crawl, "--url", OAK)[1]
    out = asked(capsys, "readdb", crawl, "--top-n", "1", "--format", "csv")[1]
    assert out == f"score,url,status\n1.0,{ELM},db_unfetched\n"
    out = asked(capsys, "readdb", crawl, "--dump", "--status", "db_fetched")[1]
    assert [json.loads(line)["url"] for line in out.splitlines()] == [OAK]
    output = tmp_path / "dump.csv"
    args = ("readdb", crawl, "--dump", "--format", "csv", "-o", str(output))
    assert asked(capsys, *args) == (0, "")
    assert len(output.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    "args",
    [
        ("readdb", "--stats", "--dump"),
        ("readdb",),
        ("readdb", "--stats", "--regex", "x"),
        ("readdb", "--dump", "--format", "parquet"),
        ("readlinkdb",),
        ("readlinkdb", "--url", OAK, "--regex", "x"),
        ("readseg", "--list", "--dump"),
        ("readseg", "20200101000000"),
        ("sql", "drop view crawldb"),
        ("diff", "2", "1"),
        ("rollback", "--to", "1", "--segment", "x"),
        ("rollback", "--to", "9"),
        ("vacuum", "--keep-segments", "some"),
    ],
)
def test_wrong_use_ends_with_2(
    args: tuple[str, ...], crawl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message goes to stderr and says what is right."""
    command, *rest = args
    assert run([command, crawl, *rest]) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    "args",
    [
        ("readdb", "--url", "http://x.test/"),
        ("readlinkdb", "--url", OAK),
        ("readseg", "--get", "http://x.test/"),
    ],
)
def test_not_found_ends_with_1(
    args: tuple[str, ...], crawl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script can tell that there is nothing."""
    command, *rest = args
    code, out = asked(capsys, command, crawl, *rest)
    assert (code, out) == (1, "")


@pytest.mark.parametrize("command", ["readdb", "readseg", "readlinkdb", "sql", "diff", "rollback"])
def test_no_crawl_folder_ends_with_2(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same words for each command; the folder is not made."""
    rest = {
        "readdb": ["--stats"],
        "readlinkdb": ["--dump"],
        "sql": ["select 1"],
    }.get(command, [])
    path = tmp_path / "none"
    assert run([command, str(path), *rest]) == 2
    assert f"there is no crawl folder {path}" in capsys.readouterr().err
    assert not path.exists()


def test_a_url_is_found_however_it_is_spelled(
    crawl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands first, and else under the key that the normalisers make of it."""
    code, out = asked(capsys, "readdb", crawl, "--url", "HTTP://OAK.test:80", "--format", "jsonl")
    assert (code, json.loads(out)["url"]) == (0, OAK)
    args = ("readseg", crawl, "--get", "HTTP://OAK.test:80", "--format", "jsonl")
    code, out = asked(capsys, *args)
    assert (code, json.loads(out)["url"]) == (0, OAK)
    args = ("readlinkdb", crawl, "--url", "HTTP://ELM.test:80", "--format", "jsonl")
    code, out = asked(capsys, *args)
    assert (code, json.loads(out)["from_url"]) == (0, OAK)


def test_readseg_and_readlinkdb(crawl: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each segment, one URL as Nutch writes it, the links to a page."""
    out = asked(capsys, "readseg", crawl, "--format", "jsonl")[1]
    assert json.loads(out)["parsed"] == 1
    out = asked(capsys, "readseg", crawl, "--get", OAK, "--no-content")[1]
    assert out.startswith(f"Recno:: 0\nURL:: {OAK}\n")
    assert "ParseText::\ntext: An oak." in out
    out = asked(capsys, "readseg", crawl, "--dump", "--format", "jsonl", "--no-parse-text")[1]
    assert set(json.loads(out)) == {"segment", "url", "generate", "fetch", "parse_data"}
    out = asked(capsys, "readlinkdb", crawl, "--url", ELM, "--format", "csv")[1]
    assert out == f"from_url,anchor,metadata\n{OAK},elm,\n"


def test_no_page_steers_a_terminal(
    crawl: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is for people is escaped, wherever it goes; JSON lines keep each character."""
    get = ("readseg", crawl, "--get", OAK, "--no-content")
    assert "title: Oak\\u001b[31m\n" in asked(capsys, *get)[1]
    out = asked(capsys, *get, "--format", "jsonl")[1]
    assert json.loads(out)["parse_data"][0]["title"] == "Oak\x1b[31m"
    output = tmp_path / "dump.txt"
    assert asked(capsys, "readseg", crawl, "--dump", "-o", str(output)) == (0, "")
    assert "title: Oak\\u001b[31m\n" in output.read_text()


def test_diff_rollback_diff(crawl: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What a round changed; after a rollback there is no difference to before it."""
    code, out = asked(capsys, "diff", crawl, "--format", "jsonl")
    first = json.loads(out.splitlines()[0])
    assert (code, first["change"], first["samples"]) == (0, "new", [ELM])
    assert asked(capsys, "rollback", crawl)[1].startswith("undid updatedb (version 2)")
    assert asked(capsys, "diff", crawl, "1", "3", "--format", "jsonl") == (0, "")
    assert "removed 0 segments" in asked(capsys, "vacuum", crawl)[1]
