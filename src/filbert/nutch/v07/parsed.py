"""What a parse of old left: `ParseText` and `ParseData`, with its `Outlink`s.

Source: Nutch 0.6 and 0.7 `parse.ParseText`, `parse.ParseData`, `parse.Outlink`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from filbert.nutch.v07.fetched import properties_text
from filbert.nutch.v07.status import PARSED, ParseStatus
from filbert.nutch.writable import VersionedWritable, Writable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["MAX_OUTLINKS", "Outlink", "ParseData", "ParseData06", "ParseText"]

MAX_OUTLINKS = 100
"""How many outlinks the reader of old kept (db.max.outlinks.per.page); we keep them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseText(VersionedWritable):
    """The text of a page; None where 0.7 wrote none."""

    DIR_NAME: ClassVar[str] = "parse_text"
    VERSION: ClassVar[int] = 1

    text: str | None = ""

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        cls.check_version(data)
        return cls(text=data.read_compressed_string())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.VERSION)
        out.write_compressed_string(self.text)

    def __str__(self) -> str:
        """Return the text, as `toString` does."""
        return "null" if self.text is None else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlink(Writable):
    """A link: where it leads, and its text."""

    to_url: str
    anchor: str = ""

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        return cls(to_url=data.read_utf(), anchor=data.read_utf())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_utf(self.to_url)
        out.write_utf(self.anchor)

    def __str__(self) -> str:
        """Return the words of `toString`."""
        return f"toUrl: {self.to_url} anchor: {self.anchor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseData(Writable):
    """What was found out about a page.

    Attributes:
        title: Its title.
        outlinks: Its links.
        metadata: Headers, and what the parser found.
        status: How the parse ended; before version 2: success.
    """

    DIR_NAME: ClassVar[str] = "parse_data"
    VERSION: ClassVar[int] = 2

    title: str = ""
    outlinks: tuple[Outlink, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    status: ParseStatus = PARSED

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`); no version is refused."""
        version = data.read_byte()
        status = ParseStatus.read(data) if version > 1 else PARSED
        return cls(
            title=data.read_utf(),
            outlinks=_links(data),
            metadata=data.read_properties(),
            status=status,
        )

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.VERSION)
        self.status.write(out)
        _write_rest(self, out)

    def __str__(self) -> str:
        """Return the lines of `toString`."""
        return f"Status: {self.status}\n{_text(self)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseData06(VersionedWritable):
    """The same, as Nutch 0.6 has it: version 1 alone, without a status."""

    VERSION: ClassVar[int] = 1

    title: str = ""
    outlinks: tuple[Outlink, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        cls.check_version(data)
        return cls(title=data.read_utf(), outlinks=_links(data), metadata=data.read_properties())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.VERSION)
        _write_rest(self, out)

    def __str__(self) -> str:
        """Return the lines of `toString`."""
        return _text(self)


def _links(data: DataInput) -> tuple[Outlink, ...]:
    return tuple(Outlink.read(data) for _ in range(data.read_count(4)))


def _write_rest(record: ParseData | ParseData06, out: DataOutput) -> None:
    out.write_utf(record.title)
    out.write_int(len(record.outlinks))
    for link in record.outlinks:
        link.write(out)
    out.write_properties(record.metadata)


def _text(record: ParseData | ParseData06) -> str:
    return (
        f"Title: {record.title}\n"
        f"Outlinks: {len(record.outlinks)}\n"
        + "".join(f"  outlink: {link}\n" for link in record.outlinks)
        + f"Metadata: {properties_text(record.metadata)}\n"
    )
