"""A crawldb, a linkdb or a part of a segment, read by URL or from end to end.

Guarantee: memory for one record of each part. A URL is looked for in the part that Hadoop's hash
partitioner gives it to, and then in the others: a segment's parts are dealt out by host, and a part
may be missing.
Source: Nutch 1.22 `crawl.CrawlDbReader.get`, `segment.SegmentReader.get`; Hadoop
`MapFileOutputFormat`, `HashPartitioner`.
"""

from __future__ import annotations

import heapq
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from filbert.errors import UserError
from filbert.nutch.data import DataInput, text_bytes
from filbert.nutch.map_file import DATA, MapFile
from filbert.nutch.parts import part_files
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.simple import Text
from filbert.nutch.v1 import names
from filbert.nutch.v1.java_hash import partition

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.nutch.sequence_file import Record
    from filbert.nutch.writable import Writable

__all__ = ["CURRENT_NAME", "Entry", "RecordFolder"]

CURRENT_NAME: Final = "current"


class Entry(NamedTuple):
    """A URL, its UTF-8, and its record."""

    url: str
    key: bytes
    record: Writable


class RecordFolder:
    """A reader of a folder of parts with keys of `Text`. A context manager.

    Args:
        path: The folder of the parts, or a crawldb or linkdb with its `current`.
        verify, skip_bad: As in `SequenceFile`.

    Attributes:
        files: The data file of each part.
        value_class: Java's name of the records.

    Raises:
        UserError: There is no part, or its records are of a class that is not known here.
    """

    def __init__(self, path: Path, *, verify: bool = True, skip_bad: bool = False) -> None:
        inner = path / CURRENT_NAME
        self.path = inner if inner.is_dir() else path
        self.files = part_files(self.path)
        self._verify, self._skip_bad = verify, skip_bad
        self._maps: dict[int, MapFile] = {}
        self._open = ExitStack()
        if not self.files:
            raise UserError(f"{path} has no parts", hint="A part is called part-r-00000 or so.")
        with SequenceFile(self.files[0], verify=verify) as first:
            self.value_class = first.header.value_class
        found = names.record_class(self.value_class)
        if found is None:
            raise UserError(f"{path} has records of {self.value_class}, not known here")
        self._class = found

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the parts that look-ups opened."""
        self.close()

    def close(self) -> None:
        """Close the parts that look-ups opened."""
        self._maps.clear()
        self._open.close()

    def __iter__(self) -> Iterator[Entry]:
        """Yield all records, part by part."""
        for number in range(len(self.files)):
            yield from self.part(number)

    def part(self, number: int) -> Iterator[Entry]:
        """Yield the records of one part, as they lie."""
        path = self.files[number]
        with SequenceFile(path, verify=self._verify, skip_bad=self._skip_bad) as file:
            for record in file:
                yield self._entry(record)

    def merged(self) -> Iterator[Entry]:
        """Yield all records in the order of their URLs' bytes; each part must be so ordered."""
        parts = [self.part(number) for number in range(len(self.files))]
        yield from heapq.merge(*parts, key=lambda entry: entry.key)

    def get(self, url: str) -> Writable | None:
        """Return the record of a URL; None if it has none.

        Raises:
            UserError: The parts are no MapFiles, so that a URL may have several: see `all_of`.
        """
        if not all(path.name == DATA for path in self.files):
            raise UserError(f"{self.path} is not ordered by URL", hint="all_of() reads it all.")
        likely = partition(text_bytes(url), len(self.files))
        for number in (likely, *(n for n in range(len(self.files)) if n != likely)):
            value = self._map(number).get(Text(url))
            if value is not None:
                return self._class.from_bytes(value)
        return None

    def all_of(self, url: str) -> list[Writable]:
        """Return all records of a URL, by one pass over all parts."""
        key = text_bytes(url)
        return [entry.record for entry in self if entry.key == key]

    def _entry(self, record: Record) -> Entry:
        data = DataInput(record.key)
        key = data.read_bytes(data.read_vint())
        url = key.decode("utf-8", "surrogateescape")
        return Entry(url, key, self._class.from_bytes(record.value))

    def _map(self, number: int) -> MapFile:
        if number not in self._maps:
            folder = self.files[number].parent
            reader = MapFile(folder, Text, verify=self._verify, skip_bad=self._skip_bad)
            self._maps[number] = self._open.enter_context(reader)
        return self._maps[number]
