"""Rows on stdout in three forms."""

from __future__ import annotations

import json
import math
from datetime import date
from pathlib import Path

import pytest

from filbert.cli import output
from filbert.cli.output import print_json, print_rows

_ROWS: list[dict[str, object]] = [
    {"url": "http://é/", "n": 1, "signature": b"\x01\xff", "yes": True, "none": None},
]
_COLUMNS = ("url", "n", "signature", "yes", "none", "missing")


def test_json_lines_keep_types(capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers stay numbers, bytes become hexadecimal, what is missing is null."""
    print_rows(_ROWS, "jsonl", _COLUMNS)

    assert json.loads(capsys.readouterr().out) == {
        "url": "http://é/", "n": 1, "signature": "01ff", "yes": True, "none": None, "missing": None,
    }  # fmt: skip


def test_csv_has_a_head(capsys: pytest.CaptureFixture[str]) -> None:
    """The first line names the columns."""
    print_rows(_ROWS, "csv", _COLUMNS)

    assert capsys.readouterr().out.splitlines() == [
        "url,n,signature,yes,none,missing",
        "http://é/,1,01ff,true,,",
    ]


def test_a_table_shows_markup_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Square brackets of a URL are no markup of the table."""
    print_rows([{"url": "http://[::1]/[bold]x"}], "table", ("url",))

    assert "http://[::1]/[bold]x" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 4_000_000, "x" * 500 + "…"),
        ("\n".join(map(str, range(500))), "0123456789…"),
        (["y" * 300, "z" * 300], "y" * 300 + ", " + "z" * 198 + "…"),
        (b"\xab" * 300, "ab" * 250 + "…"),
    ],
)
def test_a_cell_of_a_table_is_cut(
    value: object, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long cell shows its beginning and an ellipsis; a line below says how to have it whole."""
    print_rows([{"n": value}, {"n": "short"}], "table", ("n",))

    _, *lines, below = capsys.readouterr().out.splitlines()
    cells = [line.strip() for line in lines if line.strip(" ─")]
    got = "".join(cells[1:-1]).replace(" ", "")
    assert (got, cells[-1]) == (shown.replace(" ", ""), "short")
    assert below == "Cut cells: 1. --format jsonl or csv prints them whole."


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_programs_get_whole_cells(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The forms for programs cut nothing and say nothing else."""
    print_rows([{"n": "x" * 10_000}], form, ("n",))

    out = capsys.readouterr().out
    assert (out.count("x"), "Cut" in out) == (10_000, False)


def test_a_line_end_of_http_stays_inside_its_cell(capsys: pytest.CaptureFixture[str]) -> None:
    """No carriage return gets to a terminal, where it would overwrite the line."""
    print_rows([{"n": "one\r\ntwo\rthree"}], "table", ("n",))

    lines = [line.strip() for line in capsys.readouterr().out.split("\n")]
    assert lines[-4:-2] == ["one", "two\\u000dthree"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "null"),
        ({"a": [math.inf, (-math.inf, 1.5)]}, '{"a": [null, [null, 1.5]]}'),
        (
            {1: 2, (1, 2): 3, date(2026, 1, 2): math.nan},
            '{"1": 2, "[1, 2]": 3, "2026-01-02": null}',
        ),
        ({None: b"\x01", True: date(2026, 1, 2)}, '{"null": "01", "true": "2026-01-02"}'),
    ],
)
def test_json_is_json(value: object, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What JSON cannot say is null or text; no reader of JSON stumbles over NaN."""
    print_json(value)

    assert capsys.readouterr().out == said + "\n"


def test_json_is_written_in_one_place() -> None:
    """A door that called `json.dumps` itself would write NaN."""
    doors = Path(output.__file__).parent.glob("*.py")
    assert [path.name for path in doors if "json.dumps" in path.read_text()] == ["output.py"]
