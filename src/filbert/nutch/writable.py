"""What every record of this room can do: read itself, write itself, be compared and copied.

Guarantee: a record is an immutable dataclass; `read` leaves the input after its last byte, and
`write` writes the current version. Two records are equal if the original's `equals` says so.
Where Java has `readFields` and `clone`, there is `read` here, which makes a new record, and
`dataclasses.replace`.
Source: Hadoop `Writable`, `WritableComparable` (and `Cloneable`); Nutch 0.7 `io.VersionedWritable`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from filbert.nutch.data import CorruptDataError, DataInput, DataOutput

if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "VersionMismatchError",
    "VersionedWritable",
    "Writable",
    "WritableComparable",
    "read_version",
]


class VersionMismatchError(CorruptDataError):
    """A record of a version that this reader does not know: `VersionMismatchException`.

    Attributes:
        expected: The version that the reader knows.
        found: The version of the record.
    """

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(
            f"A record version mismatch occured. Expecting v{expected}, found v{found}"
        )
        self.expected = expected
        self.found = found


class Writable(ABC):
    """A record that reads and writes itself."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def read(cls, data: DataInput) -> Self:
        """Read a record from where `data` stands (`readFields`).

        Raises:
            CorruptDataError: The bytes cannot be one.
        """

    @abstractmethod
    def write(self, out: DataOutput) -> None:
        """Write the record."""

    @classmethod
    def from_bytes(cls, data: bytes, position: int = 0) -> Self:
        """Read a record from bytes."""
        return cls.read(DataInput(data, position))

    def to_bytes(self) -> bytes:
        """Return the record as bytes."""
        out = DataOutput()
        self.write(out)
        return out.getvalue()


class WritableComparable(Writable):
    """A record that has an order, so that it can be a key."""

    __slots__ = ()

    @abstractmethod
    def __lt__(self, other: Any) -> bool:
        """Say whether it comes before another of its class."""


class VersionedWritable(Writable):
    """A record that begins with a version byte, and reads no other than its own."""

    __slots__ = ()
    VERSION: ClassVar[int]

    @classmethod
    def check_version(cls, data: DataInput) -> None:
        """Read the version byte.

        Raises:
            VersionMismatchError: It is not this class's.
        """
        found = data.read_byte()
        if found != cls.VERSION:
            raise VersionMismatchError(cls.VERSION, found)


def read_version(data: DataInput, current: int) -> int:
    """Read the version byte of a record that reads older versions, too.

    Raises:
        VersionMismatchError: It is newer than `current`.
    """
    found = data.read_byte()
    if found > current:
        raise VersionMismatchError(current, found)
    return found
