"""A page as it was fetched: `Content`, version -1, and the packed versions 0 to 2 of before.

Guarantee: reading and writing again gives the same bytes (of version -1).
Source: Nutch 1.22 `protocol.Content`; 0.8 and 0.9 for the older versions.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from filbert.nutch.data import CorruptDataError, DataInput, EndOfDataError
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.writable import VersionMismatchError, Writable

if TYPE_CHECKING:
    from filbert.nutch.data import DataOutput

__all__ = ["DIR_NAME", "Content"]

DIR_NAME: Final = "content"

_VERSION = -1
_NEWEST_PACKED = 2
_MOST_UNPACKED = 1 << 30


@dataclass(frozen=True, slots=True)
class Content(Writable):
    """The bytes of a page, and what the server said of them.

    Attributes:
        url: What was fetched.
        base: What its relative links count from.
        content: The bytes.
        content_type: What they are.
        metadata: Headers and notes of the fetch.
    """

    url: str = ""
    base: str = ""
    content: bytes = b""
    content_type: str = ""
    metadata: Metadata = field(default_factory=Metadata)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        at, version = data.position, data.read_int()
        if version >= 0:
            return cls._read_packed(DataInput(_inflated(data.read_bytes(version), at)))
        if version != _VERSION:
            raise VersionMismatchError(_VERSION, version)
        return cls._read_fields(data)

    @classmethod
    def _read_fields(cls, data: DataInput) -> Self:
        url, base = data.read_text(), data.read_text()
        content = data.read_bytes(data.read_int())
        return cls(url, base, content, data.read_text(), Metadata.read(data))

    @classmethod
    def _read_packed(cls, data: DataInput) -> Self:
        version = data.read_byte()
        if not 0 <= version <= _NEWEST_PACKED:
            raise VersionMismatchError(_NEWEST_PACKED, version)
        if version == _NEWEST_PACKED:
            return cls._read_fields(data)
        url, base = data.read_utf(), data.read_utf()
        content = data.read_bytes(data.read_int())
        return cls(url, base, content, data.read_utf(), Metadata.read_of_old(data))

    def write(self, out: DataOutput) -> None:
        """Write version -1."""
        out.write_int(_VERSION)
        out.write_text(self.url)
        out.write_text(self.base)
        out.write_int(len(self.content))
        out.write_bytes(self.content)
        out.write_text(self.content_type)
        self.metadata.write(out)

    def __str__(self) -> str:
        """Return Nutch's text of it; the bytes are taken for UTF-8."""
        return (
            f"Version: {_VERSION}\n"
            f"url: {self.url}\n"
            f"base: {self.base}\n"
            f"contentType: {self.content_type}\n"
            f"metadata: {self.metadata}\n"
            f"Content:\n{self.content.decode('utf-8', 'replace')}"
        )


def _inflated(packed: bytes, at: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(packed, _MOST_UNPACKED)
    except zlib.error as error:
        raise CorruptDataError(f"a packed Content at byte {at} is damaged: {error}") from None
    if unpacker.unconsumed_tail:
        raise CorruptDataError(f"a packed Content at byte {at} unpacks to more than 1 GiB")
    if not unpacker.eof:
        raise EndOfDataError(f"a packed Content at byte {at} is cut short")
    return plain
