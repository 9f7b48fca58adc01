"""Turns the journal of a part into Parquet files, which the step then commits.

Guarantee: streaming, so memory does not grow with the part; the same journal gives the same rows
each time, so a seal that was interrupted is simply done again. The journal itself is not touched:
whoever committed the files removes it.
Source: Nutch's FetcherOutputFormat, which writes crawl_fetch and crawl_parse as it goes.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING

from filbert.model.records import FetchRecord
from filbert.model.schemas import CRAWL_FETCH, CRAWL_PARSE, DATUM_COLUMNS, HOSTDB
from filbert.store.captures import journal_path, read_journal
from filbert.store.frames import CaptureFrame
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.model.hosts import HostState

__all__ = ["Sealed", "fetch_row", "seal"]

_PLAIN_FIELDS = tuple(one.name for one in fields(FetchRecord) if one.name != "datum")


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


def fetch_row(record: FetchRecord) -> dict[str, object]:
    """Return the row of crawl_fetch that a record is; times in epoch ms."""
    row = {name: getattr(record, name) for name in _PLAIN_FIELDS}
    row.update((name, getattr(record.datum, name)) for name in DATUM_COLUMNS)
    row["status"] = int(record.status)
    row["protocol_code"] = int(record.protocol_code)
    return row


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
    hosts: dict[str, HostState] = {}
    statuses: dict[str, int] = {}
    stem = f"part-{part:05d}"
    with ExitStack() as stack:
        fetches, links, states = (
            stack.enter_context(ParquetSink(schema, directory, stem, max_rows=max_rows))
            for schema in (CRAWL_FETCH, CRAWL_PARSE, HOSTDB)
        )
        for entry in read_journal(journal_path(journal_dir, part)):
            if not isinstance(entry, CaptureFrame):
                hosts[entry.host] = entry
                continue
            label = entry.record.status.label
            statuses[label] = statuses.get(label, 0) + 1
            fetches.append(fetch_row(entry.record))
            links.extend(entry.links)
        states.extend(asdict(state) for state in hosts.values())
    sinks = {"crawl_fetch": fetches, "crawl_parse": links, "hostdb": states}
    return Sealed(
        files={name: sink.files for name, sink in sinks.items()},
        rows=sum(statuses.values()),
        statuses=statuses,
    )
