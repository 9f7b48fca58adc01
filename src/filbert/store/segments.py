"""A segment: one fetch list, its captures and what was parsed out of them.

Guarantee: a segment's state is derived from its tables, never noted apart: `crawl_fetch` is
committed last of a fetch and `parse_data` last of a parse; that it is left out of the crawldb is
noted in the log of `parse_data`. A segment that no table of has a
commit is half-made and not listed.
Source: Nutch's segment directories; `SegmentReader`.
"""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from filbert.errors import DataError
from filbert.model.schemas import TABLES
from filbert.store import durable, layout
from filbert.store.process import Process
from filbert.store.tables import Commit, Table

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.clock import Clock

__all__ = ["AGENTS", "Segment", "SegmentState", "make_segment"]

AGENTS = "agents"
"""What the commit of a fetch notes the names of the robot under, as JSON."""

_LEFT_OUT = "left_out"


class SegmentState(StrEnum):
    """How far a segment has come."""

    GENERATED = "generated"
    FETCHING = "fetching"
    FETCHED = "fetched"
    PARSED = "parsed"


class Segment:
    """One segment.

    Args:
        path: Its folder.
        clock: Times of commits.
    """

    def __init__(self, path: Path, *, clock: Clock) -> None:
        self.path = path
        self._clock = clock

    def __repr__(self) -> str:
        return f"Segment({self.name})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Segment) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def name(self) -> str:
        """Its name: yyyyMMddHHmmss."""
        return self.path.name

    @property
    def content_dir(self) -> Path:
        """Where its WARC files lie."""
        return self.path / layout.CONTENT

    @property
    def journal_dir(self) -> Path:
        """Where captures are noted until they are sealed."""
        return self.path / layout.JOURNAL

    @property
    def left_due_dir(self) -> Path:
        """Where the URLs are named that a fetch left to a later round."""
        return self.path / layout.LEFT_DUE

    def table(self, name: str) -> Table:
        """Return one of its tables; it need not exist yet.

        Raises:
            KeyError: Segments have no such table.
        """
        if name not in layout.SEGMENT_TABLES:
            raise KeyError(name)
        return Table(TABLES[name], self.path / name, clock=self._clock)

    def has(self, name: str) -> bool:
        """Tell whether a table of it was ever committed."""
        return self.table(name).is_committed()

    def agents(self) -> tuple[str, ...]:
        """Return the names of the robot that fetched it; empty: not known, or it had none."""
        for record in self.table("crawl_fetch").history():
            if AGENTS in record.metadata:
                return tuple(json.loads(record.metadata[AGENTS]))
        return ()

    def is_made(self) -> bool:
        """Tell whether any table of it was committed; else it is half-made."""
        return any(self.has(name) for name in layout.SEGMENT_TABLES)

    @property
    def state(self) -> SegmentState:
        """How far it has come."""
        if self.has("parse_data") and self.has("crawl_fetch"):
            return SegmentState.PARSED
        if self.has("crawl_fetch"):
            return SegmentState.FETCHED
        journal = self.journal_dir
        if journal.is_dir() and next(journal.iterdir(), None) is not None:
            return SegmentState.FETCHING
        return SegmentState.GENERATED

    @property
    def left_out(self) -> bool:
        """Whether updatedb absorbs it only when it is named."""
        return self.table("parse_data").transaction(_LEFT_OUT) == 1

    def leave_out(self, step: str, *, on: bool = True) -> None:
        """Note that `step` wants it left out, or (`on` false) no more."""
        if self.left_out != on:
            self.table("parse_data").commit(Commit(step=step, transactions={_LEFT_OUT: int(on)}))

    def parts(self) -> list[int]:
        """Return the numbers of the parts of its fetch list, in order."""
        found: set[int] = set()
        for path in self.table("crawl_generate").files().paths:
            found.update(pq.read_table(path, columns=["part"])["part"].unique().to_pylist())
        return sorted(found)

    def owner(self) -> Process | None:
        """Return the process that is making it, if a mark says so."""
        try:
            return Process.parse((self.path / layout.MAKING).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None


def make_segment(segments: Path, now_ms: int, *, clock: Clock) -> Segment:
    """Make the folder of a new segment, under the first name from `now_ms` on that is free.

    Raises:
        DataError: The disk is full.
    """
    mark = Process.this()
    fresh = segments / f"{layout.MAKING}-{mark}-{os.urandom(4).hex()}"
    with durable.room("making a segment"):
        fresh.mkdir(parents=True)
        durable.write_whole(fresh / layout.MAKING, str(mark))
        for second in range(3600):
            path = segments / layout.segment_name(now_ms + 1000 * second)
            if path.exists():
                continue
            try:
                # A folder that is not empty cannot be renamed over: so a name is given once.
                fresh.rename(path)
            except OSError:
                continue
            durable.sync_folder(segments)
            return Segment(path, clock=clock)
    raise DataError(f"no free segment name in {segments} within an hour of the clock")
