"""Reads WARC files of any program, record by record: whole files in order, or one place at random.

Guarantees: memory is bounded whatever a record's size; a record whose end was reached was whole
(gzip's checksums are kept to), and what is damaged is told with its place and passed over to the
next record that begins.
Reads WARC 0.17 to 1.1; plain, in gzip members or zstd frames of one record each, as the standard
asks. A file that was compressed in one go, or with a dictionary, is refused with those words.
Source: WARC 1.1 (ISO 28500:2017), annex D; RFC 1952; RFC 8878.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeVar

import zstandard
from isal import isal_zlib

from filbert.plugins.protocols.heads import header_pairs, split_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["WarcRecord", "record_at", "scan"]

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # of a zstd frame, behind its first byte
_PLAIN = b"WARC/"
_BEGINNINGS = (_GZIP + b"\x08", _ZSTD, _PLAIN)
_READ = 1 << 16
_READ_ZSTD = 1 << 12  # some bytes of zstd stand for many: what one call gives stays bounded
_MOST_HEAD = 1 << 16
_SEARCHED = 1 << 20

T = TypeVar("T")


class _Member(Protocol):
    """Bytes of one record, without compression."""

    def read(self, most: int) -> bytes:
        """Return up to `most` bytes; none at the end."""
        ...

    def skip(self, length: int) -> int:
        """Pass over bytes; return how many there were."""
        ...

    def end(self) -> int:
        """Return where the next record begins; ValueError if this one goes on."""
        ...


class WarcRecord:
    """One record; its block is read once, in order.

    Args:
        offset: Where in the file it begins.
        member: Its bytes.

    Attributes:
        offset: Where in the file it begins.
        fields: The WARC header, names in lower case.
        size: Length of the block.
    """

    def __init__(self, offset: int, member: _Member) -> None:
        self.offset = offset
        self._member = member
        head, self._ahead = _head(member)
        self.fields: Mapping[str, str] = {name.lower(): value for name, value in header_pairs(head)}
        length = self.fields.get("content-length", "")
        if not (length.isascii() and length.isdigit()):
            raise ValueError(f"its Content-Length is {length!r}")
        self.size = int(length)
        self._left = self.size

    def read(self, most: int) -> bytes:
        """Return up to `most` bytes more of the block; ValueError if the file is damaged."""
        found = bytearray()
        most = min(most, self._left)
        while len(found) < most:
            piece = self._more(most - len(found))
            if not piece:
                raise ValueError(f"it is cut: {self._left:,} bytes of its block are missing")
            self._left -= len(piece)
            found += piece
        return bytes(found)

    def finish(self) -> int:
        """Pass over the rest; return where the next record begins; ValueError if damaged."""
        here = min(self._left, len(self._ahead))
        self._ahead, self._left = self._ahead[here:], self._left - here
        if self._left:
            self._left -= self._member.skip(self._left)
        if self._left:
            raise ValueError(f"it is cut: {self._left:,} bytes of its block are missing")
        while rest := self._ahead or self._member.read(_READ):
            if rest.strip(b"\r\n"):
                break
            self._ahead = b""
        if rest and not isinstance(self._member, _PlainMember):
            raise ValueError("more follows it in the same member: not compressed record by record")
        return self._member.end() - len(rest.lstrip(b"\r\n"))

    def _more(self, most: int) -> bytes:
        if self._ahead:
            piece, self._ahead = self._ahead[:most], self._ahead[most:]
            return piece
        return self._member.read(most)


def record_at(file: BinaryIO, offset: int) -> WarcRecord | None:
    """Return the record that begins at a place; None at the end of the file.

    Raises:
        ValueError: None begins there, or its head is damaged.
        OSError: The file cannot be read.
    """
    file.seek(offset)
    magic = file.read(5)
    if not magic:
        return None
    file.seek(offset)
    if magic.startswith(_GZIP):
        return WarcRecord(offset, _GzipMember(file))
    if magic.startswith(_ZSTD):
        return WarcRecord(offset, _ZstdMember(file))
    if magic == _PLAIN:
        return WarcRecord(offset, _PlainMember(file))
    if magic[1:4] == _SKIPPABLE:
        raise ValueError("compressed with a zstd dictionary: not read")
    raise ValueError("no WARC record begins there")


def scan(
    path: Path, look: Callable[[WarcRecord], T], damaged: Callable[[int, str], None]
) -> Iterator[tuple[int, T]]:
    """Yield the place of each whole record of a file, and what `look` made of it.

    Args:
        path: The file.
        look: Reads what it needs of a record.
        damaged: Told of each place that is damaged; what it raises ends the scan.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        offset = 0
        while True:
            try:
                record = record_at(file, offset)
                if record is None:
                    return
                found = look(record)
                after = record.finish()
            except ValueError as error:
                damaged(offset, str(error))
                after = _next_beginning(file, offset + 1)
                if after < 0:
                    return
            else:
                yield offset, found
            offset = after


