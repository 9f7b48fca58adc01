"""What is wrong with the log of a table, in words, and how to go on.

Guarantee: names the table and the file; never the dump of a library. An empty entry, which the
library reads as a version that changed nothing, is damage too: a power cut leaves such files.
Source: the Delta transaction log protocol, "Delta Log Entries" and "Protocol Evolution".
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

from filbert.errors import DataError
from filbert.store import layout

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["damaged_log", "empty_entry"]

_LONGEST_REASON = 300
_FROM_A_COPY = "nothing was changed; restore the folder from a copy, or move it away"


def damaged_log(table: Path, error: Exception) -> DataError:
    """Return the error that says why the log of `table` cannot be read.

    Args:
        table: The folder of the table.
        error: What the library said.
    """
    reason = str(error).partition("\n")[0].removeprefix("Kernel error: ")
    if reason.startswith("Unsupported"):
        words = reason.rpartition("Unsupported: ")[2]
        return DataError(
            f"{table} was written for newer readers of Delta tables than this one: {words}",
            hint="nothing was changed; use the program that wrote it, or a newer filbert",
        )
    entries = _entries(table)
    missing = _gap(table, entries)
    if missing is not None:
        return _unreadable(table, missing, "is missing")
    for version, path in entries.items():
        if not _is_whole(path):
            return _unreadable(table, version, "is damaged", newest=version == max(entries))
    return DataError(
        f"the log of the table {table} cannot be read: {reason[:_LONGEST_REASON]}",
        hint=_FROM_A_COPY,
    )


def empty_entry(table: Path, versions: range) -> DataError | None:
    """Return an error that names the first empty entry among `versions`; None: there is none."""
    for version in versions:
        path = _path(table, version)
        if path.exists() and not path.stat().st_size:
            newest = not _path(table, version + 1).exists()
            return _unreadable(table, version, "is empty", newest=newest)
    return None


def _unreadable(table: Path, version: int, how: str, *, newest: bool = False) -> DataError:
    hint = _FROM_A_COPY
    if newest and version:
        hint = (
            "nothing was changed; restore that file from a copy, or move it away: the table is"
            f" then what version {version - 1} was, and the step that wrote it can run again"
        )
    name = _path(table, version).name
    return DataError(
        f"the log of the table {table} cannot be read:"
        f" its commit {version} {how} ({layout.DELTA_LOG}/{name})",
        hint=hint,
    )


def _path(table: Path, version: int) -> Path:
    return table / layout.DELTA_LOG / f"{version:020d}.json"


def _entries(table: Path) -> dict[int, Path]:
    found = (table / layout.DELTA_LOG).glob("[0-9]*.json")
    return {int(one.stem): one for one in sorted(found) if one.stem.isdigit() and one.is_file()}


def _gap(table: Path, entries: dict[int, Path]) -> int | None:
    """Return the first commit that is missing: before another, or at the beginning."""
    if next(iter(entries), 0) and not any((table / layout.DELTA_LOG).glob("*.checkpoint*")):
        return 0
    gaps = (before + 1 for before, after in pairwise(entries) if after != before + 1)
    return next(gaps, None)


def _is_whole(path: Path) -> bool:
    """Say whether each line of an entry is a JSON object, and there is one."""
    try:
        lines = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    except (OSError, ValueError):
        return False
    return bool(lines) and all(isinstance(line, dict) for line in lines)
