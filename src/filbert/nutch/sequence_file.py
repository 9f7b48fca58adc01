"""Reading SequenceFiles: one key and value after the other, of both eras.

Guarantee: memory for one record (or one block, where the file is compressed by blocks), whatever
the file's size; each length is checked against what the file holds before it is believed. An error
names file and byte; with `skip_bad` reading goes on behind the next sync mark, and what was left
out is noted.
Source: Nutch 0.7 `io.SequenceFile` (versions 0 to 2); Hadoop `io.SequenceFile` (3 to 6).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple, Self

from filbert.nutch.checksums import UnequalLengthsError, open_checked
from filbert.nutch.codecs import LIMIT, Codec, codec_of
from filbert.nutch.damage import Skipped
from filbert.nutch.data import CorruptDataError, DataInput, EndOfDataError
from filbert.nutch.sequence_header import (
    ESCAPE,
    NEWEST,
    SYNC_BYTES,
    TEXT_NAMES_SINCE,
    Header,
    read_header,
)
from filbert.nutch.writable import VersionMismatchError

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["NEWEST", "Header", "Record", "SequenceFile"]

_LENGTHS = struct.Struct(">ii")
_ESCAPE_BYTES = 4
_SCAN = 1 << 16
_CHUNK = 512
_NOWHERE = -1


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


class SequenceFile:
    """A reader. A context manager, and an iterator of records.

    Args:
        path: The file.
        verify: Check the checksums, if there is a checksum file.
        skip_bad: Go on behind the next sync mark where a record is damaged.
        newest: The newest version that is taken: 2 for a reader of old.
        start, end: Read a split alone: from the first sync mark at or after `start` (the first
            record, if that is 0) up to the first at or after `end`. Splits that touch give each
            record once, wherever they touch.

    Attributes:
        header: What the file says of itself.
        position: Where the next record (or block) begins.
        sync_seen: The last record followed a sync mark.
        skipped: What was left out.

    Raises:
        CorruptDataError: It is not there, no SequenceFile, or its header is damaged.
        VersionMismatchError: It is of a newer version.
    """

    def __init__(
        self,
        path: Path,
        *,
        verify: bool = True,
        skip_bad: bool = False,
        newest: int = NEWEST,
        start: int = 0,
        end: int | None = None,
    ) -> None:
        self.path = path
        self.skipped: list[Skipped] = []
        self._skip_bad = skip_bad
        if not path.is_file():
            raise CorruptDataError(f"there is no file {path}")
        self._size = path.stat().st_size
        self._split_end = end
        self._file = self._open(verify=verify)
        self._place = _NOWHERE
        self._records: Iterator[Record] | None = None  # of a block
        self._block_start = 0
        self.sync_seen = False
        try:
            self.header = self._read_header(newest)
            header = self.header
            self._codec: Codec | None = codec_of(header.codec) if header.compressed else None
            self.position = header.length
            if start > 0:
                self._find_mark(max(start, header.length))
        except BaseException:
            self._file.close()
            raise

    def _open(self, *, verify: bool) -> io.BufferedReader:
        try:
            return open_checked(self.path, verify=verify)
        except UnequalLengthsError as error:
            if not self._skip_bad:
                raise
            self.skipped.append(Skipped(self._size, error.message))
            return open_checked(self.path, any_length=True)

    def _read_header(self, newest: int) -> Header:
        try:
            return read_header(self._first, str(self.path), newest)
        except VersionMismatchError:
            raise
        except CorruptDataError as error:
            raise self._named(error) from error

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
            at, in_block = self.position, self._records is not None
            try:
                record = self._next()
            except CorruptDataError as error:
                named = self._named(error)
                if not self._skip_bad:
                    raise named from error
                self._skip(at, named.message, in_block=in_block)
                continue
            if record is None:
                if self._records is None and self.position >= self._size:
                    return None
                continue
            if self._split_end is not None and record.synced and record.position >= self._split_end:
                self.seek(record.position)
                return None
            self.sync_seen = record.synced
            return record

    def seek(self, position: int) -> None:
        """Stand at a byte where a record, a sync mark or a block begins."""
        self._records = None
        self.position = position
        self.sync_seen = False

    def sync(self, position: int) -> None:
        """Stand at the first record behind a sync mark at or after a byte, or at the end.

        (In a file of old behind the mark, in one of Hadoop before it, as each does it.)
        """
        header = self.header
        hadoop = header.version >= TEXT_NAMES_SINCE
        if hadoop and position < header.length:
            self.seek(header.length)
        elif hadoop:
            self._find_mark(position)
        else:
            self._find_mark(position - _ESCAPE_BYTES)
            if self.position < self._size:
                self.position += _ESCAPE_BYTES + SYNC_BYTES

    def _find_mark(self, position: int) -> None:
        """Stand at the first sync mark that begins at or after a byte, or at the end."""
        self.seek(self._size)
        mark, after = self.header.sync, position + _ESCAPE_BYTES
        if mark and after + SYNC_BYTES <= self._size:
            found = self._find(mark, after)
            if found is not None:
                self.position = found - _ESCAPE_BYTES

    def _find(self, mark: bytes, position: int) -> int | None:
        """Return where the bytes of a mark lie; damaged chunks on the way are passed over."""
        before = b""
        while position < self._size:
            try:
                self._file.seek(position)
                window = self._file.read1(_SCAN)
            except CorruptDataError:
                before, position = b"", position + _CHUNK - position % _CHUNK
                continue
            finally:
                self._place = _NOWHERE
            if not window:
                return None
            at = (before + window).find(mark)
            if at >= 0:
                return position - len(before) + at
            position += len(window)
            before = (before + window)[-(SYNC_BYTES - 1) :]
        return None

    # ------------------------------------------------------------------ inside

    def _named(self, error: CorruptDataError) -> CorruptDataError:
        """Return an error that names the file."""
        if str(self.path) in error.message:
            return error
        return type(error)(f"{self.path}: {error.message}", hint=error.hint)

    def _skip(self, at: int, reason: str, *, in_block: bool) -> None:
        if in_block:  # the next block begins where the reader stands
            self._records = None
            at = self._block_start
        else:
            self._find_mark(max(at + 1, self.header.length))
        is_rest = self.position >= self._size
        self.skipped.append(Skipped(at, reason, self.position - at, is_rest))

    def _first(self, count: int) -> bytes:
        """Return the first bytes; fewer, where a damaged chunk follows."""
        self._file.seek(0)
        pieces: list[bytes] = []
        try:
            while count > 0 and (piece := self._file.read1(count)):
                pieces.append(piece)
                count -= len(piece)
        except CorruptDataError:
            if not pieces:
                raise
        return b"".join(pieces)

    def _take(self, count: int) -> bytes:
        """Read so many bytes at the reader's place, and go on behind them."""
        at = self.position
        if count < 0 or at + count > self._size:
            raise EndOfDataError(
                f"{count} bytes should follow at byte {at}; the file has {self._size}"
            )
        if at != self._place:
            self._place = _NOWHERE
            self._file.seek(at)
        try:
            data = self._file.read(count)
        except CorruptDataError:
            self._place = _NOWHERE
            raise
        self.position = self._place = at + len(data)
        if len(data) < count:
            raise EndOfDataError(f"{count} bytes should follow at byte {at}, {len(data)} do")
        return data

    def _next(self) -> Record | None:
        """Return the next record; None at the end, of the file or of a block."""
        if self._records is not None:
            record = next(self._records, None)
            if record is None:
                self._records = None
            return record
        if self.position >= self._size:
            return None
        if self.header.block:
            self._open_block()
            return None
        return self._next_alone()

    def _next_alone(self) -> Record | None:
        start, synced = self.position, False
        length, key_length = _LENGTHS.unpack(self._take(8))
        if length == ESCAPE and self.header.sync:
            self.position = start + _ESCAPE_BYTES
            self._check_sync(start)
            synced = True
            if self.position >= self._size:
                return None
            length, key_length = _LENGTHS.unpack(self._take(8))
        if not 0 <= key_length <= length or self.position + length > self._size:
            raise CorruptDataError(
                f"the record at byte {start} says that it has {length} bytes, {key_length} of "
                f"them its key; {self._size - self.position} bytes are left"
            )
        data = self._take(length)
        value = data[key_length:]
        if self._codec is not None:
            value = self._unpacked(value, start, LIMIT)
        return Record(data[:key_length], value, start, synced)

    def _check_sync(self, start: int) -> None:
        if self._take(SYNC_BYTES) != self.header.sync:
            raise CorruptDataError(f"File is corrupt! (a wrong sync mark at byte {start})")

    def _unpacked(self, packed: bytes, at: int, limit: int) -> bytes:
        assert self._codec is not None
        try:
            return self._codec.decompress(packed, limit)
        except CorruptDataError as error:
            raise type(error)(f"the record at byte {at}: {error.message}") from None

    def _open_block(self) -> None:
        start = self.position
        if int.from_bytes(self._take(_ESCAPE_BYTES), "big", signed=True) != ESCAPE:
            raise CorruptDataError(f"no block begins at byte {start}")
        self._check_sync(start)
        if self.position >= self._size:  # a mark alone, at the end
            return
        count = self._vint()
        buffers: list[bytes] = []
        for _ in range(4):
            left = LIMIT - sum(map(len, buffers))
            buffers.append(self._unpacked(self._take(self._vint()), start, left))
        self._block_start = start
        self._records = _records_of(count, buffers, start)

    def _vint(self) -> int:
        at = self.position
        first = DataInput(self._take(1)).read_byte()
        more = 0 if first >= -112 else (-112 - first if first >= -120 else -120 - first)
        self.position = at
        return DataInput(self._take(1 + more)).read_vint()


def _records_of(count: int, buffers: list[bytes], start: int) -> Iterator[Record]:
    """Yield the records of a block out of its four buffers."""
    key_lengths, keys, value_lengths, values = map(DataInput, buffers)
    try:
        key_lengths.checked_count(count, 0)
        value_lengths.checked_count(count, 0)
        for _ in range(count):
            key = keys.read_bytes(key_lengths.read_vint())
            yield Record(key, values.read_bytes(value_lengths.read_vint()), start, synced=True)
    except CorruptDataError as error:
        raise type(error)(f"the block at byte {start}: {error.message}") from None
