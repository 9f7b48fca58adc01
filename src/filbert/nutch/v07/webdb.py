"""The web database of old: pages by URL and by MD5, links by URL and by MD5.

Guarantee: reading changes nothing: a database whose update was cut off between two renames is read
from where it lies, as the original would after its repair. Writing makes a new one, complete or
not at all. Who reads and who writes, `webdb_lock` keeps apart.
Source: Nutch 0.7 `db.WebDBReader`, `db.WebDBWriter`, `db.DBKeyDivision`.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeVar

from filbert.errors import UserError
from filbert.nutch import utf8
from filbert.nutch.data import CorruptDataError, DataInput, DataOutput
from filbert.nutch.map_file import DATA, MapFile, MapFileWriter, is_map_file
from filbert.nutch.parts import read_part
from filbert.nutch.sequence_writer import OLD, Form
from filbert.nutch.simple import UTF8, MD5Hash
from filbert.nutch.sorter import sorted_records
from filbert.nutch.v07.link import Link, LinkByMD5
from filbert.nutch.v07.page import Page, by_url
from filbert.nutch.v07.webdb_lock import READ_LOCK, WRITE_LOCK, hold, share
from filbert.nutch.writable import VersionMismatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from filbert.nutch.damage import Damage
    from filbert.nutch.sequence_file import Record
    from filbert.nutch.writable import WritableComparable

__all__ = ["Stats", "WebDB", "is_webdb", "recover", "write_webdb"]

PAGES_BY_URL, PAGES_BY_MD5 = "pagesByURL", "pagesByMD5"
LINKS_BY_URL, LINKS_BY_MD5 = "linksByURL", "linksByMD5"
STATS = "stats"
_NOW, _NEW, _OLD = "webdb", "webdb.new", "webdb.old"
_FORM = Form(version=OLD, checksums=False)
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Stats:
    """How many pages and links there are."""

    VERSION = 0

    pages: int = 0
    links: int = 0

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read the file `stats`."""
        source = DataInput(data)
        found = source.read_byte()
        if found != cls.VERSION:
            raise VersionMismatchError(cls.VERSION, found)
        return cls(source.read_long(), source.read_long())

    def to_bytes(self) -> bytes:
        """Return the file `stats`."""
        out = DataOutput()
        out.write_byte(self.VERSION)
        out.write_long(self.pages)
        out.write_long(self.links)
        return out.getvalue()

    def __str__(self) -> str:
        """Return the lines of `readdb -stats`."""
        return f"Number of pages: {self.pages}\nNumber of links: {self.links}"


def is_webdb(path: Path) -> bool:
    """Say whether a folder is a web database, or holds one."""
    return any(is_map_file(path / name / PAGES_BY_URL) for name in ("", _NOW, _OLD))


