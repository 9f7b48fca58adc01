"""`Link`, a row of the link database, and `LinkAnalysisEntry`, a score.

Source: Nutch 0.7 `db.Link`, `linkdb.LinkAnalysisEntry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from filbert.nutch import utf8
from filbert.nutch.simple import MD5Hash
from filbert.nutch.writable import VersionedWritable, WritableComparable, read_version

if TYPE_CHECKING:
    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["MAX_ANCHOR", "Link", "LinkAnalysisEntry", "LinkByMD5"]

MAX_ANCHOR = 100
"""Characters of an anchor that are kept (db.max.anchor.length)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(WritableComparable):
    """A link. Ordered by URL, then by the MD5 that it comes from.

    Attributes:
        from_id: MD5 of the content of the page that links; not of its URL.
        url: Where it leads.
        domain_id: First 8 bytes of the MD5 of the linking page's host; since version 5, else 0.
        anchor: Its text.
        target_has_outlink: The target links on; since version 4, else false.
    """

    CUR_VERSION: ClassVar[int] = 5

    from_id: MD5Hash
    url: str
    domain_id: int = 0
    anchor: str = ""
    target_has_outlink: bool = False

    @classmethod
    def of(cls, from_id: MD5Hash, url: str, host: str, anchor: str) -> Self:
        """Return a link as the constructor of old made it: its anchor cut.

        Args:
            from_id: MD5 of the linking page.
            url: Where it leads.
            host: The linking page's host.
            anchor: Its text.
        """
        domain = MD5Hash.digest(host).half_digest()
        return cls(from_id=from_id, url=url, domain_id=domain, anchor=anchor[:MAX_ANCHOR])

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        version = read_version(data, cls.CUR_VERSION)
        return cls(
            from_id=MD5Hash.read(data),
            url=data.read_utf(),
            domain_id=data.read_long() if version > 4 else 0,
            anchor=data.read_utf(),
            target_has_outlink=data.read_boolean() if version > 3 else False,
        )

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.CUR_VERSION)
        self.from_id.write(out)
        out.write_utf(self.url)
        out.write_long(self.domain_id)
        out.write_utf(self.anchor)
        out.write_boolean(self.target_has_outlink)

    def __lt__(self, other: Link) -> bool:
        """Compare by URL, then by the MD5 that it comes from."""
        return (utf8.encode(self.url), self.from_id.value) < (
            utf8.encode(other.url),
            other.from_id.value,
        )

    def __str__(self) -> str:
        """Return the lines of `toString`."""
        return (
            f"Version: {self.CUR_VERSION}\n"
            f"ID: {self.from_id}\n"
            f"DomainID: {self.domain_id}\n"
            f"URL: {self.url}\n"
            f"AnchorText: {self.anchor}\n"
            f"targetHasOutlink: {'true' if self.target_has_outlink else 'false'}\n"
        )


class LinkByMD5(Link):
    """The same, ordered by the MD5 that it comes from, then by URL (`Link.MD5Comparator`)."""

    __slots__ = ()

    def __lt__(self, other: Link) -> bool:
        """Compare by the MD5 that it comes from, then by URL."""
        return (self.from_id.value, utf8.encode(self.url)) < (
            other.from_id.value,
            utf8.encode(other.url),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkAnalysisEntry(VersionedWritable):
    """A score of link analysis."""

    VERSION: ClassVar[int] = 1

    score: float = 0.0

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        cls.check_version(data)
        return cls(score=data.read_float())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.VERSION)
        out.write_float(self.score)
