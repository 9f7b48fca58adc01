"""What parsing made of a page: `ParseData`, versions 1 to 5 read, and `ParseText`, 1 and 2.

Guarantee: reading and writing again gives the same bytes (of the current version).
Source: Nutch 1.22 `parse.ParseData`, `parse.ParseText`; 0.8 and 0.9 for the older versions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from filbert.nutch.data import CorruptDataError
from filbert.nutch.v1.links import Outlink, read_either
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.v1.statuses import ParseStatus
from filbert.nutch.writable import VersionMismatchError, Writable

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["DATA_DIR_NAME", "TEXT_DIR_NAME", "ParseData", "ParseText"]

DATA_DIR_NAME: Final = "parse_data"
TEXT_DIR_NAME: Final = "parse_text"

_VERSION = 5
_FIRST_STATUS, _FIRST_LISTS, _FIRST_PARSE_METADATA = 2, 3, 4
_TEXT_VERSION, _PACKED_TEXT_VERSION = 2, 1
_SUCCESS = ParseStatus(1)


@dataclass(frozen=True, slots=True)
class ParseData(Writable):
    """Everything of a parsed page but its text.

    Attributes:
        status: How parsing went.
        title: The page's title.
        outlinks: The links on it.
        content_metadata: What the fetch noted.
        parse_metadata: What the parser noted.
    """

    status: ParseStatus = field(default_factory=ParseStatus)
    title: str = ""
    outlinks: tuple[Outlink, ...] = ()
    content_metadata: Metadata = field(default_factory=Metadata)
    parse_metadata: Metadata = field(default_factory=Metadata)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        version = data.read_byte()
        if not 1 <= version <= _VERSION:
            raise VersionMismatchError(_VERSION, version)
        if version < _VERSION:
            return cls._read_of_old(data, version)
        status, title = ParseStatus.read(data), data.read_text()
        return read_either(
            data,
            lambda: cls._read_rest(data, status, title, Outlink.read),
            lambda: cls._read_rest(data, status, title, Outlink.read_plain),
        )

    @classmethod
    def _read_rest(
        cls, data: DataInput, status: ParseStatus, title: str, link: Callable[[DataInput], Outlink]
    ) -> Self:
        outlinks = tuple([link(data) for _ in range(data.read_count(2))])
        return cls(status, title, outlinks, Metadata.read(data), Metadata.read(data))

    @classmethod
    def _read_of_old(cls, data: DataInput, version: int) -> Self:
        status = ParseStatus.read(data) if version >= _FIRST_STATUS else _SUCCESS
        title = data.read_utf()
        outlinks = tuple([Outlink.read_of_old(data) for _ in range(data.read_count(4))])
        if version >= _FIRST_LISTS:
            content = Metadata.read_of_old(data)
        else:
            content = Metadata.of(data.read_properties())
        parse = Metadata.read_of_old(data) if version >= _FIRST_PARSE_METADATA else Metadata()
        return cls(status, title, outlinks, content, parse)

    def write(self, out: DataOutput) -> None:
        """Write version 5."""
        out.write_byte(_VERSION)
        self.status.write(out)
        out.write_text(self.title)
        out.write_int(len(self.outlinks))
        for link in self.outlinks:
            link.write(out)
        self.content_metadata.write(out)
        self.parse_metadata.write(out)

    def __str__(self) -> str:
        """Return Nutch's text of it."""
        links = "".join(f"  outlink: {link}\n" for link in self.outlinks)
        return (
            f"Version: {_VERSION}\n"
            f"Status: {self.status}\n"
            f"Title: {self.title}\n"
            f"Outlinks: {len(self.outlinks)}\n{links}"
            f"Content Metadata:\n{_pairs(self.content_metadata)}"
            f"Parse Metadata:\n{_pairs(self.parse_metadata)}"
        )


def _pairs(metadata: Metadata) -> str:
    return "".join(f"  {name} = {value}\n" for name, value in metadata.pairs())


@dataclass(frozen=True, slots=True)
class ParseText(Writable):
    """The text of a page.

    Attributes:
        text: It.
    """

    text: str = ""

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        version = data.read_byte()
        if version == _TEXT_VERSION:
            return cls(data.read_text())
        if version != _PACKED_TEXT_VERSION:
            raise VersionMismatchError(_TEXT_VERSION, version)
        text = data.read_compressed_string()
        if text is None:
            raise CorruptDataError("a ParseText of version 1 has no text")
        return cls(text)

    def write(self, out: DataOutput) -> None:
        """Write version 2."""
        out.write_byte(_TEXT_VERSION)
        out.write_text(self.text)

    def __str__(self) -> str:
        """Return the text."""
        return self.text
