"""Rows on stdout in three forms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from filbert.cli.output import print_rows

if TYPE_CHECKING:
    import pytest

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
