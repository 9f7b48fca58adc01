"""Rows on stdout: a table for people, JSON lines or CSV for programs.

Guarantee: the same rows in each form; nothing but the rows on stdout. No text of a page steers a
terminal. Rows stream in the forms for programs; a table is as wide as its reader's terminal, and
a cell shows so much that a person reads it: a line below says how many were cut.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from filbert.cli.escape import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["print_json", "print_rows", "to_json"]

_CELL_CHARACTERS, _CELL_LINES = 500, 10


def print_rows(rows: Iterable[Mapping[str, object]], form: str, columns: Sequence[str]) -> None:
    """Print rows.

    Args:
        rows: The rows, values of any plain type.
        form: `table`, `jsonl` or `csv`.
        columns: Which values, in which order; a missing one is empty.
    """
    if form == "jsonl":
        for row in rows:
            print_json({name: row.get(name) for name in columns})
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        text = _safe if sys.stdout.isatty() else _text
        writer.writerows([text(row.get(name)) for name in columns] for row in rows)
    else:
        _print_table(rows, columns)


def print_json(value: object) -> None:
    """Print a value as a line of JSON; see `to_json`."""
    line = to_json(value)
    sys.stdout.write((printable(line) if sys.stdout.isatty() else line) + "\n")


def to_json(value: object) -> str:
    """Return a value as JSON on one line, as RFC 8259 has it.

    Bytes are hexadecimal, numbers that are none (NaN, infinite) null, whatever else JSON has not
    its text.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    except (ValueError, TypeError):  # a number that is none, or a key that is no text
        return json.dumps(_sayable(value), ensure_ascii=False, allow_nan=False)


def _sayable(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_key(key): _sayable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_sayable(one) for one in value]
    return value if value is None or isinstance(value, str | int) else _plain(value)


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    plain = _sayable(key)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _print_table(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    cut = 0
    for row in rows:
        whole = [_text(row.get(name)) for name in columns]
        shown = [_head(text) for text in whole]
        cut += sum(a is not b for a, b in zip(shown, whole, strict=True))
        table.add_row(*(Text(printable(text)) for text in shown))
    console = Console(file=sys.stdout, soft_wrap=False)
    if not sys.stdout.isatty():
        console.width = max(console.width, 200)
    console.print(table)
    if cut:
        console.print(
            f"Cut cells: {cut}. --format jsonl or csv prints them whole.", highlight=False
        )


def _head(text: str) -> str:
    """Return the text itself, or its beginning and an ellipsis."""
    lines = text[:_CELL_CHARACTERS].split("\n", _CELL_LINES)[:_CELL_LINES]
    head = "\n".join(lines)
    return text if len(head) == len(text) else head + "…"


def _safe(value: object) -> str:
    return printable(_text(value))


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple | list):
        return ", ".join(_text(one) for one in value)
    return str(value)


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else str(value)
