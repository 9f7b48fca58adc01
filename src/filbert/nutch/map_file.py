"""MapFiles: a folder of sorted `data` and an `index` of every 128th key.

Guarantee: a key is found by reading one stretch of `data`. An index that is missing or damaged, or
that points to other keys than it says, is made anew in memory, by one pass over the data. Keys are
equal if neither comes before the other, as Java compares them; they are written in growing order.
Source: Nutch 0.7 `io.MapFile`; Hadoop `io.MapFile`.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Self, TypeVar

from filbert.errors import UserError
from filbert.nutch import simple
from filbert.nutch.data import CorruptDataError, DataInput
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.sequence_writer import HADOOP, OLD, Compression, Form, SequenceFileWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filbert.nutch.sequence_file import Record
    from filbert.nutch.writable import WritableComparable

__all__ = ["DATA", "INDEX", "INDEX_INTERVAL", "MapFile", "MapFileWriter", "fix", "is_map_file"]

DATA, INDEX = "data", "index"
INDEX_INTERVAL = 128
LONG_OLD, LONG_HADOOP = "long", "org.apache.hadoop.io.LongWritable"

_KEYS: dict[str, type[WritableComparable]] = {
    "UTF8": simple.UTF8,
    LONG_OLD: simple.LongWritable,
    "MD5Hash": simple.MD5Hash,
    "org.apache.hadoop.io.Text": simple.Text,
    "org.apache.hadoop.io.UTF8": simple.UTF8,
    LONG_HADOOP: simple.LongWritable,
    "org.apache.hadoop.io.IntWritable": simple.IntWritable,
    "org.apache.hadoop.io.FloatWritable": simple.FloatWritable,
    "org.apache.hadoop.io.BytesWritable": simple.BytesWritable,
    "org.apache.hadoop.io.MD5Hash": simple.MD5Hash,
}
_Answer = TypeVar("_Answer")
_log = logging.getLogger(__name__)


def is_map_file(path: Path) -> bool:
    """Say whether a folder is a MapFile."""
    return (path / DATA).is_file()


class MapFile:
    """A reader. A context manager, and an iterator of records.

    Args:
        path: The folder.
        key: The class of the keys; None: as the header says.
        verify, skip_bad: As in `SequenceFile`.

    Raises:
        CorruptDataError: `data` is no SequenceFile.
        UserError: The class of the keys is not known.
    """

    def __init__(
        self,
        path: Path,
        key: type[WritableComparable] | None = None,
        *,
        verify: bool = True,
        skip_bad: bool = False,
    ) -> None:
        self.path = path
        self.data = SequenceFile(path / DATA, verify=verify, skip_bad=skip_bad)
        known = key or _KEYS.get(self.data.header.key_class)
        if known is None:
            self.data.close()
            raise UserError(
                f"{path} has keys of a class that is not known here: {self.data.header.key_class}"
            )
        self._key = known
        self._verify, self._skip_bad = verify, skip_bad
        self._is_scanned = False
        self._entries: tuple[list[WritableComparable], list[int]] | None = None
        self._peeked: Record | None = None

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the files."""
        self.close()

    def close(self) -> None:
        """Close the files."""
        self.data.close()

    def __iter__(self) -> Iterator[Record]:
        """Yield the records from where the reader stands."""
        while (record := self.next()) is not None:
            yield record

    def next(self) -> Record | None:
        """Return the next record; None at the end."""
        record, self._peeked = self._peeked, None
        return record if record is not None else self.data.next()

    def reset(self) -> None:
        """Stand at the first record."""
        self._peeked = None
        self.data.seek(self.data.header.length)

    def key_of(self, record: Record) -> WritableComparable:
        """Return the key of a record."""
        return self._key.read(DataInput(record.key))

    def seek(self, key: WritableComparable) -> bool:
        """Stand at a key, or at the next larger one; return whether the key is there."""
        return self._with_index(lambda: self._seek(key))

    def _seek(self, key: WritableComparable) -> bool:
        self._peeked = None
        for record, found in self._from(self._place_of(key), self.data):
            if not found < key:
                self._peeked = record
                return not key < found
        return False

    def get(self, key: WritableComparable) -> bytes | None:
        """Return the value of a key; None if it is not there."""
        record = self.next() if self.seek(key) else None
        return None if record is None else record.value

    def closest(self, key: WritableComparable, *, before: bool = False) -> Record | None:
        """Return the record of a key, else of the next larger one; `before`: the next smaller."""
        if self.seek(key) or not before:
            return self.next()
        last: Record | None = None
        self._peeked = None
        for record, found in self._from(self._place_of(key), self.data):
            if not found < key:
                break
            last = record
        return last

    def final_key(self) -> WritableComparable | None:
        """Return the last key; None if there is none. The reader's place is kept."""
        return self._with_index(self._final_key)

    def _final_key(self) -> WritableComparable | None:
        last: WritableComparable | None = None
        with SequenceFile(self.data.path, verify=self._verify, skip_bad=self._skip_bad) as data:
            for _, key in self._from(len(self._index()[0]) - 1, data):
                last = key
        return last

    def _with_index(self, ask: Callable[[], _Answer]) -> _Answer:
        """Ask with the index there is, and where it misleads with one made anew."""
        try:
            return ask()
        except CorruptDataError as error:
            if self._is_scanned:
                raise
            self._scan(error)
            return ask()

    def _place_of(self, key: WritableComparable) -> int:
        """Return the number of the last entry of the index up to a key; -1: none."""
        return bisect_right(self._index()[0], key) - 1

    def _from(self, place: int, data: SequenceFile) -> Iterator[tuple[Record, WritableComparable]]:
        """Yield the records from an entry of the index on, and their keys.

        Raises:
            CorruptDataError: The key of the entry is not there.
        """
        keys, positions = self._index()
        data.seek(positions[place] if place >= 0 else data.header.length)
        entry = keys[place] if place >= 0 and not self._is_scanned else None
        while (record := data.next()) is not None:
            key = self.key_of(record)
            if entry is not None and not key < entry:
                if entry < key:
                    break
                entry = None  # it is where the index says
            yield record, key
        if entry is not None:
            raise CorruptDataError(f"the key {entry} is not where the index says")

    def _index(self) -> tuple[list[WritableComparable], list[int]]:
        if self._entries is None:
            try:
                self._entries = self._read_index()
            except (CorruptDataError, OSError) as error:
                self._scan(error)
        assert self._entries is not None
        return self._entries

    def _scan(self, error: Exception) -> None:
        _log.warning("%s has no index that can be used (%s); made anew", self.path, error)
        entries = list(_entries(self.data.path, verify=self._verify, skip_bad=self._skip_bad))
        self._entries = [self.key_of(one) for one in entries], [one.position for one in entries]
        self._is_scanned = True

    def _read_index(self) -> tuple[list[WritableComparable], list[int]]:
        keys: list[WritableComparable] = []
        positions: list[int] = []
        with SequenceFile(self.path / INDEX, verify=self._verify) as index:
            for record in index:
                key = self._key.read(DataInput(record.key))
                position = DataInput(record.value).read_long()
                if keys and key < keys[-1]:
                    raise CorruptDataError(f"key out of order: {key} after {keys[-1]}")
                if not self.data.header.length <= position <= self._size():
                    raise CorruptDataError(f"it points to byte {position} of the data")
                keys.append(key)
                positions.append(position)
        return keys, positions

    def _size(self) -> int:
        return (self.path / DATA).stat().st_size


