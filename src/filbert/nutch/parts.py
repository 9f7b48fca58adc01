"""Folders of parts: what a job of Hadoop leaves, read record by record.

Guarantee: hidden files, checksums and `_SUCCESS` are no parts; parts come in the order of their
names. One part is a SequenceFile, or the folder of a MapFile.
Source: Hadoop `FileOutputFormat`, `MapFileOutputFormat`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.nutch.map_file import DATA, is_map_file
from filbert.nutch.sequence_file import SequenceFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.nutch.sequence_file import Record, Skipped

__all__ = ["part_files", "records"]


def part_files(folder: Path) -> list[Path]:
    """Return the data files of the parts of a folder; none if it is not there."""
    if not folder.is_dir():
        return []
    found = []
    for part in sorted(folder.iterdir()):
        if part.name.startswith((".", "_")) or part.suffix == ".crc":
            continue
        if is_map_file(part):
            found.append(part / DATA)
        elif part.is_file():
            found.append(part)
    return found


def records(
    folder: Path, *, skip_bad: bool = False, skipped: list[Skipped] | None = None
) -> Iterator[Record]:
    """Yield the records of all parts of a folder.

    Args:
        folder: The folder of the parts.
        skip_bad: Go on behind damage.
        skipped: Takes what was left out.

    Raises:
        CorruptDataError: A part is damaged; not with `skip_bad`.
    """
    for path in part_files(folder):
        with SequenceFile(path, skip_bad=skip_bad) as file:
            yield from file
            if skipped is not None:
                skipped.extend(file.skipped)
