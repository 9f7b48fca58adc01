"""Files with records, and folders of parts: what a job of Hadoop leaves, read record by record.

Guarantee: hidden files, checksums and `_SUCCESS` are no parts; parts come in the order of their
names. One part is a SequenceFile, or the folder of a MapFile, be it one whose data are gone. A
record that cannot be read is an error that names file and byte, or, where damage is taken, left
out.
Source: Hadoop `FileOutputFormat`, `MapFileOutputFormat`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from filbert.nutch.damage import Skipped
from filbert.nutch.data import CorruptDataError
from filbert.nutch.map_file import DATA, INDEX, is_map_file
from filbert.nutch.sequence_file import SequenceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filbert.nutch.damage import Damage
    from filbert.nutch.sequence_file import Header, Record

__all__ = ["part_files", "read_part", "records"]

_Made = TypeVar("_Made")


def part_files(folder: Path) -> list[Path]:
    """Return the data files of the parts of a folder; none if it is not there."""
    if not folder.is_dir():
        return []
    found = []
    for part in sorted(folder.iterdir()):
        if part.name.startswith((".", "_")) or part.suffix == ".crc":
            continue
        if is_map_file(part) or (part / INDEX).is_file():
            found.append(part / DATA)
        elif part.is_file():
            found.append(part)
    return found


def read_part(
    path: Path,
    reader: Callable[[Header], Callable[[Record], _Made]],
    *,
    verify: bool = True,
    damage: Damage | None = None,
) -> Iterator[_Made]:
    """Yield what is made of each record of a file.

    Args:
        path: The file.
        reader: Gives, for a file's header, what makes something of a record of it.
        verify: Check the checksums, if there is a checksum file.
        damage: Takes what is left out; None: damage is an error.

    Raises:
        CorruptDataError: The file is damaged, or a record of it.
    """
    try:
        file = SequenceFile(path, verify=verify, skip_bad=damage is not None)
    except CorruptDataError as error:
        if damage is None:
            raise
        size = path.stat().st_size if path.exists() else 0
        damage.add([Skipped(0, error.message, size, is_rest=True)])
        return
    with file:
        make = reader(file.header)
        try:
            for record in file:
                try:
                    made = make(record)
                except CorruptDataError as error:
                    reason = f"{path}: the record at byte {record.position}: {error.message}"
                    if damage is None:
                        raise CorruptDataError(reason, hint=error.hint) from error
                    length = 0 if file.header.block else file.position - record.position
                    damage.add([Skipped(record.position, reason, length)])
                else:
                    yield made
        finally:
            if damage is not None:
                damage.add(file.skipped)


def records(folder: Path, *, damage: Damage | None = None) -> Iterator[Record]:
    """Yield the records of all parts of a folder.

    Args:
        folder: The folder of the parts.
        damage: Takes what is left out; None: damage is an error.

    Raises:
        CorruptDataError: A part is damaged.
    """
    for path in part_files(folder):
        yield from read_part(path, lambda _: _as_it_is, damage=damage)


def _as_it_is(record: Record) -> Record:
    return record
