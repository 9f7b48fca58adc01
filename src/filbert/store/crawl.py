"""The crawl folder: where everything of one crawl lies.

Guarantee: opening changes nothing; what is not a crawl folder is refused with what is missing.
Making one is complete or not there: a folder counts once its crawldb has a version.
"""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

from filbert.errors import DataError, UserError
from filbert.model.schemas import TABLES
from filbert.store import durable, layout
from filbert.store.imports import Imports
from filbert.store.lease import hold_lease
from filbert.store.recovery import recover
from filbert.store.scratch import scratch
from filbert.store.segments import Segment, make_segment
from filbert.store.tables import Table

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Self

    from filbert.model.clock import Clock
    from filbert.store.lease import Lease

__all__ = ["CrawlFolder"]


class CrawlFolder:
    """A crawl folder; `create` or `open` one.

    Args:
        path: The folder.
        clock: Times of commits and leases.
        buckets: Hash buckets of tables made anew.
    """

    def __init__(self, path: Path, *, clock: Clock, buckets: int = 1) -> None:
        self.path = path
        self._clock = clock
        self._buckets = buckets

    @classmethod
    def exists(cls, path: Path) -> bool:
        """Tell whether `path` is a crawl folder."""
        return Table(TABLES["crawldb"], path / "crawldb", clock=_NoClock()).exists()

    @classmethod
    def create(cls, path: Path, *, clock: Clock, buckets: int) -> Self:
        """Make a crawl folder with empty tables; what is missing of one is added.

        Args:
            path: The folder; it may exist, with settings in it or nothing.
            clock: Times of commits.
            buckets: Hash buckets of crawldb and linkdb, a power of two.

        Raises:
            UserError: `path` is a file, or a folder full of something else.
            DataError: The disk is full or read-only.
        """
        if path.exists() and not path.is_dir():
            raise UserError(f"{path} is a file, not a folder", hint="name a folder for the crawl")
        if not cls.exists(path) and (foreign := _foreign(path)):
            raise UserError(
                f"{path} is not a crawl folder, and not empty: it has {foreign}",
                hint="name a new folder, or an empty one",
            )
        for name in layout.CRAWL_TABLES:
            table = path / name
            if any(table.glob("*.parquet")) and not (table / layout.DELTA_LOG).is_dir():
                raise DataError(
                    f"the table {table} has data, but its log {layout.DELTA_LOG} is gone",
                    hint="nothing was changed; restore the log from a copy, or move the table away",
                )
        path = path.absolute()
        with durable.room(f"making the crawl folder {path}"):
            _make(path / layout.SEGMENTS)
        crawl = cls(path, clock=clock, buckets=buckets)
        for name in reversed(
            layout.CRAWL_TABLES
        ):  # the crawldb, which says that all is there, last
            crawl.table(name).create()
        return crawl

    @classmethod
    def open(cls, path: Path, *, clock: Clock) -> Self:
        """Open a crawl folder.

        Raises:
            UserError: There is none at `path`.
            DataError: It is damaged, half-made, or of a newer filbert.
        """
        if not path.exists():
            raise UserError(
                f"there is no crawl folder {path}",
                hint=f"`filbert crawl {path} --seeds FILE` or `filbert inject` makes one",
            )
        if not cls.exists(path):
            if _segments(path):
                raise DataError(
                    f"{path} is half-made: it has segments, but no crawldb with a version",
                    hint="restore the folder crawldb from a copy",
                )
            raise UserError(
                f"{path} is not a crawl folder: it has no crawldb",
                hint="name the folder that holds crawldb/ and segments/",
            )
        crawl = cls(path.absolute(), clock=clock)
        crawl._buckets = crawl.table("crawldb").buckets
        return crawl

    def discard(self, *, keep: bool = False) -> None:
        """Remove a crawl folder just made in which nothing was committed; else leave it alone.

        Args:
            keep: The folder itself was there before, and stays.
        """
        tables = [self.table(name) for name in layout.CRAWL_TABLES]
        if any(table.version() > 0 for table in tables) or self.segments():
            return
        self.imports.forget()
        for table in tables:
            shutil.rmtree(table.path)
        (self.path / layout.LEASE_MUTEX).unlink(missing_ok=True)
        for folder in (self.segments_dir, *(() if keep else (self.path,))):
            with contextlib.suppress(OSError):  # something else is in it
                folder.rmdir()

    @property
    def index_dir(self) -> Path:
        """Where the embedded index lies."""
        return self.path / layout.INDEX

    @property
    def replay_dir(self) -> Path:
        """Where the index of an archive lies that is replayed."""
        return self.path / layout.REPLAY

    @property
    def allowed_hosts_file(self) -> Path:
        """The host:port pairs that seeds allow although their addresses are private."""
        return self.path / layout.ALLOWED_HOSTS

    @property
    def imports(self) -> Imports:
        """What was imported, and from where."""
        return Imports(self.path / layout.IMPORTS)

    @property
    def segments_dir(self) -> Path:
        """Where the segments lie."""
        return self.path / layout.SEGMENTS

    def table(self, name: str) -> Table:
        """Return crawldb, origins, linkdb or hostdb.

        Raises:
            KeyError: A crawl folder has no such table.
        """
        if name not in layout.CRAWL_TABLES:
            raise KeyError(name)
        in_buckets = "bucket" in TABLES[name].names
        return Table(
            TABLES[name],
            self.path / name,
            clock=self._clock,
            buckets=self._buckets if in_buckets else 1,
        )

    def segments(self) -> list[Segment]:
        """Return all segments that are made, oldest first."""
        return [segment for segment in self._all_segments() if segment.is_made()]

    def segment(self, name: str) -> Segment:
        """Return the segment called `name`; its path is taken as well.

        Raises:
            UserError: There is none.
        """
        wanted = name.rstrip("/").rpartition("/")[2]
        for segment in self._all_segments():
            if segment.name == wanted and segment.is_made():
                return segment
        there = ", ".join(segment.name for segment in self.segments()[-3:]) or "none yet"
        raise UserError(
            f"{self.path} has no segment {name}", hint=f"the newest segments are: {there}"
        )

    def new_segment(self, now_ms: int) -> Segment:
        """Make the folder of a new segment, named by the second `now_ms` or the next free one."""
        return make_segment(self.segments_dir, now_ms, clock=self._clock)

    def scratch(self, step: str) -> AbstractContextManager[Path]:
        """Make a fresh folder on the same file system, removed at exit and by recovery."""
        return scratch(self.path, step)

    def lease(self, step: str, *, lease_s: int = 60, by: str = "") -> AbstractContextManager[Lease]:
        """Hold the crawl folder for one step (`fetch`, or the loop `crawl`) in one process.

        `lease_s` is the setting store.lease_s; `by` names a command that is not that step, but
        must not run beside it.

        Raises:
            DataError: Another process holds it.
        """
        return hold_lease(self.path, step, clock=self._clock, lease_s=lease_s, by=by)

    def check_writable(self) -> None:
        """Do nothing if steps can write here.

        Raises:
            DataError: The file system is read-only, or this user may not write.
        """
        durable.check_writable(self.path)

    def recover(self) -> list[str]:
        """Remove what dead processes left behind; return what was done, in words."""
        return recover(self.path, clock=self._clock)

    def stop_requested(self) -> bool:
        """Tell whether a file `.STOP` in the folder asks the loop to end (Nutch's bin/crawl)."""
        return (self.path / layout.STOP).exists()

    def clear_stop(self) -> None:
        """Forget a request to stop: it was heeded."""
        (self.path / layout.STOP).unlink(missing_ok=True)

    def _all_segments(self) -> list[Segment]:
        return [Segment(path, clock=self._clock) for path in _segments(self.path)]


def _segments(path: Path) -> list[Path]:
    folder = path / layout.SEGMENTS
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if layout.is_segment_name(p.name) and p.is_dir())


def _foreign(path: Path) -> str:
    """Return the name of something that keeps a folder from becoming a crawl folder."""
    if not path.is_dir():
        return ""
    ours = {*layout.CRAWL_TABLES, layout.SEGMENTS, layout.INDEX}
    for entry in sorted(path.iterdir()):
        if entry.is_dir() and entry.name not in ours and not entry.name.startswith("."):
            return entry.name + "/"
    crawldb = path / layout.CRAWL_TABLES[0]
    if (crawldb / "current").is_dir() or (crawldb / "old").is_dir():
        return f"{crawldb.name}/ of a crawl of Nutch (`filbert nutch import` takes one over)"
    return ""


class _NoClock:
    """Stands where no time is needed."""

    def now_ms(self) -> int:
        """Return 0."""
        return 0


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileNotFoundError, NotADirectoryError) as error:  # a place where none can be made
        raise UserError(
            f"the folder {folder} cannot be made: {error.strerror}",
            hint="name a crawl folder in a folder that can be written",
        ) from error