def _next_beginning(file: BinaryIO, offset: int) -> int:
    """Return where the next record begins from `offset` on; -1: nowhere."""
    while True:
        file.seek(offset)
        block = file.read(_SEARCHED)
        places = sorted(place for magic in _BEGINNINGS for place in _all_places(block, magic))
        for place in places:
            try:
                if record_at(file, offset + place) is not None:
                    return offset + place
            except ValueError:
                continue
        if len(block) < _SEARCHED:
            return -1
        offset += _SEARCHED - len(_PLAIN)


def _all_places(block: bytes, magic: bytes) -> Iterator[int]:
    place = block.find(magic)
    while place >= 0:
        yield place
        place = block.find(magic, place + 1)


def _head(member: _Member) -> tuple[bytes, bytes]:
    """Return the WARC header, and what was read of the block."""
    found = b""
    while len(found) < _MOST_HEAD:
        piece = member.read(1024)
        if not piece:
            break
        found += piece
        if not found.startswith(_PLAIN[: len(found)]):
            raise ValueError("no WARC record begins there")
        parts = split_head(found)
        if parts is not None:
            return parts
    raise ValueError("its header has no end")


class _PlainMember:
    """A record without compression: the file itself."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size

    def read(self, most: int) -> bytes:
        return self._file.read(most)

    def skip(self, length: int) -> int:
        here = self._file.tell()
        there = min(here + length, self._size)
        self._file.seek(there)
        return there - here

    def end(self) -> int:
        return self._file.tell()


class _GzipMember:
    """A gzip member."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._engine = isal_zlib.decompressobj(31)

    def read(self, most: int) -> bytes:
        while not self._engine.eof:
            fed = self._engine.unconsumed_tail or self._file.read(_READ)
            try:
                piece: bytes = self._engine.decompress(fed, most)  # what is inside comes out, too
            except isal_zlib.error as error:  # type: ignore[misc]  # the stub calls it a value
                raise ValueError(f"its gzip member is damaged: {error}") from error
            if piece:
                return piece
            if not fed and not self._engine.eof:
                raise ValueError("it is cut: the file ends inside it")
        return b""

    def skip(self, length: int) -> int:
        return _skipped(self, length)

    def end(self) -> int:
        return self._file.tell() - len(self._engine.unused_data)


class _ZstdMember:
    """A zstd frame."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._engine = zstandard.ZstdDecompressor().decompressobj()
        self._ready = b""

    def read(self, most: int) -> bytes:
        while not self._ready and not self._engine.eof:
            fed = self._file.read(_READ_ZSTD)
            if not fed:
                raise ValueError("it is cut: the file ends inside it")
            try:
                self._ready = self._engine.decompress(fed)
            except zstandard.ZstdError as error:
                raise ValueError(f"its zstd frame is damaged: {error}") from error
        piece, self._ready = self._ready[:most], self._ready[most:]
        return piece

    def skip(self, length: int) -> int:
        return _skipped(self, length)

    def end(self) -> int:
        return self._file.tell() - len(self._engine.unused_data)


def _skipped(member: _Member, length: int) -> int:
    done = 0
    while done < length and (piece := member.read(min(_READ, length - done))):
        done += len(piece)
    return done
