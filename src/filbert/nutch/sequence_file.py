"""Reading SequenceFiles: one key and value after the other, of both eras.

Guarantee: memory for one record (or one block, where the file is compressed by blocks), whatever
the file's size; each length is checked against what the file holds before it is believed. An error
names file and byte; with `skip_bad` reading goes on behind the next sync mark, and what was left
out is noted.
Source: Nutch 0.7 `io.SequenceFile` (versions 0 to 2); Hadoop `io.SequenceFile` (3 to 6).
"""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from filbert.nutch.checksums import open_checked
from filbert.nutch.codecs import Codec, codec_of
from filbert.nutch.data import CorruptDataError, DataInput, EndOfDataError
from filbert.nutch.writable import VersionMismatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

__all__ = ["NEWEST", "Header", "Record", "SequenceFile", "Skipped"]

NEWEST = 6
SYNC_BYTES = 16
ESCAPE = -1

_Read = TypeVar("_Read")
_MAGIC = b"SEQ"
_TEXT_NAMES_SINCE = 4
_ESCAPE_BYTES = 4
_SCAN = 1 << 16
_ALIGNED = 512
_MOST_HEADER = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a file says of itself.

    Attributes:
        version: 0 to 6.
        key_class, value_class: Java's names, or the aliases of the old Nutch.
        compressed: Values are packed.
        block: Many records are packed together.
        codec: Hadoop's class; blank where nothing is packed.
        metadata: What its writer noted, in order.
        sync: The 16 bytes of its sync marks; none before version 2.
        length: Bytes of the header.
    """

    version: int
    key_class: str
    value_class: str
    compressed: bool = False
    block: bool = False
    codec: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    sync: bytes = b""
    length: int = 0


class Record(NamedTuple):
    """One record.

    Attributes:
        key, value: Its bytes, unpacked.
        position: Where it begins in the file, before its sync mark if it has one; of a block: where
            the block begins.
        synced: It follows a sync mark.
    """

    key: bytes
    value: bytes
    position: int
    synced: bool


class Skipped(NamedTuple):
    """A place that was left out: the byte where reading failed, and why."""

    position: int
    reason: str


class SequenceFile:
    """A reader. A context manager, and an iterator of records.

    Args:
        path: The file.
        verify: Check the checksums, if there is a checksum file.
        skip_bad: Go on behind the next sync mark where a record is damaged.
        newest: The newest version that is taken: 2 for a reader of old.

    Attributes:
        header: What the file says of itself.
        skipped: What was left out.

    Raises:
        CorruptDataError: It is no SequenceFile, or its header is damaged.
        VersionMismatchError: It is of a newer version.
    """

    def __init__(
        self, path: Path, *, verify: bool = True, skip_bad: bool = False, newest: int = NEWEST
    ) -> None:
        self.path = path
        self.skipped: list[Skipped] = []
        self._skip_bad = skip_bad
        self._file: BinaryIO = open_checked(path, verify=verify)
        self._end = path.stat().st_size
        self._waiting: deque[Record] = deque()
        self.sync_seen = False
        try:
            self.header = self._located(lambda: self._read_header(newest))
            self._codec: Codec | None = (
                codec_of(self.header.codec) if self.header.compressed else None
            )
        except BaseException:
            self._file.close()
            raise
        self.position = self.header.length

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __iter__(self) -> Iterator[Record]:
        """Yield the records from where the reader stands."""
        while (record := self.next()) is not None:
            yield record

    def next(self) -> Record | None:
        """Return the next record; None at the end.

        Raises:
            CorruptDataError: It is damaged; not with `skip_bad`.
        """
        while True:
            if self._waiting:
                return self._waiting.popleft()
            at = self.position
            try:
                return self._located(self._next)
            except CorruptDataError as error:
                if not self._skip_bad:
                    raise
                self.skipped.append(Skipped(at, error.message))
                self.sync(max(at + 1, self.header.length))

    def seek(self, position: int) -> None:
        """Stand at a byte where a record, a sync mark or a block begins."""
        self._waiting.clear()
        self.position = position
        self.sync_seen = False

    def sync(self, position: int) -> None:
        """Stand at the first record behind a sync mark at or after a byte, or at the end.

        (In a file of old behind the mark, in one of Hadoop before it, as each does it.)
        """
        self._waiting.clear()
        self.sync_seen = False
        mark, header = self.header.sync, self.header
        if not mark or position + SYNC_BYTES >= self._end:
            self.position = self._end
            return
        hadoop = header.version >= _TEXT_NAMES_SINCE
        if position < header.length and hadoop:
            self.position = header.length
            return
        # Behind the escape of a mark that begins here: else that mark would be found for ever.
        found = self._find(mark, position + _ESCAPE_BYTES if hadoop else position)
        if found is None:
            self.position = self._end
        else:
            self.position = found - _ESCAPE_BYTES if hadoop else found + SYNC_BYTES

    def _find(self, mark: bytes, position: int) -> int | None:
        """Return where the bytes of a mark lie; damaged chunks on the way are passed over."""
        before = b""
        while position < self._end:
            try:
                self._file.seek(position)
                window = self._file.read(_SCAN)
            except CorruptDataError:
                before, position = b"", position + _SCAN
                continue
            if not window:
                return None
            at = (before + window).find(mark)
            if at >= 0:
                return position - len(before) + at
            position += len(window)
            before = (before + window)[-(SYNC_BYTES - 1) :]
        return None

    # ------------------------------------------------------------------ inside

    def _located(self, read: Callable[[], _Read]) -> _Read:
        """Read, and name the file in what goes wrong."""
        try:
            return read()
        except VersionMismatchError:
            raise
        except CorruptDataError as error:
            if str(self.path) in error.message:
                raise
            raise type(error)(f"{self.path}: {error.message}", hint=error.hint) from error

    def _take(self, count: int) -> bytes:
        """Read so many bytes at the reader's place, and go on behind them."""
        at = self.position
        if count < 0 or at + count > self._end:
            raise EndOfDataError(
                f"{count} bytes should follow at byte {at}; the file has {self._end}"
            )
        self._file.seek(at)
        data = self._file.read(count)
        if len(data) < count:
            raise EndOfDataError(f"{count} bytes should follow at byte {at}, {len(data)} do")
        self.position = at + count
        return data

    def _read_some(self, most: int) -> bytes:
        """Read up to `most` bytes; less, where a damaged chunk follows."""
        pieces = []
        with contextlib.suppress(CorruptDataError):
            while most > 0 and (piece := self._file.read(min(most, _ALIGNED))):
                pieces.append(piece)
                most -= len(piece)
        return b"".join(pieces)

    def _int(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def _next(self) -> Record | None:
        if self.position >= self._end:
            return None
        return self._next_in_block() if self.header.block else self._next_alone()

    def _next_alone(self) -> Record | None:
        start, synced, length = self.position, False, self._int()
        if length == ESCAPE and self.header.sync:
            self._check_sync(start)
            synced = True
            if self.position >= self._end:
                return None
            length = self._int()
        key_length = self._int()
        if not 0 <= key_length <= length or self.position + length > self._end:
            raise CorruptDataError(
                f"the record at byte {start} says that it has {length} bytes, {key_length} of "
                f"them its key; {self._end - self.position} bytes are left"
            )
        data = self._take(length)
        value = data[key_length:]
        if self._codec is not None:
            value = self._unpacked(value, start)
        self.sync_seen = synced
        return Record(data[:key_length], value, start, synced)

    def _check_sync(self, start: int) -> None:
        if self._take(SYNC_BYTES) != self.header.sync:
            raise CorruptDataError(f"File is corrupt! (a wrong sync mark at byte {start})")

    def _unpacked(self, packed: bytes, at: int) -> bytes:
        assert self._codec is not None
        try:
            return self._codec.decompress(packed)
        except CorruptDataError as error:
            raise type(error)(f"the record at byte {at}: {error.message}") from None

    def _next_in_block(self) -> Record | None:
        start = self.position
        if self._int() != ESCAPE:
            raise CorruptDataError(f"no block begins at byte {start}")
        self._check_sync(start)
        count = self._vint()
        buffers = []
        for _ in range(4):
            size = self._vint()
            buffers.append(self._unpacked(self._take(size), start))
        self._waiting.extend(_records_of(count, buffers, start))
        self.sync_seen = True
        return self._waiting.popleft() if self._waiting else self._next()

    def _vint(self) -> int:
        at = self.position
        head = DataInput(self._take(1))
        first = head.read_byte()
        more = 0 if first >= -112 else (-112 - first if first >= -120 else -120 - first)
        self.position = at
        return DataInput(self._take(1 + more)).read_vint()

    def _read_header(self, newest: int) -> Header:
        self._file.seek(0)
        start = self._file.read(4)
        if start[:3] != _MAGIC or len(start) < 4:
            raise CorruptDataError(f"{self.path} not a SequenceFile")
        version = start[3]
        if version > newest:
            raise VersionMismatchError(newest, version)
        data = DataInput(start + self._read_some(_MOST_HEADER), 4)
        read_name = data.read_text if version >= _TEXT_NAMES_SINCE else data.read_utf
        key_class, value_class = read_name(), read_name()
        compressed = version > 2 and data.read_boolean()
        block = version >= 4 and data.read_boolean()
        codec = "default" if compressed else ""
        if compressed and version >= 5:
            codec = data.read_text()
        metadata = {}
        if version >= 6:
            metadata = {data.read_text(): data.read_text() for _ in range(data.read_count(2))}
        sync = data.read_bytes(SYNC_BYTES) if version > 1 else b""
        return Header(
            version=version,
            key_class=key_class,
            value_class=value_class,
            compressed=compressed,
            block=block and compressed,
            codec=codec,
            metadata=metadata,
            sync=sync,
            length=data.position,
        )


def _records_of(count: int, buffers: list[bytes], start: int) -> Iterator[Record]:
    """Yield the records of a block out of its four buffers."""
    key_lengths, keys, value_lengths, values = map(DataInput, buffers)
    key_lengths.checked_count(count, 0)
    value_lengths.checked_count(count, 0)
    try:
        for _ in range(count):
            key = keys.read_bytes(key_lengths.read_vint())
            yield Record(key, values.read_bytes(value_lengths.read_vint()), start, synced=True)
    except CorruptDataError as error:
        raise type(error)(f"the block at byte {start}: {error.message}") from None
