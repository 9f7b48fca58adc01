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
from filbert.nutch.damage import Skipped
from filbert.nutch.data import CorruptDataError, DataInput, text_bytes
from filbert.nutch.map_file import DATA, MapFile
from filbert.nutch.parts import part_files, read_part
from filbert.nutch.simple import UTF8, Text
from filbert.nutch.v1 import names
from filbert.nutch.v1.java_hash import partition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filbert.nutch.damage import Damage
    from filbert.nutch.sequence_file import Header, Record
    from filbert.nutch.writable import Writable

__all__ = ["CURRENT_NAME", "Entry", "RecordFolder", "key_reader"]

CURRENT_NAME: Final = "current"
_TEXT_NAME, _UTF8_NAME = "org.apache.hadoop.io.Text", "org.apache.hadoop.io.UTF8"


class Entry(NamedTuple):
    """A URL, its UTF-8, its record, and where that begins in its file."""

    url: str
    key: bytes
    record: Writable
    position: int = 0


def key_reader(class_name: str) -> Callable[[bytes], bytes]:
    """Return what makes the UTF-8 of a key: of `Text`, or of `UTF8`, which Nutch 0.8 and 0.9 had.

    Args:
        class_name: Java's name of the class of the keys.

    Raises:
        CorruptDataError: The class is another.
    """
    if class_name == _UTF8_NAME:
        return _old_key
    if class_name != _TEXT_NAME:
        raise CorruptDataError(f"its keys are of {class_name}, not of Text")
    return _key


def _key(data: bytes) -> bytes:
    source = DataInput(data)
    return source.read_bytes(source.read_vint())


def _old_key(data: bytes) -> bytes:
    return text_bytes(DataInput(data).read_utf())


class RecordFolder:
    """A reader of a folder of parts whose keys are URLs. A context manager.

    Args:
        path: The folder of the parts, or a crawldb or linkdb with its `current`.
        cls: The class that its records must be of; None: any that is known here.
        verify: Check the checksums, where there are checksum files.
        damage: Takes what is left out; None: damage is an error.

    Attributes:
        files: The data file of each part.

    Raises:
        UserError: There is no part.
    """

    def __init__(
        self,
        path: Path,
        cls: type[Writable] | None = None,
        *,
        verify: bool = True,
        damage: Damage | None = None,
    ) -> None:
        inner = path / CURRENT_NAME
        self.path = inner if inner.is_dir() else path
        self.files = part_files(self.path)
        self._class, self._verify, self._damage = cls, verify, damage
        self._maps: dict[int, MapFile] = {}
        self._open = ExitStack()
        if not self.files:
            raise UserError(f"{path} has no parts", hint="A part is called part-r-00000 or so.")

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
        """Yield all records, part by part.

        Raises:
            UserError: A part has records of a class that is not known here.
            CorruptDataError: A part is damaged, or has records of another class.
        """
        for number in range(len(self.files)):
            yield from self.part(number)

    def part(self, number: int) -> Iterator[Entry]:
        """Yield the records of one part, as they lie."""
        path = self.files[number]
        return read_part(path, self._reader, verify=self._verify, damage=self._damage)

    def merged(self) -> Iterator[Entry]:
        """Yield all records in the order of their URLs' bytes.

        Raises:
            CorruptDataError: A part is not in that order.
        """
        parts = [self._in_order(number) for number in range(len(self.files))]
        yield from heapq.merge(*parts, key=lambda entry: entry.key)

    def _in_order(self, number: int) -> Iterator[Entry]:
        last = b""
        for entry in self.part(number):
            if entry.key < last:
                reason = f"{self.files[number]}: {entry.url} comes too late, by its key"
                if self._damage is None:
                    raise CorruptDataError(reason)
                self._damage.add([Skipped(entry.position, reason)])
                continue
            last = entry.key
            yield entry

    def get(self, url: str) -> Writable | None:
        """Return the record of a URL; None if it has none.

        Raises:
            UserError: The parts are no MapFiles, so that a URL may have several: see `all_of`.
        """
        if not all(path.name == DATA for path in self.files):
            raise UserError(f"{self.path} is not ordered by URL", hint="all_of() reads it all.")
        likely = partition(text_bytes(url), len(self.files))
        for number in (likely, *(n for n in range(len(self.files)) if n != likely)):
            file = self._map(number)
            is_old = file.data.header.key_class == _UTF8_NAME
            value = file.get(UTF8(url) if is_old else Text(url))
            if value is not None:
                return self._class_of(file.data.header).from_bytes(value)
        return None

    def all_of(self, url: str) -> list[Writable]:
        """Return all records of a URL, by one pass over all parts."""
        key = text_bytes(url)
        return [entry.record for entry in self if entry.key == key]

    def _reader(self, header: Header) -> Callable[[Record], Entry]:
        cls, url_of = self._class_of(header), key_reader(header.key_class)

        def make(record: Record) -> Entry:
            key = url_of(record.key)
            url = key.decode("utf-8", "surrogateescape")
            return Entry(url, key, cls.from_bytes(record.value), record.position)

        return make

    def _class_of(self, header: Header) -> type[Writable]:
        found = names.record_class(header.value_class)
        if found is None:
            raise UserError(f"{self.path} has records of {header.value_class}, not known here")
        if self._class not in (None, found):
            raise CorruptDataError(f"{self.path} has records of {header.value_class}")
        return found

    def _map(self, number: int) -> MapFile:
        if number not in self._maps:
            folder = self.files[number].parent
            skip_bad = self._damage is not None
            reader = MapFile(folder, verify=self._verify, skip_bad=skip_bad)
            self._maps[number] = self._open.enter_context(reader)
        return self._maps[number]
