"""What a fetch of old left: `FetcherOutput` and `Content`.

Guarantee: all versions of `FetcherOutput` are read, also a newer one, as the original does. What
Nutch 0.6 wrote (version 4) keeps its status byte in `FetcherOutput06`, and is written so again.
Outputs are equal whenever they were fetched, as the original's `equals` has it.
Source: Nutch 0.6 and 0.7 `fetcher.FetcherOutput`, `protocol.Content`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from filbert.nutch.simple import MD5Hash
from filbert.nutch.v07.page import FetchListEntry
from filbert.nutch.v07.status import ProtocolStatus
from filbert.nutch.v1.java_text import date_text
from filbert.nutch.writable import VersionedWritable, Writable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["Content", "FetcherOutput", "FetcherOutput06", "properties_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetcherOutput(Writable):
    """A fetched line of a fetch list.

    Attributes:
        entry: The line.
        md5: MD5 of the content; of the URL, where nothing was fetched.
        status: How the fetch ended.
        fetch_date: When, epoch ms; since version 2.
    """

    DIR_NAME: ClassVar[str] = "fetcher"
    DIR_NAME_NP: ClassVar[str] = "fetcher_output"  # with -noParsing
    DONE_NAME: ClassVar[str] = "fetcher.done"
    ERROR_NAME: ClassVar[str] = "fetcher.error"
    CUR_VERSION: ClassVar[int] = 5

    entry: FetchListEntry
    md5: MD5Hash
    status: ProtocolStatus
    fetch_date: int = field(default=0, compare=False)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        version = data.read_byte()
        entry, md5 = FetchListEntry.read(data), MD5Hash.read(data)
        status = (
            ProtocolStatus.read(data) if version > 4 else ProtocolStatus.of_old(data.read_byte())
        )
        return cls(entry=entry, md5=md5, status=status, fetch_date=_rest(data, version))

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.CUR_VERSION)
        self.entry.write(out)
        self.md5.write(out)
        self.status.write(out)
        out.write_long(self.fetch_date)

    def __str__(self) -> str:
        """Return the lines of `toString`."""
        return _text(self, f"ProtocolStatus: {self.status}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetcherOutput06(Writable):
    """The same, as Nutch 0.6 has it; `status` is its byte (`status.OLD_CODES`)."""

    CUR_VERSION: ClassVar[int] = 4

    entry: FetchListEntry
    md5: MD5Hash
    status: int
    fetch_date: int = field(default=0, compare=False)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        version = data.read_byte()
        entry, md5, status = FetchListEntry.read(data), MD5Hash.read(data), data.read_byte()
        return cls(entry=entry, md5=md5, status=status, fetch_date=_rest(data, version))

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.CUR_VERSION)
        self.entry.write(out)
        self.md5.write(out)
        out.write_byte(self.status)
        out.write_long(self.fetch_date)

    def __str__(self) -> str:
        """Return the lines of `toString`."""
        return _text(self, f"Status: {self.status}")


def _text(record: FetcherOutput | FetcherOutput06, status: str) -> str:
    return (
        f"FetchListEntry: {record.entry}Fetch Result:\n"
        f"MD5Hash: {record.md5}\n"
        f"{status}\n"
        f"FetchDate: {date_text(record.fetch_date)}\n"
    )


def _rest(data: DataInput, version: int) -> int:
    """Pass over title and links of a version before 4; return the date."""
    if version < 4:
        data.read_utf()
        for _ in range(data.read_count(4)):
            data.read_utf()
            data.read_utf()
    return data.read_long() if version > 1 else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Content(VersionedWritable):
    """What came for a URL.

    Attributes:
        url: The URL.
        base: What relative links go from.
        content: The bytes; None where 0.7 wrote none.
        content_type: Media type.
        metadata: Headers, their names as the server sent them.
    """

    DIR_NAME: ClassVar[str] = "content"
    VERSION: ClassVar[int] = 1

    url: str
    base: str
    content: bytes | None = b""
    content_type: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        cls.check_version(data)
        return cls(
            url=data.read_utf(),
            base=data.read_utf(),
            content=data.read_compressed_bytes(),
            content_type=data.read_utf(),
            metadata=data.read_properties(),
        )

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.VERSION)
        out.write_utf(self.url)
        out.write_utf(self.base)
        out.write_compressed_bytes(self.content)
        out.write_utf(self.content_type)
        out.write_properties(self.metadata)

    def __str__(self) -> str:
        """Return the lines of `toString`; the bytes are taken for UTF-8."""
        return (
            f"url: {self.url}\n"
            f"base: {self.base}\n"
            f"contentType: {self.content_type}\n"
            f"metadata: {properties_text(self.metadata)}\n"
            "Content:\n"
        ) + (self.content or b"").decode("utf-8", "replace")


def properties_text(properties: Mapping[str, str]) -> str:
    """Return the text of a `Properties`; Java's order is of its hashes, ours as they were read."""
    return "{" + ", ".join(f"{name}={value}" for name, value in properties.items()) + "}"
