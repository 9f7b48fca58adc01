"""An archive: WARC files of any program, and an index from URL to captures.

Guarantees: the index is complete or not there, is made once for the same files (path, size, time
of change), and needs no memory that grows with the archive; any number of processes read it. Of
several captures of a URL the choice is always the same: the newest, or the newest at or before a
date; of equal dates the one that stands last. A `revisit` record counts as a capture, and is read
with the body of the record that it refers to; so does a document that our browser rendered, which
stands behind what the server sent. A 304 has no document, and is passed over.
Source: WARC 1.1 (ISO 28500:2017) section 6.7; the CDX files of web archives.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from filbert.errors import DataError, UserError
from filbert.model.clock import date_ms
from filbert.plugins.protocols.heads import split_head, status_line
from filbert.rules.archive import archive_key
from filbert.store import durable
from filbert.store.warc import RENDERED
from filbert.store.warc_files import record_at, scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

from filbert.store.warc_files import WarcRecord

__all__ = ["Archive", "ArchiveIndex", "Found", "index_archive", "warc_files"]

_SUFFIXES = (".warc", ".warc.gz", ".warc.zst")
_CAPTURES = frozenset({"response", "resource", "revisit", "rendered"})
_RENDERED = RENDERED.lower()
_UNCHANGED = 304
_HEAD = 1 << 16
_BATCH = 10_000
_TABLES = """
create table files (number integer primary key, path text not null);
create table captures (key text, date integer, file integer, place integer, kind text,
    digest text, record_id text, primary key (key, date, file, place)) without rowid;
create table counts (name text primary key, number integer not null);
"""
_INDEXES = """
create index by_record_id on captures (record_id);
create index by_digest on captures (digest);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveIndex:
    """An index that was made.

    Attributes:
        path: Where it lies.
        captures: How many it has.
        damaged: Damaged places that were passed over.
    """

    path: Path
    captures: int
    damaged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A capture's place: file, offset, kind of record, date in epoch ms (0: it has none), id."""

    path: str
    place: int
    kind: str
    date_ms: int
    record_id: str


def warc_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the WARC files among paths, those inside folders included, each once and in order.

    Raises:
        UserError: There is no such path, or a folder without any.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_file():
            inside = [path]
        elif path.is_dir():
            inside = sorted(one for one in path.rglob("*.warc*") if one.name.endswith(_SUFFIXES))
        else:
            raise UserError(f"there is no file {path}", hint="--replay takes WARC files or folders")
        if not inside:
            raise UserError(f"{path} holds no WARC file", hint=f"such as {', '.join(_SUFFIXES)}")
        found.update(dict.fromkeys(one.resolve() for one in inside))
    return tuple(found)


def index_archive(files: Sequence[Path], folder: Path, *, skip_damaged: bool) -> ArchiveIndex:
    """Make the index of files in `folder`, or take the one that is there; others there go.

    Args:
        files: WARC files.
        folder: Where indexes lie; made if missing.
        skip_damaged: Pass over what is damaged, and count it.

    Raises:
        DataError: A file is damaged (with its place), or cannot be read, or the disk is full.
    """
    path = folder / f"{_fingerprint(files, skip_damaged=skip_damaged)}.sqlite"
    if not _is_whole(path):
        with durable.room(f"indexing {len(files)} WARC files"):
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("*.sqlite*"):
                old.unlink()
            fresh = path.with_suffix(".sqlite-new")
            _write(fresh, files, skip_damaged=skip_damaged)
            fresh.replace(path)
    with contextlib.closing(_open(path)) as database:
        counts = dict(database.execute("select name, number from counts"))
    return ArchiveIndex(path=path, captures=counts["captures"], damaged=counts["damaged"])


def _open(index: Path) -> sqlite3.Connection:
    # Whoever opens it need not be the thread that reads; there is never more than one.
    where = f"{index.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(where, uri=True, check_same_thread=False)


