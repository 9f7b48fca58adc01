"""The doors to Nutch's own data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.nutch.sequence_file import SequenceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parents[1] / "data"
DUMPS = sorted(
    path
    for era in ("nutch06", "nutch072")
    for path in (DATA / "nutch07" / era / "dump").rglob("data.json")
)


def _lines(capsys: pytest.CaptureFixture[str], *args: str) -> Iterator[dict[str, object]]:
    assert run(["nutch", "dump", *args, "--format", "jsonl"]) == 0
    for line in capsys.readouterr().out.splitlines():
        yield json.loads(line)


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: str(path.relative_to(DATA / "nutch07")))
def test_every_record_of_old_is_printed(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Keys and values of every file of both old eras are those that the real classes read."""
    era = next(parent for parent in dump.parents if parent.parent.name == "nutch07")
    path = era / dump.relative_to(era / "dump").parent
    told = json.loads(dump.read_text(encoding="utf-8"))["records"]
    got = [(one["position"], one["key"], one["value"]) for one in _lines(capsys, str(path))]
    assert got == [(one["pos"], one["key"], one["value"]) for one in told]


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("crawldb", 98),
        ("crawldb-3parts", 98),
        ("crawldb-block", 98),
        ("crawldb/current/part-r-00000/data", 98),
        ("crawldb/current/part-r-00000/index", 1),
        ("linkdb", 90),
        ("segments/20261130202918", 64),
    ],
)
def test_whatever_is_named_is_printed(
    path: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A database, a part, a file, an index, a segment."""
    assert len(list(_lines(capsys, str(DATA / "nutch1" / path)))) == count


def test_what_is_none_of_nutchs_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing path, an empty folder, and a file of something else."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").write_bytes(b"no sequence file")
    for name, code, said in (
        ("none", 2, "there is no"),
        ("empty", 2, "holds no file of Nutch's"),
        ("other", 3, "not a SequenceFile"),
    ):
        assert run(["nutch", "dump", str(tmp_path / name)]) == code
        assert said in capsys.readouterr().err


def test_damage_is_told_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--skip-bad` prints what can be read, and says what was left out."""
    source = DATA / "nutch1" / "crawldb-large" / "current" / "part-r-00000" / "data"
    data = bytearray(source.read_bytes())
    at = [record.position for record in SequenceFile(source)][700]
    data[at : at + 8] = b"\xff" * 8  # the lengths of a record
    (tmp_path / "data").write_bytes(data)
    assert run(["nutch", "dump", str(tmp_path / "data")]) == 3
    capsys.readouterr()
    assert run(["nutch", "dump", str(tmp_path / "data"), "--skip-bad", "--format", "jsonl"]) == 0
    done = capsys.readouterr()
    assert len(done.out.splitlines()) > 500
    assert "left out 41,636 bytes from byte 163594: " in done.err


def test_import_and_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There and back by the command line."""
    crawl, dest = str(tmp_path / "crawl"), str(tmp_path / "nutch")
    assert run(["nutch", "import", str(DATA / "nutch1"), crawl]) == 0
    assert "98 pages, 490 links, 3 segments with 127 captures" in capsys.readouterr().out
    assert run(["nutch", "export", crawl, dest, "--compression", "block", "--codec", "zstd"]) == 0
    assert "exported to" in capsys.readouterr().out
    assert len(list(_lines(capsys, dest))) > 500
    assert run(["nutch", "export", crawl, str(tmp_path / "x"), "--codec", "rar"]) == 2
    assert "the codec rar is not known" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("crawldb", "crawldb-dump.txt"),
        ("crawldb-block-gzip", "crawldb-dump.txt"),
        ("crawldb/current", "crawldb-dump.txt"),
        ("linkdb", "linkdb-dump.txt"),
        ("segments/20261130202918", "segment-20261130202918-dump.txt"),
    ],
)
def test_text_is_what_nutch_prints(
    path: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A diff with Nutch's own dump is empty."""
    assert run(["nutch", "dump", str(DATA / "nutch1" / path)]) == 0
    wanted = (DATA / "nutch1" / f"expected-{expected}").read_text(encoding="utf-8")
    assert capsys.readouterr().out == wanted


def test_text_of_other_files(capsys: pytest.CaptureFixture[str]) -> None:
    """A file of old, and a part of a segment: key and value of each record."""
    containers = DATA / "nutch07" / "nutch072" / "containers"
    assert run(["nutch", "dump", str(containers / "arrayfile")]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["0\tvalue 0", "1\tvalue 7"]
    part = DATA / "nutch1" / "segments" / "20261130202918" / "parse_text"
    assert run(["nutch", "dump", str(part)]) == 0
    assert capsys.readouterr().out.startswith("http://127.0.0.1:8901/\tPage 0 of")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["readdb", "crawldb", "--stats"], "crawldb-stats.txt"),
        (["readdb", "crawldb", "--stats", "--sort"], "crawldb-stats-sort.txt"),
        (["readdb", "crawldb-large", "--stats", "--sort"], "crawldb-large-stats-sort.txt"),
        (["readdb", "crawldb", "--top-n", "10"], "crawldb-top10.txt"),
        (["readdb", "crawldb", "--dump"], "crawldb-dump.txt"),
        (["readdb", "crawldb", "--dump", "--format", "csv"], "crawldb-dump.csv"),
        (["readlinkdb", "linkdb-external", "--dump"], "linkdb-external-dump.txt"),
    ],
)
def test_readers_take_a_folder_of_nutchs(
    command: list[str],
    expected: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They print what Nutch's own readers print, character for character."""
    monkeypatch.chdir(DATA / "nutch1")
    assert run(command) == 0
    assert capsys.readouterr().out == Path(f"expected-{expected}").read_text(encoding="utf-8")


def test_readseg_takes_segments_of_nutchs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line each (Nutch lists them as its file system does), one URL, or all."""
    monkeypatch.chdir(DATA / "nutch1")
    assert run(["readseg", "segments"]) == 0
    wanted = Path("expected-segments-list.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(wanted)
    assert run(["readseg", ".", "20261130202918", "--dump"]) == 0
    wanted_dump = Path("expected-segment-20261130202918-dump.txt").read_text(encoding="utf-8")
    assert capsys.readouterr().out == wanted_dump
    assert run(["readseg", "segments", "--get", "http://127.0.0.1:8901/p01.html"]) == 0
    assert "URL:: http://127.0.0.1:8901/p01.html" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["readdb", "webdb-5-analyzed", "--stats"], "6-readdb-stats.txt"),
        (["readdb", "webdb-4-updated", "--dump"], "6-readdb-dumppageurl.txt"),
    ],
)
def test_readers_take_a_web_database_of_old(
    command: list[str],
    expected: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They print what 0.7 printed, but for the number that Java drew in the first line."""
    monkeypatch.chdir(DATA / "nutch07" / "nutch072")
    assert run(command) == 0
    wanted = Path("log", expected).read_text(encoding="utf-8").splitlines()
    assert capsys.readouterr().out.splitlines()[1:] == wanted[1:]


def test_questions_to_a_crawl_of_old(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One page, the best, links to a page and of all, a segment's list and records."""
    monkeypatch.chdir(DATA / "nutch07" / "nutch072")
    url = "http://127.0.0.1:8071/copy-of-p1.html"
    for command, said in (
        (["readdb", "webdb-4-updated", "--url", url], f"Version: 4\nURL: {url}\nID: "),
        (["readdb", "webdb-5-analyzed", "--top-n", "2"], "Page 0: Version: 4\nURL: "),
        (["readlinkdb", "webdb-4-updated", "--url", url], "Found 1 links.\nLink 0: "),
        (["readlinkdb", "webdb-4-updated", "--dump"], f" to {url}\n"),
        (["readseg", "segments"], "PARSED?\tSTARTED\t\t\tFINISHED\t\tCOUNT\tDIR NAME\n"),
        (["readseg", "segments", "--get", url], f"\nURL: {url}\n"),
        (["nutch", "dump", "webdb-4-updated"], "WebDBReader@0\n\nPage 1: Version: 4\n"),
        (["nutch", "dump", "segments"], "Recno:: 0\nFetcherOutput::\n"),
    ):
        assert run(command) == 0
        assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (["readdb", "crawldb", "--url", "http://none/"], 1, "not found in the crawldb"),
        (["readdb", "linkdb", "--stats"], 2, "linkdb has no crawldb"),
        (["readdb", "crawldb", "--dump", "--regex", "x"], 2, "--regex is not there"),
        (["readlinkdb", "linkdb", "--url", "http://none/"], 1, "no link information"),
        (["readlinkdb", "crawldb", "--dump"], 2, "crawldb has no linkdb"),
        (["readseg", "segments", "20200101000000"], 2, "has no segment 20200101000000"),
        (["readdb", "../nutch07/nutch072/webdb-4-updated", "--url", "x"], 1, "not found"),
        (["readdb", "../nutch07/nutch072/segments", "--stats"], 2, "has no web database"),
        (["readseg", "../nutch07/nutch072/webdb-4-updated"], 2, "has no segments"),
    ],
)
def test_what_such_a_folder_has_not_is_told(
    command: list[str],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A URL that is not there is 1, a question that it has no answer for is wrong use."""
    monkeypatch.chdir(DATA / "nutch1")
    assert run(command) == code
    assert said in capsys.readouterr().err