class WebDB:
    """A reader. A context manager.

    Args:
        path: The folder of the database, or the `webdb` in it.
        damage: Takes what is left out; None: damage is an error.

    Attributes:
        stats: As the file says; before the first update there is none.

    Raises:
        UserError: There is none, or a writer is moving it.
        CorruptDataError: It is damaged.
    """

    def __init__(self, path: Path, *, damage: Damage | None = None) -> None:
        self._damage = damage
        self._maps: dict[str, MapFile] = {}
        self._lock = share(path.parent if is_map_file(path / PAGES_BY_URL) else path)
        try:
            self.path = _found(path)
            self.stats = _stats(self.path / STATS)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the files."""
        self.close()

    def close(self) -> None:
        """Close the files, and give up the lock."""
        while self._maps:
            self._maps.popitem()[1].close()
        if self._lock is not None:
            self._lock.close()

    def pages(self) -> Iterator[Page]:
        """Yield all pages, by URL. Others may be asked for meanwhile."""
        return self._all(PAGES_BY_URL, lambda record: Page.from_bytes(record.value))

    def pages_by_md5(self) -> Iterator[Page]:
        """Yield all pages, by MD5 and by URL."""
        return self._all(PAGES_BY_MD5, lambda record: Page.from_bytes(record.key))

    def links(self) -> Iterator[Link]:
        """Yield all links, by URL and by the page that they come from."""
        return self._all(LINKS_BY_URL, lambda record: Link.from_bytes(record.key))

    def links_by_md5(self) -> Iterator[Link]:
        """Yield all links, by the page that they come from and by URL."""
        return self._all(LINKS_BY_MD5, lambda record: Link.from_bytes(record.key))

    def page(self, url: str) -> Page | None:
        """Return the page of a URL; None if there is none."""
        value = self._map(PAGES_BY_URL, UTF8).get(UTF8(url))
        return None if value is None else Page.from_bytes(value)

    def pages_of(self, md5: MD5Hash) -> Iterator[Page]:
        """Yield the pages whose content has an MD5, by URL."""
        file = self._map(PAGES_BY_MD5, Page)
        file.seek(Page(url="", md5=md5, next_fetch=0))
        for record in file:
            page = Page.from_bytes(record.key)
            if page.md5 != md5:
                return
            yield page

    def links_from(self, md5: MD5Hash) -> Iterator[Link]:
        """Yield the links on pages whose content has an MD5, by URL."""
        file = self._map(LINKS_BY_MD5, LinkByMD5)
        file.seek(LinkByMD5(from_id=md5, url=""))
        for record in file:
            link = Link.from_bytes(record.key)
            if link.from_id != md5:
                return
            yield link

    def links_to(self, url: str) -> Iterator[Link]:
        """Yield the links to a URL, by the page that they come from."""
        file = self._map(LINKS_BY_URL, Link)
        file.seek(Link(from_id=MD5Hash(), url=url))
        for record in file:
            link = Link.from_bytes(record.key)
            if link.url != url:
                return
            yield link

    def _map(self, name: str, key: type[WritableComparable]) -> MapFile:
        if name not in self._maps:
            skip_bad = self._damage is not None
            self._maps[name] = MapFile(self._folder(name), key, skip_bad=skip_bad)
        return self._maps[name]

    def _all(self, name: str, make: Callable[[Record], _Made]) -> Iterator[_Made]:
        return read_part(self._folder(name) / DATA, lambda _: make, damage=self._damage)

    def _folder(self, name: str) -> Path:
        if not is_map_file(self.path / name):
            raise CorruptDataError(f"{self.path} is half a web database: it has no {name}")
        return self.path / name


def _found(path: Path) -> Path:
    """Return the folder that holds the maps: after a cut-off update not the one of that name."""
    if is_map_file(path / PAGES_BY_URL):
        return path
    now, new, old = (path / name for name in (_NOW, _NEW, _OLD))
    if old.exists() and now.exists():
        raise _impossible(path)
    # Once the old one was moved away the new one is complete; before, it is not.
    for folder in (new, old) if old.exists() else (now,):
        if is_map_file(folder / PAGES_BY_URL):
            return folder
    raise UserError(f"{path} is no web database: it has no {_NOW}/{PAGES_BY_URL}")


def _stats(path: Path) -> Stats:
    try:
        return Stats.from_bytes(path.read_bytes()) if path.is_file() else Stats()
    except CorruptDataError as error:
        raise CorruptDataError(f"{path}: {error}") from error


def recover(path: Path) -> str:
    """Mend what an update that was cut off left, as the original does when it opens to write.

    (But for one thing: where there is nothing but `webdb.old`, that deletes it.)

    Returns:
        What was done, in words; empty: nothing.

    Raises:
        UserError: Another process writes there, or reads.
        CorruptDataError: The folders are such as no update leaves.
    """
    with hold(path, WRITE_LOCK), hold(path, READ_LOCK):
        return _recovered(path)


def _recovered(path: Path) -> str:
    now, new, old = (path / name for name in (_NOW, _NEW, _OLD))
    if old.exists():
        if now.exists():
            raise _impossible(path)
        if not new.exists():
            old.rename(now)
            return f"{_OLD} is {_NOW} again"
        new.rename(now)
        shutil.rmtree(old)
        return f"{_NEW} became {_NOW}"
    if new.exists():
        shutil.rmtree(new)
        return f"removed {_NEW}, which was not complete"
    return ""


def _impossible(path: Path) -> CorruptDataError:
    return CorruptDataError(
        f"Impossible condition: {path} has both {_NOW} and {_OLD}, which no update leaves",
        hint="Move away what is older.",
    )


def write_webdb(
    path: Path, pages: Callable[[], Iterable[Page]], links: Callable[[], Iterable[Link]]
) -> Stats:
    """Write a new web database.

    Args:
        path: The folder of the database.
        pages: Gives all pages, in any order, each URL once; asked twice.
        links: Gives all links, in any order, each target and source once; asked twice.

    Raises:
        UserError: There is one already, or another process writes one; two pages or links have one
            key.
    """
    path.mkdir(parents=True, exist_ok=True)
    with hold(path, WRITE_LOCK):
        if is_webdb(path):
            raise UserError(f"{path} has a web database already")
        new = path / _NEW
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        stats = _write_maps(new, pages, links)
        with hold(path, READ_LOCK):
            new.rename(path / _NOW)
        return stats


def _write_maps(
    new: Path, pages: Callable[[], Iterable[Page]], links: Callable[[], Iterable[Link]]
) -> Stats:
    count = _write(
        new / PAGES_BY_URL,
        ("UTF8", "Page"),
        ((UTF8(page.url), page.to_bytes()) for page in sorted_records(pages(), by_url, new)),
    )
    by_md5 = sorted_records(pages(), _by_md5, new)
    _write(new / PAGES_BY_MD5, ("Page", "null"), _keys(by_md5))
    by_target = sorted_records(links(), _by_target, new)
    linked = _write(new / LINKS_BY_URL, ("Link", "null"), _keys(by_target))
    by_source = sorted_records(links(), _by_source, new)
    ordered = (LinkByMD5.from_bytes(link.to_bytes()) for link in by_source)
    _write(new / LINKS_BY_MD5, ("Link", "null"), _keys(ordered))
    stats = Stats(count, linked)
    (new / STATS).write_bytes(stats.to_bytes())
    return stats


def _by_md5(page: Page) -> bytes:
    return page.md5.value + utf8.encode(page.url)


def _by_target(link: Link) -> bytes:
    # A NUL is two bytes in this code, so that one byte 0 ends a URL before all that go on.
    return utf8.encode(link.url) + b"\0" + link.from_id.value


def _by_source(link: Link) -> bytes:
    return link.from_id.value + utf8.encode(link.url)


def _keys(
    records: Iterable[WritableComparable],
) -> Iterator[tuple[WritableComparable, bytes]]:
    return ((record, b"") for record in records)


def _write(
    path: Path, classes: tuple[str, str], rows: Iterable[tuple[WritableComparable, bytes]]
) -> int:
    count = 0
    with MapFileWriter(path, *classes, _FORM) as file:
        for key, value in rows:
            file.append(key, value)
            count += 1
    return count
