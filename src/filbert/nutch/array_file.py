"""ArrayFiles, whose keys are 0, 1, 2 …, and SetFiles, which have keys alone.

Source: Nutch 0.7 `io.ArrayFile`, `io.SetFile`; Hadoop's classes of the same names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.nutch.map_file import LONG_HADOOP, LONG_OLD, MapFile, MapFileWriter
from filbert.nutch.sequence_writer import OLD, Form
from filbert.nutch.simple import LongWritable

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.nutch.writable import WritableComparable

__all__ = ["ArrayFile", "ArrayFileWriter", "SetFile", "SetFileWriter"]

_NULL_OLD, _NULL_HADOOP = "null", "org.apache.hadoop.io.NullWritable"


class ArrayFile(MapFile):
    """A reader of values by number."""

    def __init__(self, path: Path, *, verify: bool = True, skip_bad: bool = False) -> None:
        super().__init__(path, LongWritable, verify=verify, skip_bad=skip_bad)

    def __len__(self) -> int:
        """Return how many values there are."""
        last = self.final_key()
        return last.value + 1 if isinstance(last, LongWritable) else 0

    def __getitem__(self, number: int) -> bytes:
        """Return the value of a number.

        Raises:
            IndexError: There is none.
        """
        value = self.at(number)
        if value is None:
            raise IndexError(f"{self.path} has no value {number}")
        return value

    def at(self, number: int) -> bytes | None:
        """Return the value of a number; None beyond the end."""
        return self.get(LongWritable(number))

    def seek_to(self, number: int) -> bool:
        """Stand at a number; return whether it is there."""
        return self.seek(LongWritable(number))


class ArrayFileWriter(MapFileWriter):
    """A writer of values.

    Args:
        path: The folder; it must not be there.
        value_class: Java's name; an alias in a file of old.
        form: How it is written.
    """

    def __init__(self, path: Path, value_class: str, form: Form | None = None) -> None:
        old = form is not None and form.version == OLD
        super().__init__(path, LONG_OLD if old else LONG_HADOOP, value_class, form)
        self._number = 0

    def add(self, value: bytes) -> int:
        """Write the next value; return its number."""
        number = self._number
        self.append(LongWritable(number), value)
        self._number += 1
        return number


class SetFile(MapFile):
    """A reader of keys."""

    def has(self, key: WritableComparable) -> bool:
        """Say whether a key is there."""
        return self.seek(key)


class SetFileWriter(MapFileWriter):
    """A writer of keys.

    Args:
        path: The folder; it must not be there.
        key_class: Java's name; an alias in a file of old.
        form: How it is written.
    """

    def __init__(self, path: Path, key_class: str, form: Form | None = None) -> None:
        old = form is not None and form.version == OLD
        super().__init__(path, key_class, _NULL_OLD if old else _NULL_HADOOP, form)

    def add(self, key: WritableComparable) -> None:
        """Write the next key."""
        self.append(key, b"")
