"""Turns the journal of a part into Parquet files, which the step then commits.

Guarantee: streaming, so memory does not grow with the part; the same journal gives the same rows
each time, so a seal that was interrupted is simply done again. The journal itself is not touched:
whoever committed the files removes it.
Source: Nutch's FetcherOutputFormat, which writes crawl_fetch and crawl_parse as it goes.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from filbert.model.schemas import CRAWL_FETCH, CRAWL_PARSE, HOSTDB
from filbert.model.statuses import FetchStatus
from filbert.store.captures import journal_path
from filbert.store.frames import HostMemory, decode_rows
from filbert.store.journal import read_frames
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from filbert.engine.base import WrittenFile

__all__ = ["Sealed", "seal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What a journal became.

    Attributes:
        files: Files to commit, by table: crawl_fetch, crawl_parse, hostdb.
        rows: Rows of crawl_fetch.
        statuses: Number of rows of crawl_fetch by FetchStatus label.
    """

    files: Mapping[str, tuple[WrittenFile, ...]]
    rows: int
    statuses: Mapping[str, int] = field(default_factory=dict)


def seal(journal_dir: Path, part: int, directory: Path, *, max_rows: int = 1_000_000) -> Sealed:
    """Write the journal of a part as Parquet into `directory` (scratch).

    Args:
        journal_dir: The segment's journal folder.
        part: Number of the part.
        directory: Where the files go; the caller commits them from there.
        max_rows: Rows after which the next file begins.

    Raises:
        DataError: The disk is full, or another version of filbert wrote the journal.
    """
    hosts = HostMemory()
    codes: Counter[int] = Counter()
    stem = f"part-{part:05d}"
    with ExitStack() as stack:
        fetches, links, states = (
            stack.enter_context(ParquetSink(schema, directory, stem, max_rows=max_rows))
            for schema in (CRAWL_FETCH, CRAWL_PARSE, HOSTDB)
        )
        for frame in read_frames(journal_path(journal_dir, part)):
            row, more = decode_rows(frame.payload, hosts)
            if row is not None:
                codes[row["status"]] += 1
                fetches.append(row)
                links.extend(more)
        states.extend(asdict(state) for state in hosts.states.values())
    sinks = {"crawl_fetch": fetches, "crawl_parse": links, "hostdb": states}
    return Sealed(
        files={name: sink.files for name, sink in sinks.items()},
        rows=codes.total(),
        statuses={FetchStatus(code).label: count for code, count in codes.items()},
    )
