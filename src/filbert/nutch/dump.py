"""Any file or folder of any Nutch, printed: what it is, is found out from its headers.

Guarantee: one record in memory at a time. A record of a class that is not known here is shown in
hexadecimal, never left out.
Source: headers of `io.SequenceFile` of both eras; layout of Nutch 0.6, 0.7 and 1.x.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.nutch.data import CorruptDataError, DataInput
from filbert.nutch.map_file import DATA, is_map_file
from filbert.nutch.parts import read_part
from filbert.nutch.v07 import jsonable as v07_json
from filbert.nutch.v07 import names as v07_names
from filbert.nutch.v07.fetched import FetcherOutput, FetcherOutput06
from filbert.nutch.v07.parsed import ParseData, ParseData06
from filbert.nutch.v07.webdb import STATS, Stats
from filbert.nutch.v1 import jsonable as v1_json
from filbert.nutch.v1 import names as v1_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filbert.nutch.damage import Damage
    from filbert.nutch.sequence_file import Header, Record
    from filbert.nutch.writable import Writable

__all__ = ["Dumped", "dump", "files_of"]

_OLD = 3  # versions below have short class names


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumped:
    """One record.

    Attributes:
        file: Where it lies, below the path that was asked for.
        position: The byte where it begins.
        key, value: As values of JSON.
        text: The value as Nutch would print it.
    """

    file: str
    position: int
    key: object
    value: object
    text: str


def files_of(path: Path) -> list[Path]:
    """Return the files with records at or below a path, in the order of their names.

    An index is left out, unless it was asked for; so are checksums and what is hidden.

    Raises:
        UserError: There are none.
    """
    if not path.exists():
        raise UserError(f"there is no {path}")
    if path.is_file():
        return [path]
    if is_map_file(path):
        return [path / DATA]
    found = []
    for below in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in below.relative_to(path).parts)
        is_index = below.name == "index" and is_map_file(below.parent)
        if below.is_file() and not hidden and not is_index and _is_known(below):
            found.append(below)
    if not found:
        raise UserError(
            f"{path} holds no file of Nutch's",
            hint="Name a SequenceFile, or a folder with some.",
        )
    return found


def dump(path: Path, *, damage: Damage | None = None) -> Iterator[Dumped]:
    """Yield the records of a path.

    Args:
        path: A file, or a folder.
        damage: Takes what is left out; None: damage is an error.

    Raises:
        UserError: There is nothing of Nutch's.
        CorruptDataError: A file is damaged.
    """
    for file in files_of(path):
        name = file.name if file == path else str(file.relative_to(path))
        if file.name == STATS and not _begins_well(file):
            stats = Stats.from_bytes(file.read_bytes())
            yield Dumped(file=name, position=0, key=STATS, value=asdict(stats), text=str(stats))
            continue
        yield from read_part(file, partial(_reader, name), damage=damage)


def _reader(name: str, header: Header) -> Callable[[Record], Dumped]:
    return partial(_dumped, name, header)


def _dumped(name: str, header: Header, record: Record) -> Dumped:
    key, _ = _shown(header, header.key_class, record.key)
    value, text = _shown(header, header.value_class, record.value)
    return Dumped(file=name, position=record.position, key=key, value=value, text=text)


def _shown(header: Header, name: str, data: bytes) -> tuple[object, str]:
    """Return a record as JSON and as text."""
    old = header.version < _OLD
    cls = v07_names.record_class(name) if old else v1_names.record_class(name)
    if cls is None:
        cls, old = v07_names.record_class(name), True
    if cls is None:
        return {"class": name, "hex": data.hex()}, data.hex(" ")
    record = _read(_of_era(cls, data), data)
    shown = v07_json.jsonable(record) if old else v1_json.jsonable(record)
    return shown, str(record)


def _of_era(cls: type[Writable], data: bytes) -> type[Writable]:
    """Return the class of 0.6 for what 0.6 wrote: the version byte tells."""
    if cls is FetcherOutput and data[:1] <= b"\x04":
        return FetcherOutput06
    if cls is ParseData and data[:1] == b"\x01":
        return ParseData06
    return cls


def _read(cls: type[Writable], data: bytes) -> Writable:
    source = DataInput(data)
    record = cls.read(source)
    if source.left:
        raise CorruptDataError(
            f"read {source.position} bytes of a {cls.__name__}, should read {len(data)}"
        )
    return record


def _is_known(path: Path) -> bool:
    return _begins_well(path) or (path.name == STATS and path.stat().st_size == 17)


def _begins_well(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(3) == b"SEQ"
