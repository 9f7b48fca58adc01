"""The journal: an append-only file of checked frames.

A frame is 8 bytes of head (length and CRC-32 of the payload, both unsigned 32 bit, little-endian)
and a MessagePack payload. Guarantee: `read_frames` gives the longest whole prefix of what was
written and nothing else: a torn frame, a wrong checksum, a length of zero (a file system may leave
zeros behind after a crash) or a payload that is no MessagePack ends it.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import msgpack

from filbert.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "Frame",
    "JournalWriter",
    "append_all",
    "encode_frame",
    "read_frames",
    "read_packed",
    "unpacked",
]

_HEAD = struct.Struct("<II")
# A robots.txt is the largest thing in a frame; beyond this a length is damage, not data.
_MAX_PAYLOAD = 64 << 20


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: its payload, and the offset of the byte after it."""

    payload: list[object]
    end: int


def encode_frame(payload: list[object]) -> bytes:
    """Return the bytes of one frame."""
    packed: bytes = msgpack.packb(payload, default=_plain)
    return _HEAD.pack(len(packed), zlib.crc32(packed)) + packed


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a journal frame cannot hold a {type(value).__name__}")


def read_frames(path: Path) -> Iterator[Frame]:
    """Yield the whole frames of a journal, in order; nothing if there is no file."""
    end = 0
    for packed in read_packed(path):
        payload = unpacked(packed)
        if payload is None:
            return
        end += _HEAD.size + len(packed)
        yield Frame(payload, end)


def read_packed(path: Path) -> Iterator[bytes]:
    """Yield the payloads of the whole frames as they were packed; nothing if there is no file."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        while True:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                return
            length, checksum = _HEAD.unpack(head)
            if not 0 < length <= _MAX_PAYLOAD:
                return
            packed = file.read(length)
            if len(packed) < length or zlib.crc32(packed) != checksum:
                return
            yield packed


def unpacked(packed: bytes) -> list[object] | None:
    """Return the payload of a frame; None if it is no MessagePack."""
    try:
        payload = msgpack.unpackb(packed, strict_map_key=False)
    except (ValueError, msgpack.UnpackException):
        return None
    return payload if isinstance(payload, list) else None


class JournalWriter:
    """Appends frames to a file that was cut at `end`. A context manager.

    Args:
        path: The file; made if it is not there.
        end: Where the next frame goes; what lies behind it is cut off.
    """

    def __init__(self, path: Path, *, end: int = 0) -> None:
        self.path = path
        self._end = end
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        os.ftruncate(self._fd, end)
        os.lseek(self._fd, end, os.SEEK_SET)

    @property
    def end(self) -> int:
        """Offset of the next frame, in bytes."""
        return self._end

    def fileno(self) -> int:
        """Return the descriptor, for whoever forces the file to disk."""
        return self._fd

    def append(self, payload: list[object]) -> None:
        """Append one frame in one write.

        Raises:
            DataError: The disk is full or fails; the file is as it was before.
        """
        data = encode_frame(payload)
        append_all(self._fd, data, self._end, self.path)
        self._end += len(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; further calls do nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def append_all(fd: int, data: bytes, start: int, path: Path) -> None:
    """Write `data` at the end `start` of an open file, or leave the file as it was.

    Raises:
        DataError: The disk is full or fails.
    """
    try:
        written = os.write(fd, data)
        while written < len(data):
            written += os.write(fd, memoryview(data)[written:])
    except OSError as error:
        os.ftruncate(fd, start)
        os.lseek(fd, start, os.SEEK_SET)
        raise DataError(
            f"cannot write to {path}: {error.strerror}",
            hint="What was captured before is safe. Make room, then run the same command again.",
        ) from error
