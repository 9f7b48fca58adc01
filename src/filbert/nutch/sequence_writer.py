"""Writing SequenceFiles: what Hadoop (version 6) and the old Nutch (version 2) would write.

Guarantee: with the same sync bytes and uncompressed, the same bytes as the original; never over a
file that is there. Memory for one block.
Source: Hadoop `io.SequenceFile.Writer`; Nutch 0.7 `io.SequenceFile.Writer`.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from filbert.errors import UserError
from filbert.nutch.checksums import ChecksumWriter
from filbert.nutch.codecs import codec_of
from filbert.nutch.data import DataOutput
from filbert.nutch.sequence_header import ESCAPE, SYNC_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["HADOOP", "OLD", "Compression", "Form", "SequenceFileWriter"]

HADOOP, OLD = 6, 2
_SYNC_EVERY_BYTES = 102_400
_SYNC_EVERY_RECORDS = 10


class Compression(StrEnum):
    """What is packed: nothing, each value, or many records together."""

    NONE = "none"
    RECORD = "record"
    BLOCK = "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a file is written.

    Attributes:
        version: `HADOOP` or `OLD`.
        compression: What is packed; nothing in a file of old.
        codec: How, by our name or Hadoop's class.
        metadata: Pairs for the header; none in a file of old.
        sync: The bytes of its sync marks; empty: random ones.
        checksums: Write a checksum file, too.
        block_bytes: Plain bytes after which a block ends.
    """

    version: int = HADOOP
    compression: Compression = Compression.NONE
    codec: str = "default"
    metadata: Mapping[str, str] = field(default_factory=dict)
    sync: bytes = b""
    checksums: bool = True
    block_bytes: int = 1_000_000


class SequenceFileWriter:
    """A writer. A context manager.

    Args:
        path: The file.
        key_class, value_class: Java's names; aliases in a file of old.
        form: How it is written.

    Raises:
        UserError: The file is there already, or a file of old should be compressed.
    """

    def __init__(
        self, path: Path, key_class: str, value_class: str, form: Form | None = None
    ) -> None:
        self._form = form = form or Form()
        self._old = form.version == OLD
        self._compression = form.compression
        if self._old and self._compression is not Compression.NONE:
            raise UserError("a SequenceFile of the old Nutch is never compressed")
        self._codec = codec_of(form.codec)
        self._sync = form.sync or secrets.token_bytes(SYNC_BYTES)
        self._count = 0
        self._last_sync = 0
        self._block = _Block()
        try:
            self._file = ChecksumWriter(path, checksums=form.checksums)
        except FileExistsError:
            raise UserError(f"already exists: {path}") from None
        self._file.write(self._header(key_class, value_class))

    def _header(self, key_class: str, value_class: str) -> bytes:
        out = DataOutput()
        out.write_bytes(b"SEQ")
        out.write_byte(self._form.version)
        write_name = out.write_utf if self._old else out.write_text
        write_name(key_class)
        write_name(value_class)
        if not self._old:
            out.write_boolean(self._compression is not Compression.NONE)
            out.write_boolean(self._compression is Compression.BLOCK)
            if self._compression is not Compression.NONE:
                out.write_text(self._codec.java)
            out.write_int(len(self._form.metadata))
            for name, value in self._form.metadata.items():
                out.write_text(name)
                out.write_text(value)
        out.write_bytes(self._sync)
        return out.getvalue()

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the file."""
        self.close()

    @property
    def position(self) -> int:
        """Bytes written so far; records of a block that is not full yet are not among them."""
        return self._file.tell()

    def append(self, key: bytes, value: bytes) -> int:
        """Write a record; return where it, or its block, begins, before its sync mark.

        Raises:
            UserError: The key is empty in a file of old.
        """
        start = self.position
        self._count += 1
        if self._compression is Compression.BLOCK:
            self._block.add(key, value)
            if self._block.size >= self._form.block_bytes:
                self._end_block()
            return start
        if self._old and not key:
            raise UserError("zero length keys not allowed")
        due = (
            self._count % _SYNC_EVERY_RECORDS == 0
            if self._old
            else start >= self._last_sync + _SYNC_EVERY_BYTES
        )
        if due:
            self.sync()
        if self._compression is Compression.RECORD:
            value = self._codec.compress(value)
        out = DataOutput()
        out.write_int(len(key) + len(value))
        out.write_int(len(key))
        self._file.write(out.getvalue() + key + value)
        return start

    def sync(self) -> None:
        """Write a sync mark, if anything was written since the last; end the block."""
        if self._compression is Compression.BLOCK:
            self._end_block()
        elif self._last_sync != self.position:
            self._mark()

    def _mark(self) -> None:
        self._file.write(ESCAPE.to_bytes(4, "big", signed=True) + self._sync)
        self._last_sync = self.position

    def _end_block(self) -> None:
        if self._block.count:
            self._mark()
            out = DataOutput()
            out.write_vint(self._block.count)
            for buffer in self._block.buffers():
                packed = self._codec.compress(bytes(buffer))
                out.write_vint(len(packed))
                out.write_bytes(packed)
            self._file.write(out.getvalue())
            self._block = _Block()

    def close(self) -> None:
        """Write what is left, and close the file."""
        if not self._file.closed:
            self._end_block()
            self._file.close()


class _Block:
    """Records that are packed together."""

    def __init__(self) -> None:
        self.count = 0
        self._lengths = (DataOutput(), DataOutput())
        self._data = (bytearray(), bytearray())

    @property
    def size(self) -> int:
        return len(self._data[0]) + len(self._data[1])

    def add(self, key: bytes, value: bytes) -> None:
        self.count += 1
        for lengths, data, part in zip(self._lengths, self._data, (key, value), strict=True):
            lengths.write_vint(len(part))
            data.extend(part)

    def buffers(self) -> tuple[bytearray, ...]:
        (key_lengths, value_lengths), (keys, values) = self._lengths, self._data
        return key_lengths.data, keys, value_lengths.data, values
