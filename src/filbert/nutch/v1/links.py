"""Links of pages: `Outlink`, `Inlink` and `Inlinks`.

Guarantee: reading and writing again gives the same bytes. Records of before Nutch 1.5, whose links
have no metadata, are read where a record holds nothing else that could be meant.
Source: Nutch 1.22 `parse.Outlink`, `crawl.Inlink`, `crawl.Inlinks`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypeVar

from filbert.nutch.data import CorruptDataError
from filbert.nutch.v1.java_hash import string_hash
from filbert.nutch.v1.map_writable import EMPTY, MapWritable, java_string
from filbert.nutch.writable import Writable

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["Inlink", "Inlinks", "InlinksOrder", "Outlink", "read_either"]

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Outlink(Writable):
    """A link from a page. Two are equal if URL and anchor are.

    Attributes:
        to_url: Where it goes.
        anchor: Its text.
        metadata: What else is known of it.
    """

    to_url: str = ""
    anchor: str = ""
    metadata: MapWritable = field(default=EMPTY, compare=False)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_text(), data.read_text(), _read_metadata(data))

    @classmethod
    def read_plain(cls, data: DataInput) -> Self:
        """Read one of Nutch 1.0 to 1.4, without metadata."""
        return cls(_url(data), data.read_text())

    @classmethod
    def read_of_old(cls, data: DataInput) -> Self:
        """Read one of before Nutch 1.0: strings as `UTF8`."""
        return cls(data.read_utf(), data.read_utf())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_text(self.to_url)
        out.write_text(self.anchor)
        _write_metadata(self.metadata, out)

    def __str__(self) -> str:
        """Return Nutch's text of it."""
        more = (f" {java_string(key)}: {java_string(one)}" for key, one in self.metadata.items())
        return f"toUrl: {self.to_url} anchor: {self.anchor}" + "".join(more)


@dataclass(frozen=True, slots=True)
class Inlink(Writable):
    """A link to a page. Two are equal if URL and anchor are.

    Attributes:
        from_url: Where it stands.
        anchor: Its text.
        metadata: What else is known of it.
    """

    from_url: str = ""
    anchor: str = ""
    metadata: MapWritable = field(default=EMPTY, compare=False)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_text(), data.read_text(), _read_metadata(data))

    @classmethod
    def read_plain(cls, data: DataInput) -> Self:
        """Read one of Nutch 1.0 to 1.4, without metadata."""
        return cls(_url(data), data.read_text())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_text(self.from_url)
        out.write_text(self.anchor)
        _write_metadata(self.metadata, out)

    def __str__(self) -> str:
        """Return Nutch's text of it."""
        pairs = (f"{java_string(key)}={java_string(one)}" for key, one in self.metadata.items())
        return f"fromUrl: {self.from_url} anchor: {self.anchor} metadata: {', '.join(pairs)}"


@dataclass(frozen=True, slots=True, eq=False)
class Inlinks(Writable):
    """The links to a page: a set, whatever the order they stand in.

    Attributes:
        inlinks: They, each once.
        as_read: They stand in the order of a file, which is kept in writing.
    """

    inlinks: tuple[Inlink, ...] = ()
    as_read: bool = False

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        links = read_either(data, lambda: _inlinks(data, Inlink.read), lambda: _inlinks(data))
        return cls(links, as_read=True)

    def write(self, out: DataOutput) -> None:
        """Write it."""
        links = self.inlinks if self.as_read else self.in_order()
        out.write_int(len(links))
        for link in links:
            link.write(out)

    def __eq__(self, other: object) -> bool:
        """Compare as sets."""
        return isinstance(other, Inlinks) and set(self.inlinks) == set(other.inlinks)

    def __hash__(self) -> int:
        """Return the hash of the set."""
        return hash(frozenset(self.inlinks))

    def in_order(self) -> list[Inlink]:
        """Return the links in the order in which a new `Inlinks` of Java has them."""
        return InlinksOrder().of(self)

    def __str__(self) -> str:
        """Return Nutch's text of it."""
        return "Inlinks:\n" + "".join(f" {link}\n" for link in self.in_order())


class InlinksOrder:
    """The order of links in one `Inlinks` of Java that is used for record after record.

    Its `HashSet` begins with one bucket and never shrinks, so that the order depends on the largest
    record before.
    """

    def __init__(self) -> None:
        self._buckets = 1

    def of(self, inlinks: Inlinks) -> list[Inlink]:
        """Return the links of the next record in order."""
        links = list(dict.fromkeys(inlinks.inlinks))
        while len(links) > self._buckets * 0.75:
            self._buckets *= 2
        return sorted(links, key=lambda link: _spread(_link_hash(link)) & self._buckets - 1)


def _spread(code: int) -> int:
    return code ^ code >> 16


def _inlinks(
    data: DataInput, read: Callable[[DataInput], Inlink] = Inlink.read_plain
) -> tuple[Inlink, ...]:
    links = [read(data) for _ in range(data.read_count(2))]
    return tuple(dict.fromkeys(links))


def read_either(data: DataInput, *reads: Callable[[], _Read]) -> _Read:
    """Return what the first reader makes that uses up all data, else the first that finds none bad.

    Raises:
        CorruptDataError: What was wrong for the first reader, if all find the data bad.
    """
    start, first, wrong = data.position, None, None
    for read in reads:
        data.position = start
        try:
            record = read()
        except CorruptDataError as error:
            wrong = wrong or error
            continue
        if not data.left:
            return record
        first = first or (record, data.position)
    if first is None:
        assert wrong is not None
        raise wrong
    data.position = first[1]
    return first[0]


def _link_hash(link: Inlink) -> int:
    return string_hash(link.from_url) ^ string_hash(link.anchor)


def _url(data: DataInput) -> str:
    """Read a URL that is one, lest a damaged record of today be taken for one of old."""
    at, url = data.position, data.read_text()
    if ":" not in url:
        raise CorruptDataError(f"no URL stands at byte {at}")
    return url


def _read_metadata(data: DataInput) -> MapWritable:
    return MapWritable.read(data) if data.read_boolean() else EMPTY


def _write_metadata(metadata: MapWritable, out: DataOutput) -> None:
    out.write_boolean(bool(metadata.entries))
    if metadata.entries:
        metadata.write(out)
