"""`Page`, a row of the page database, and `FetchListEntry`, a line of a fetch list.

Guarantee: every older version is read, a newer one refused; the current one is written. Version
bytes are signed, so that 0x80 counts as very old.
Source: Nutch 0.7 `db.Page`, `pagedb.FetchListEntry`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from filbert.nutch import utf8
from filbert.nutch.simple import MD5Hash
from filbert.nutch.v1.java_text import date_text, float_text
from filbert.nutch.writable import Writable, WritableComparable, read_version

if TYPE_CHECKING:
    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["NEVER", "FetchListEntry", "Page", "by_url"]

NEVER = 0x7FFF_FFFF_FFFF_FFFF
"""`next_fetch` of a page that is gone: Java's `Long.MAX_VALUE`."""

_DEFAULT_INTERVAL_DAYS = 30  # db.default.fetch.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(WritableComparable):
    """A page of the page database.

    Attributes:
        url: Its URL, the key.
        md5: MD5 of its content; of its URL as long as it was never fetched.
        next_fetch: When it is fetched next, epoch ms; `NEVER`.
        retries: Failed fetches in a row; a signed byte.
        fetch_interval: Days; a signed byte.
        num_outlinks: Links on it; since version 3.
        score: Since version 2.
        next_score: Since version 4.
    """

    CUR_VERSION: ClassVar[int] = 4

    url: str
    md5: MD5Hash
    next_fetch: int
    retries: int = 0
    fetch_interval: int = _DEFAULT_INTERVAL_DAYS
    num_outlinks: int = 0
    score: float = 1.0
    next_score: float = 1.0

    @classmethod
    def of(cls, url: str, now: int, *, score: float = 1.0) -> Self:
        """Return a page that was never fetched, as the constructor of old made it.

        Args:
            url: Its URL, normalised.
            now: The time, epoch ms: when it is due.
            score: Its score, and its next one.
        """
        return cls(url=url, md5=MD5Hash.digest(url), next_fetch=now, score=score, next_score=score)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        version = read_version(data, cls.CUR_VERSION)
        return cls(
            url=data.read_utf(),
            md5=MD5Hash.read(data),
            next_fetch=data.read_long(),
            retries=data.read_byte(),
            fetch_interval=data.read_byte(),
            num_outlinks=data.read_int() if version > 2 else 0,
            score=data.read_float() if version > 1 else 1.0,
            next_score=data.read_float() if version > 3 else 1.0,
        )

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.CUR_VERSION)
        out.write_utf(self.url)
        self.md5.write(out)
        out.write_long(self.next_fetch)
        out.write_byte(self.retries)
        out.write_byte(self.fetch_interval)
        out.write_int(self.num_outlinks)
        out.write_float(self.score)
        out.write_float(self.next_score)

    @property
    def was_fetched(self) -> bool:
        """Whether its MD5 is that of a content: it was fetched at least once."""
        return self.md5 != MD5Hash.digest(self.url)

    def __lt__(self, other: Page) -> bool:
        """Compare by MD5, then by URL."""
        return (self.md5.value, utf8.encode(self.url)) < (other.md5.value, utf8.encode(other.url))

    def __eq__(self, other: object) -> bool:
        """Compare all but the number of outlinks, as the original does."""
        return isinstance(other, Page) and self._compared() == other._compared()

    def __hash__(self) -> int:
        """Return a hash of what `__eq__` compares."""
        return hash(self._compared())

    def __str__(self) -> str:
        """Return the lines of `toString`; times in UTC."""
        return (
            f"Version: {self.CUR_VERSION}\n"
            f"URL: {self.url}\n"
            f"ID: {self.md5}\n"
            f"Next fetch: {date_text(self.next_fetch)}\n"
            f"Retries since fetch: {self.retries}\n"
            f"Retry interval: {self.fetch_interval} days\n"
            f"Num outlinks: {self.num_outlinks}\n"
            f"Score: {float_text(self.score)}\n"
            f"NextScore: {float_text(self.next_score)}\n"
        )

    def _compared(self) -> tuple[object, ...]:
        return (
            self.url,
            self.md5,
            self.next_fetch,
            self.retries,
            self.fetch_interval,
            self.score,
            self.next_score,
        )


def by_url(page: Page) -> bytes:
    """Return the key of `Page.UrlComparator`: order by URL alone."""
    return utf8.encode(page.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchListEntry(Writable):
    """A line of a fetch list.

    Attributes:
        fetch: Whether the page is to be asked for; if not, it is only carried along.
        page: The page.
        anchors: Texts of links to it; since version 2.
    """

    DIR_NAME: ClassVar[str] = "fetchlist"
    CUR_VERSION: ClassVar[int] = 2

    fetch: bool
    page: Page
    anchors: tuple[str, ...] = field(default=())

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        version = read_version(data, cls.CUR_VERSION)
        fetch, page = data.read_boolean(), Page.read(data)
        count = data.read_count(2) if version > 1 else 0
        return cls(fetch=fetch, page=page, anchors=tuple(data.read_utf() for _ in range(count)))

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.CUR_VERSION)
        out.write_boolean(self.fetch)
        self.page.write(out)
        out.write_int(len(self.anchors))
        for anchor in self.anchors:
            out.write_utf(anchor)

    def __str__(self) -> str:
        """Return the lines of `toString`."""
        return (
            f"version: {self.CUR_VERSION}\n"
            f"fetch: {'true' if self.fetch else 'false'}\n"
            f"page: {self.page}\n"
            f"anchors: {len(self.anchors)}\n"
        ) + "".join(f"  anchor: {anchor}\n" for anchor in self.anchors)
