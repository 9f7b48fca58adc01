"""The small Writables: one value each, as keys, in maps and as values.

Guarantee: each has one field, `value`; where the original is ordered, so is it, and in the order of
the original (strings by their bytes, not by their characters).
Source: Hadoop `io.Text`, `IntWritable` and so on; Nutch 0.7 `io.UTF8`, `io.MD5Hash`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from filbert.nutch import utf8
from filbert.nutch.data import text_bytes
from filbert.nutch.writable import WritableComparable

if TYPE_CHECKING:
    from filbert.nutch.data import DataInput, DataOutput

__all__ = [
    "UTF8",
    "BooleanWritable",
    "ByteWritable",
    "BytesWritable",
    "DoubleWritable",
    "FloatWritable",
    "IntWritable",
    "LongWritable",
    "MD5Hash",
    "NullWritable",
    "ShortWritable",
    "Text",
    "VIntWritable",
    "VLongWritable",
]


class _ByValue(WritableComparable):
    """Ordered by its value."""

    __slots__ = ()
    value: Any

    def __lt__(self, other: Any) -> bool:
        """Compare the values."""
        return bool(self.value < other.value)


@dataclass(frozen=True, slots=True)
class Text(WritableComparable):
    """A string: length as a variable-length int, then UTF-8. Ordered by its bytes."""

    value: str = ""

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_text())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_text(self.value)

    def __hash__(self) -> int:
        """Return the string's hash: Texts are keys by the million."""
        return hash(self.value)

    def __lt__(self, other: Text) -> bool:
        """Compare the UTF-8 of both, byte by byte."""
        return text_bytes(self.value) < text_bytes(other.value)

    def __str__(self) -> str:
        """Return the string."""
        return self.value


@dataclass(frozen=True, slots=True)
class UTF8(WritableComparable):
    """A string of old: 16 bits of length, then modified UTF-8. Ordered by its bytes."""

    value: str = ""

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_utf())

    def write(self, out: DataOutput) -> None:
        """Write it; what is too long is cut, with a warning."""
        out.write_utf(self.value)

    def __lt__(self, other: UTF8) -> bool:
        """Compare the bytes of both; their length is not looked at."""
        return utf8.encode(self.value) < utf8.encode(other.value)

    def __str__(self) -> str:
        """Return the string."""
        return self.value


@dataclass(frozen=True, slots=True)
class MD5Hash(_ByValue):
    """An MD5: 16 bytes without a length."""

    value: bytes = bytes(16)

    @classmethod
    def digest(cls, value: bytes | str) -> Self:
        """Return the MD5 of bytes; of a string, that of its `UTF8` form."""
        given = utf8.encode(value) if isinstance(value, str) else value
        return cls(hashlib.md5(given, usedforsecurity=False).digest())

    def half_digest(self) -> int:
        """Return the first 8 bytes as a signed number (`halfDigest`)."""
        return int.from_bytes(self.value[:8], "big", signed=True)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_bytes(16))

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_bytes(self.value)

    def __str__(self) -> str:
        """Return 32 hexadecimal digits in lower case."""
        return self.value.hex()


@dataclass(frozen=True, slots=True)
class NullWritable(WritableComparable):
    """Nothing: no bytes."""

    @classmethod
    def read(cls, data: DataInput) -> Self:  # noqa: ARG003 - there is nothing to read
        """Read nothing."""
        return cls()

    def write(self, out: DataOutput) -> None:
        """Write nothing."""

    def __lt__(self, other: NullWritable) -> bool:
        """Say no: nothing equals nothing."""
        return False

    def __str__(self) -> str:
        """Return what Hadoop prints."""
        return "(null)"


@dataclass(frozen=True, slots=True)
class BytesWritable(_ByValue):
    """Bytes: length as an int, then they."""

    value: bytes = b""

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_bytes(data.read_int()))

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_int(len(self.value))
        out.write_bytes(self.value)

    def __str__(self) -> str:
        """Return the bytes in hexadecimal, a space between two."""
        return self.value.hex(" ")


@dataclass(frozen=True, slots=True)
class BooleanWritable(_ByValue):
    """True or false: one byte."""

    value: bool = False

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_boolean())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_boolean(self.value)

    def __str__(self) -> str:
        """Return it as Java prints it."""
        return "true" if self.value else "false"


@dataclass(frozen=True, slots=True)
class _Number(_ByValue):
    """A whole number."""

    value: int = 0

    def __str__(self) -> str:
        """Return its decimal digits."""
        return str(self.value)


class ByteWritable(_Number):
    """8 bits, signed."""

    __slots__ = ()

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_byte())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.value)


class ShortWritable(_Number):
    """16 bits, signed."""

    __slots__ = ()

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_short())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_short(self.value)


class IntWritable(_Number):
    """32 bits, signed."""

    __slots__ = ()

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_int())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_int(self.value)


class LongWritable(_Number):
    """64 bits, signed."""

    __slots__ = ()

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_long())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_long(self.value)


class VIntWritable(_Number):
    """32 bits in 1 to 5 bytes."""

    __slots__ = ()

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_vint())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_vint(self.value)


class VLongWritable(_Number):
    """64 bits in 1 to 9 bytes."""

    __slots__ = ()

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_vlong())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_vlong(self.value)


@dataclass(frozen=True, slots=True)
class FloatWritable(_ByValue):
    """An IEEE 754 number of 32 bits."""

    value: float = 0.0

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_float())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_float(self.value)


@dataclass(frozen=True, slots=True)
class DoubleWritable(_ByValue):
    """An IEEE 754 number of 64 bits."""

    value: float = 0.0

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_double())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_double(self.value)