class Archive:
    """An archive, open for reading. A context manager; for one thread at a time.

    Args:
        index: Where its index lies.
    """

    def __init__(self, index: Path) -> None:
        self._database = _open(index)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._database.close()

    def has(self, key: str) -> bool:
        """Say whether there is any capture of a key (`rules.archive.archive_key`)."""
        return self._first("key = ?", (key,)) is not None

    def find(self, key: str, at: int | None = None) -> Found | None:
        """Return the newest capture of a key, at or before `at` (epoch ms); None: there is none."""
        if at is None:
            return self._first("key = ?", (key,))
        return self._first("key = ? and date <= ?", (key, at))

    def original(self, revisit: WarcRecord) -> Found | None:
        """Return the record that a revisit refers to; None if the archive has it not."""
        fields, no_revisit = revisit.fields, "kind <> 'revisit'"
        if record_id := fields.get("warc-refers-to", ""):
            found = self._first(f"record_id = ? and {no_revisit}", (record_id,))
            if found is not None:
                return found
        key = archive_key(fields.get("warc-refers-to-target-uri", ""))
        date = date_ms(fields.get("warc-refers-to-date", ""))
        if key and date is not None:
            found = self._first(f"key = ? and date = ? and {no_revisit}", (key, date))
            if found is not None:
                return found
        digest = fields.get("warc-payload-digest", "")
        return self._first(f"digest = ? and {no_revisit}", (digest,)) if digest else None

    def read(self, found: Found, most: int) -> tuple[WarcRecord, bytes]:
        """Return a record, and up to `most` bytes of its block.

        Raises:
            DataError: The file is gone, or no whole record is there any more.
        """
        try:
            return _read(found, most)
        except (OSError, ValueError) as error:
            raise DataError(f"{found.path} at {found.place}: {error}") from error

    def _first(self, where: str, values: tuple[object, ...]) -> Found | None:
        row = self._database.execute(
            "select path, place, kind, date, record_id from captures join files "
            f"on file = number where {where} order by date desc, file desc, place desc limit 1",
            values,
        ).fetchone()
        if row is None:
            return None
        return Found(path=row[0], place=row[1], kind=row[2], date_ms=row[3], record_id=row[4])


def _read(found: Found, most: int) -> tuple[WarcRecord, bytes]:
    with open(found.path, "rb") as file:  # noqa: PTH123 - a name, not a place in a folder
        record = record_at(file, found.place)
        if record is None:
            raise ValueError("the file ends before it")
        return record, record.read(most)


def _is_whole(index: Path) -> bool:
    """Tell whether an index is there and can be read; what cannot is made anew."""
    if not index.exists():
        return False
    try:
        with contextlib.closing(_open(index)) as database:
            return len(database.execute("select name from counts").fetchall()) > 0
    except sqlite3.DatabaseError:
        return False


def _fingerprint(files: Sequence[Path], *, skip_damaged: bool) -> str:
    lines = [f"{skip_damaged}"]
    for path in files:
        facts = path.stat()
        lines.append(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}")
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _write(path: Path, files: Sequence[Path], *, skip_damaged: bool) -> None:
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path, isolation_level=None)
    try:
        # Nobody reads it before it has its name: what a crash leaves is thrown away.
        database.executescript("pragma journal_mode = off; pragma synchronous = off;" + _TABLES)
        counted, damaged = 0, 0
        for number, file in enumerate(files):
            database.execute("insert into files values (?, ?)", (number, str(file)))
            reading = _FileIndexer(file, number, skip_damaged=skip_damaged)
            for batch in reading.batches():
                database.executemany("insert into captures values (?, ?, ?, ?, ?, ?, ?)", batch)
                counted += len(batch)
            damaged += reading.damaged
        database.executescript(_INDEXES)
        database.executemany(
            "insert into counts values (?, ?)", [("captures", counted), ("damaged", damaged)]
        )
    except sqlite3.OperationalError as error:
        raise DataError(f"cannot write the index of the archive {path}: {error}") from error
    finally:
        database.close()
    durable.sync_file(path)


class _FileIndexer:
    """Reads one file for the index."""

    def __init__(self, path: Path, number: int, *, skip_damaged: bool) -> None:
        self.damaged = 0
        self._path = path
        self._number = number
        self._skip = skip_damaged

    def batches(self) -> Iterator[list[tuple[object, ...]]]:
        batch: list[tuple[object, ...]] = []
        try:
            for place, row in scan(self._path, _facts, self._note):
                if row is None:
                    continue
                key, date, *rest = row
                batch.append((key, date, self._number, place, *rest))
                if len(batch) >= _BATCH:
                    yield batch
                    batch = []
        except OSError as error:
            raise DataError(f"cannot read {self._path}: {error.strerror}") from error
        yield batch

    def _note(self, place: int, words: str) -> None:
        self.damaged += 1
        if not self._skip:
            raise DataError(
                f"the WARC file {self._path} is damaged at {place:,}: {words}",
                hint="-D replay.damaged=skip passes over what is damaged, and counts it.",
            )


def _facts(record: WarcRecord) -> tuple[object, ...] | None:
    """Return what the index keeps of a record: key, date, kind, digest, id; None: nothing."""
    fields = record.fields
    kind, url = fields.get("warc-type", "").lower(), fields.get("warc-target-uri", "")
    if kind == "conversion" and _RENDERED in fields:
        kind = "rendered"
    if kind not in _CAPTURES or not url:
        return None
    if kind == "response" and fields.get("content-type", "").startswith("application/http"):
        parts = split_head(record.read(min(record.size, _HEAD)))
        line = status_line(parts[0]) if parts else None
        if line is not None and line.status == _UNCHANGED:
            return None
    return (
        archive_key(url),
        date_ms(fields.get("warc-date", "")) or 0,
        kind,
        fields.get("warc-payload-digest", ""),
        fields.get("warc-record-id", ""),
    )
