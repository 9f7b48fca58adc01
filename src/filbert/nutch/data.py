"""Java's `DataInput` and `DataOutput` over bytes in memory, with Hadoop's and Nutch's additions.

Guarantee: all integers are big-endian. Reading beyond the end, and a length that cannot be, is an
`EndOfDataError` or a `CorruptDataError` that says at which byte; nothing is allocated before its
length is known to be there.
Source: `java.io.DataInput`; Hadoop `WritableUtils`, `Text`; Nutch 0.7 `io.WritableUtils`.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from filbert.errors import DataError
from filbert.nutch import utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "CorruptDataError",
    "DataInput",
    "DataOutput",
    "EndOfDataError",
    "gunzip",
    "gzipped",
    "text_bytes",
]

_SHORT = struct.Struct(">h")
_USHORT = struct.Struct(">H")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_FLOAT = struct.Struct(">f")
_DOUBLE = struct.Struct(">d")
_GZIP_SYSTEM = 9
_MOST_UNPACKED = 1 << 30  # a gzip of a few bytes can claim any size


class CorruptDataError(DataError):
    """Bytes that cannot be what they should be."""


class EndOfDataError(CorruptDataError):
    """The data end inside a value (Java's `EOFException`)."""


class DataInput:
    """A place in bytes, from which values are read one after the other.

    Attributes:
        data: The bytes.
        position: Where the next value begins.
        end: Where the data end.
    """

    __slots__ = ("data", "end", "position")

    def __init__(self, data: bytes, position: int = 0, end: int | None = None) -> None:
        self.data = data
        self.position = position
        self.end = len(data) if end is None else end

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return self.end - self.position

    def take(self, count: int) -> int:
        """Go on by `count` bytes; return where they begin."""
        at = self.position
        if count < 0:
            raise CorruptDataError(f"a length of {count} at byte {at} cannot be")
        if at + count > self.end:
            raise EndOfDataError(f"{count} bytes should follow at byte {at}, {self.left} do")
        self.position = at + count
        return at

    def unpack(self, layout: struct.Struct) -> tuple[int | float | bytes, ...]:
        """Read several values of fixed width at once."""
        return layout.unpack_from(self.data, self.take(layout.size))

    def read_bytes(self, count: int) -> bytes:
        """Read so many bytes."""
        at = self.take(count)
        return self.data[at : at + count]

    def read_byte(self) -> int:
        """Read a signed byte."""
        byte = self.data[self.take(1)]
        return byte - 256 if byte > 127 else byte

    def read_unsigned_byte(self) -> int:
        """Read a byte, 0 to 255."""
        return self.data[self.take(1)]

    def read_boolean(self) -> bool:
        """Read a byte: not 0 is true."""
        return self.data[self.take(1)] != 0

    def read_short(self) -> int:
        """Read 16 bits, signed."""
        value: int = _SHORT.unpack_from(self.data, self.take(2))[0]
        return value

    def read_unsigned_short(self) -> int:
        """Read 16 bits."""
        value: int = _USHORT.unpack_from(self.data, self.take(2))[0]
        return value

    def read_int(self) -> int:
        """Read 32 bits, signed."""
        value: int = _INT.unpack_from(self.data, self.take(4))[0]
        return value

    def read_long(self) -> int:
        """Read 64 bits, signed."""
        value: int = _LONG.unpack_from(self.data, self.take(8))[0]
        return value

    def read_float(self) -> float:
        """Read an IEEE 754 number of 32 bits."""
        value: float = _FLOAT.unpack_from(self.data, self.take(4))[0]
        return value

    def read_double(self) -> float:
        """Read an IEEE 754 number of 64 bits."""
        value: float = _DOUBLE.unpack_from(self.data, self.take(8))[0]
        return value

    def read_vlong(self) -> int:
        """Read a Hadoop number of 1 to 9 bytes."""
        first = self.read_byte()
        if first >= -112:
            return first
        negative = first < -120
        at = self.take(-120 - first if negative else -112 - first)
        value = int.from_bytes(self.data[at : self.position], "big")
        return ~value if negative else value

    def read_vint(self) -> int:
        """Read a Hadoop number of 1 to 5 bytes.

        Raises:
            CorruptDataError: It is beyond 32 bits.
        """
        at, value = self.position, self.read_vlong()
        if not -0x80000000 <= value <= 0x7FFFFFFF:
            raise CorruptDataError(f"the number {value} at byte {at} is beyond 32 bits")
        return value

    def read_count(self, width: int = 1) -> int:
        """Read an int that says how many items follow, of at least `width` bytes each.

        Raises:
            CorruptDataError: It is negative, or more than the data can hold.
        """
        at, count = self.position, self.read_int()
        return self.checked_count(count, at, width)

    def checked_count(self, count: int, at: int, width: int = 1) -> int:
        """Return a count that was read at `at`, if so many items can follow."""
        if count < 0 or count * width > self.left:
            raise CorruptDataError(
                f"{count} items cannot follow at byte {at}: {self.left} bytes do"
            )
        return count

    def read_utf(self) -> str:
        """Read what `DataOutput.writeUTF` or `UTF8` wrote: 16 bits of length, then the bytes."""
        return utf8.decode(self.read_bytes(self.read_unsigned_short()))

    def read_text(self) -> str:
        """Read a Hadoop `Text`; bytes that are no UTF-8 become lone surrogates (PEP 383)."""
        return self.read_bytes(self.read_vint()).decode("utf-8", "surrogateescape")

    def read_string(self) -> str | None:
        """Read an int of length (-1: none) and so much UTF-8 (`WritableUtils.readString`)."""
        count = self.read_int()
        if count == -1:
            return None
        return self.read_bytes(count).decode("utf-8", "surrogateescape")

    def read_string_array(self) -> tuple[str | None, ...] | None:
        """Read an int of count (-1: none) and so many strings."""
        at, count = self.position, self.read_int()
        if count == -1:
            return None
        return tuple(self.read_string() for _ in range(self.checked_count(count, at, 4)))

    def read_compressed_bytes(self) -> bytes | None:
        """Read an int of length (-1: none) and so much gzip; return what is packed in it."""
        count = self.read_int()
        if count == -1:
            return None
        at = self.take(count)
        return gunzip(self.data[at : at + count], at)

    def read_compressed_string(self) -> str | None:
        """Read a compressed byte array that holds UTF-8."""
        packed = self.read_compressed_bytes()
        return None if packed is None else packed.decode("utf-8", "surrogateescape")

    def read_compressed_string_array(self) -> tuple[str | None, ...] | None:
        """Read an int of count (-1: none) and so many compressed strings."""
        at, count = self.position, self.read_int()
        if count == -1:
            return None
        return tuple(self.read_compressed_string() for _ in range(self.checked_count(count, at, 4)))

    def read_properties(self) -> dict[str, str]:
        """Read an int of count and so many pairs of `UTF8`, in their order."""
        return {self.read_utf(): self.read_utf() for _ in range(self.read_count(4))}


class DataOutput:
    """Bytes that grow by the values that are written.

    Attributes:
        data: The bytes.
    """

    __slots__ = ("data",)

    def __init__(self) -> None:
        self.data = bytearray()

    def getvalue(self) -> bytes:
        """Return what was written."""
        return bytes(self.data)

    def write_bytes(self, value: bytes) -> None:
        """Write bytes without their length."""
        self.data += value

    def write_byte(self, value: int) -> None:
        """Write the low 8 bits of a number."""
        self.data.append(value & 0xFF)

    def write_boolean(self, value: bool) -> None:  # noqa: FBT001 - Java's signature
        """Write a byte, 1 or 0."""
        self.data.append(1 if value else 0)

    def write_short(self, value: int) -> None:
        """Write 16 bits, signed."""
        self.data += _SHORT.pack(value)

    def write_int(self, value: int) -> None:
        """Write 32 bits, signed."""
        self.data += _INT.pack(value)

    def write_long(self, value: int) -> None:
        """Write 64 bits, signed."""
        self.data += _LONG.pack(value)

    def write_float(self, value: float) -> None:
        """Write an IEEE 754 number of 32 bits."""
        self.data += _FLOAT.pack(value)

    def write_double(self, value: float) -> None:
        """Write an IEEE 754 number of 64 bits."""
        self.data += _DOUBLE.pack(value)

    def write_vlong(self, value: int) -> None:
        """Write a Hadoop number: one byte from -112 to 127, else a width and the bytes."""
        if -112 <= value <= 127:
            self.data.append(value & 0xFF)
            return
        magnitude, base = (value, -112) if value >= 0 else (~value, -120)
        width = (magnitude.bit_length() + 7) // 8
        self.data.append((base - width) & 0xFF)
        self.data += magnitude.to_bytes(width, "big")

    write_vint = write_vlong

    def write_utf(self, value: str) -> None:
        """Write a `UTF8`: 16 bits of length, then the bytes; too long a string is cut."""
        coded = utf8.utf8_bytes(value)
        self.data += _USHORT.pack(len(coded))
        self.data += coded

    def write_text(self, value: str) -> None:
        """Write a Hadoop `Text`; surrogates of PEP 383 become the bytes that they stand for."""
        coded = text_bytes(value)
        self.write_vlong(len(coded))
        self.data += coded

    def write_string(self, value: str | None) -> None:
        """Write an int of length (-1: none) and the UTF-8."""
        if value is None:
            self.write_int(-1)
            return
        coded = text_bytes(value)
        self.write_int(len(coded))
        self.data += coded

    def write_string_array(self, values: Iterable[str | None] | None) -> None:
        """Write an int of count (-1: none) and the strings."""
        self._write_array(values, self.write_string)

    def write_compressed_bytes(self, value: bytes | None) -> None:
        """Write an int of length (-1: none) and the gzip of the bytes."""
        if value is None:
            self.write_int(-1)
            return
        packed = gzipped(value)
        self.write_int(len(packed))
        self.data += packed

    def write_compressed_string(self, value: str | None) -> None:
        """Write the UTF-8 of a string as a compressed byte array."""
        self.write_compressed_bytes(None if value is None else text_bytes(value))

    def write_compressed_string_array(self, values: Iterable[str | None] | None) -> None:
        """Write an int of count (-1: none) and the compressed strings."""
        self._write_array(values, self.write_compressed_string)

    def write_properties(self, values: Mapping[str, str]) -> None:
        """Write an int of count and the pairs as `UTF8`, in their order."""
        self.write_int(len(values))
        for name, value in values.items():
            self.write_utf(name)
            self.write_utf(value)

    def _write_array(self, values: Iterable[str | None] | None, write: Callable[..., None]) -> None:
        if values is None:
            self.write_int(-1)
            return
        several = tuple(values)
        self.write_int(len(several))
        for value in several:
            write(value)


def text_bytes(value: str) -> bytes:
    """Return the UTF-8 of a string; what no UTF-8 can say becomes `?`, as Java has it."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def gunzip(packed: bytes, at: int = 0) -> bytes:
    """Return what a gzip member holds; `at` is where it lies, for errors.

    Raises:
        CorruptDataError: It is damaged, cut short, or unpacks to more than 1 GiB.
    """
    unpacker = zlib.decompressobj(wbits=31)
    try:
        value = unpacker.decompress(packed, _MOST_UNPACKED)
    except zlib.error as error:
        raise CorruptDataError(f"the gzip stream at byte {at} is damaged: {error}") from None
    if unpacker.unconsumed_tail:
        raise CorruptDataError(f"the gzip stream at byte {at} unpacks to more than 1 GiB")
    if not unpacker.eof:
        raise EndOfDataError(f"the gzip stream at byte {at} is cut short")
    return value


def gzipped(value: bytes) -> bytes:
    """Return bytes as one gzip member without time or name, as Java's `GZIPOutputStream`."""
    packer = zlib.compressobj(wbits=31)
    packed = bytearray(packer.compress(value) + packer.flush())
    packed[_GZIP_SYSTEM] = 0xFF  # "unknown", as Java has it since 16; 0 before
    return bytes(packed)