class MapFileWriter:
    """A writer. A context manager.

    Args:
        path: The folder; it must not be there.
        key_class, value_class: Java's names; aliases in a file of old.
        form: How `data` is written.
        index_interval: Records from one index entry to the next.

    Raises:
        UserError: The folder is there already.
    """

    def __init__(
        self,
        path: Path,
        key_class: str,
        value_class: str,
        form: Form | None = None,
        *,
        index_interval: int = INDEX_INTERVAL,
    ) -> None:
        form = form or Form()
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            raise UserError(f"already exists: {path}") from None
        self._data = SequenceFileWriter(path / DATA, key_class, value_class, form)
        self._index = _index_writer(path, key_class, form)
        self._key: type[WritableComparable] | None = _KEYS.get(key_class)
        self._old = form.version == OLD
        self._interval = index_interval
        self._since = index_interval  # records since the last entry
        self._last_position = -1
        self._last: WritableComparable | None = None

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the files."""
        self.close()

    def append(self, key: WritableComparable, value: bytes) -> None:
        """Write a record.

        Raises:
            UserError: The key is of another class, or before the last one, or equal to it in a file
                of old.
        """
        if type(key) is not self._key:
            self._check_class(key)
        if self._last is not None and (key < self._last or (self._old and key == self._last)):
            raise UserError(f"key out of order: {key} after {self._last}")
        self._last = key
        packed, position = key.to_bytes(), self._data.position
        # Records of one block have one position, and need one entry.
        if self._since >= self._interval and position > self._last_position:
            self._index.append(packed, position.to_bytes(8, "big"))
            self._since, self._last_position = 0, position
        self._since += 1
        self._data.append(packed, value)

    def _check_class(self, key: WritableComparable) -> None:
        if self._key is None:  # of a class that has its name from elsewhere
            self._key = type(key)
        elif not isinstance(key, self._key):
            raise UserError(f"wrong key class: {type(key).__name__} is not {self._key.__name__}")

    def close(self) -> None:
        """Write what is left, and close the files."""
        self._data.close()
        self._index.close()


def fix(path: Path) -> int:
    """Make the index of a MapFile anew; return how many records the data have.

    Raises:
        UserError: There is an index already.
        CorruptDataError: The data are damaged.
    """
    with SequenceFile(path / DATA) as data:
        header = data.header
        form = Form(version=OLD if header.version <= OLD else HADOOP)
        with _index_writer(path, header.key_class, form) as index:
            count, last = 0, -1
            for record in data:
                if count % INDEX_INTERVAL == 0 and record.position > last:
                    index.append(record.key, record.position.to_bytes(8, "big"))
                    last = record.position
                count += 1
    return count


def _index_writer(path: Path, key_class: str, form: Form) -> SequenceFileWriter:
    if form.version == OLD:
        return SequenceFileWriter(path / INDEX, key_class, LONG_OLD, form)
    packed = replace(form, compression=Compression.BLOCK, codec="default", metadata={})
    return SequenceFileWriter(path / INDEX, key_class, LONG_HADOOP, packed)


def _entries(data: Path, *, verify: bool, skip_bad: bool) -> Iterator[Record]:
    """Yield the records that an index would name."""
    with SequenceFile(data, verify=verify, skip_bad=skip_bad) as records:
        last = -1
        for number, record in enumerate(records):
            if number % INDEX_INTERVAL == 0 and record.position > last:
                last = record.position
                yield record
