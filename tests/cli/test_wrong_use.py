"""What a hand slips into: wrong numbers, bytes, places, damaged files. Said, never a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.model.statuses import PageStatus
from filbert.settings.catalog import catalog
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

OAK = "http://oak.test/"


@pytest.fixture
def crawl(tmp_path: Path) -> str:
    """The path of a crawl of one page."""
    paper = PaperCrawl(tmp_path / "crawl")
    paper.crawldb({OAK: PageStatus.DB_UNFETCHED}, step="inject")
    segment = paper.segment({OAK: {"title": "Oak", "text": "An oak."}})
    paper.crawldb({OAK: PageStatus.DB_FETCHED}, absorbs=[segment])
    return str(paper.folder.path)


@pytest.mark.parametrize(
    "args",
    [
        ["search", "-n", "9" * 20, "oak"],
        ["search", "--offset", "9" * 20, "oak"],
        ["generate", "--top-n", "9" * 20],
        ["generate", "--add-days", "nan"],
        ["generate", "--add-days", "inf"],
        ["generate", "--add-days", "1e300"],
        ["readdb", "--top-n", "9" * 20],
        ["readdb", "--top-n", "1", "--min-score", "nan"],
        ["readdb", "--dump", "-o", "/no/such/folder/x"],
        ["readseg", "--dump", "-o", "/no/such/folder/x"],
        ["readlinkdb", "--dump", "-o", "/no/such/folder/x"],
    ],
)
def test_an_option_that_cannot_be_is_wrong_use(
    crawl: str, args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers without bounds, no numbers, places that are not there: exit 2, by the option."""
    command, *options = args
    assert run([command, crawl, *options]) == 2

    err = capsys.readouterr().err
    assert "Invalid value for '-" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["search", "explain", "sql", "inject"])
def test_arguments_are_utf8(crawl: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes of another encoding are refused at the door: no table or index could hold them."""
    assert run([command, crawl, b"caf\xe9".decode("utf-8", "surrogateescape")]) == 2

    assert r"argument 3 is not UTF-8: b'caf\xe9'" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["inf", "nan", "1e400"])
def test_no_setting_is_infinite(value: str) -> None:
    """Each setting that is a number refuses what is none, except where `nan` means off."""
    numbers = [one for one in catalog().values() if one.scalar is float]
    assert numbers
    for setting in numbers:
        if value == "nan" and setting.is_optional:
            continue
        assert run(["config", "show", "-D", f"{setting.name}={value}"]) == 2, setting.name


def test_a_crawl_folder_where_none_can_be(capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that the system does not let anyone make is wrong use."""
    assert run(["inject", "/proc/crawl", OAK]) == 2

    assert "cannot be made" in capsys.readouterr().err


@pytest.mark.parametrize("harm", ["cut", "gone"])
@pytest.mark.parametrize(
    "args",
    [
        ["readdb", "--stats"],
        ["readdb", "--url", OAK],
        ["readdb", "--dump"],
        ["readseg", "--list"],
        ["readseg", "--get", OAK],
        ["sql", "select * from crawldb"],
        ["diff"],
        ["generate"],
        ["explain", OAK],
    ],
)
def test_a_damaged_table_is_named(
    crawl: str, tmp_path: Path, args: list[str], harm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Parquet file that is cut short or missing is exit 3, with the file's name."""
    for file in (tmp_path / "crawl").rglob("*.parquet"):
        if harm == "cut":
            file.write_bytes(file.read_bytes()[:100])
        else:
            file.unlink()
    command, *options = args

    assert run([command, crawl, *options]) == 3

    err = capsys.readouterr().err
    said = "is missing: /" if harm == "gone" else "is damaged: "
    assert f"a file of the crawl folder {said}" in err
    assert ".parquet" in err
    assert "file system operations" not in err


def test_no_fact_hides_a_field_of_explain(crawl: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each JSON line says its part of the answer in words, also that of a fetch list."""
    assert run(["explain", crawl, OAK, "--format", "jsonl"]) == 0

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    parts = {"answer", "rules", "history", "next", "links", "index"}
    assert {line["part"] for line in lines} <= parts
    assert "generated" in {line["kind"] for line in lines}


def test_retention_of_any_number_of_days(crawl: str) -> None:
    """More days than the calendar has keep everything."""
    assert run(["vacuum", crawl, "--keep-segments", "99999999999d", "--dry-run"]) == 0
