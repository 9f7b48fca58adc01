"""Hadoop's checksum files: beside `data` lies `.data.crc`, a CRC-32 for each 512 bytes.

Guarantee: with a checksum file, no byte is given out that was not checked; without one, the file is
read as it lies. Checksums are read where they are needed, so that memory does not grow with the
file. Writing gives the same files as Hadoop's `LocalFileSystem`.
Source: Hadoop `ChecksumFileSystem`: "crc" and a 0 byte, int of bytes per checksum, CRC-32 each.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import TYPE_CHECKING

from filbert.nutch.data import CorruptDataError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

__all__ = ["ChecksumWriter", "UnequalLengthsError", "checksum_path", "open_checked"]

_MAGIC = b"crc\0"
_HEAD = 8
_PER_CHECKSUM = 512
_BUFFER = 1 << 18


def checksum_path(path: Path) -> Path:
    """Return where the checksums of a file lie."""
    return path.with_name(f".{path.name}.crc")


class UnequalLengthsError(CorruptDataError):
    """A file is longer or shorter than what its checksums are of."""


def open_checked(path: Path, *, verify: bool = True, any_length: bool = False) -> io.BufferedReader:
    """Open a file; its bytes are checked as they are read, if it has a checksum file.

    Args:
        path: The file.
        verify: Check at all.
        any_length: Give out what can be checked of a file that is longer or shorter than it was.

    Raises:
        UnequalLengthsError: It is so, and `any_length` is not given.
        CorruptDataError: The checksum file is none. (A wrong checksum raises where it is met.)
    """
    side = checksum_path(path)
    if not verify or not side.is_file():
        return io.BufferedReader(io.FileIO(path), buffer_size=_BUFFER)
    return io.BufferedReader(_CheckedFile(path, side, any_length=any_length), buffer_size=_BUFFER)


class _CheckedFile(io.RawIOBase):
    def __init__(self, path: Path, side: Path, *, any_length: bool) -> None:
        self._path, self._side_path = path, side
        self._side = side.open("rb")
        self._file = path.open("rb", buffering=0)
        self._position = 0
        self._size = path.stat().st_size
        try:
            self._width = self._read_width()
            if not any_length:
                self._compare_lengths()
        except BaseException:
            self.close()
            raise

    def _read_width(self) -> int:
        head = self._side.read(_HEAD)
        width = int.from_bytes(head[4:], "big", signed=True)
        if len(head) < _HEAD or head[:4] != _MAGIC or width <= 0:
            raise CorruptDataError(f"{self._side_path} is no checksum file")
        return width

    def _compare_lengths(self) -> None:
        sums = (self._side_path.stat().st_size - _HEAD) / 4
        if sums != -(-self._size // self._width):
            raise UnequalLengthsError(
                f"{self._side_path} has checksums of {int(sums * self._width)} bytes or fewer, "
                f"{self._path.name} has {self._size} bytes",
                hint="one of the two is cut short; without the .crc file it is read unchecked",
            )

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        self._side.close()
        super().close()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read whole chunks, check them, and give what was asked for, up to a damaged one."""
        start = self._position // self._width * self._width
        end = min(self._size, self._position + len(buffer))
        if end <= self._position:
            return 0
        self._file.seek(start)
        last = min(self._size, -(-end // self._width) * self._width)
        data = self._read(last - start)
        wrong = self._first_wrong(data, start)
        if wrong is not None:
            if wrong <= self._position:
                raise self._damage(wrong)
            end = wrong  # it is met again, if it is asked for
        given = data[self._position - start : end - start]
        buffer[: len(given)] = given
        self._position += len(given)
        return len(given)

    def _first_wrong(self, data: bytes, start: int) -> int | None:
        """Return where the first chunk begins that has another checksum, or none."""
        width, view = self._width, memoryview(data)
        sums = [zlib.crc32(view[at : at + width]) for at in range(0, len(data), width)]
        self._side.seek(_HEAD + start // width * 4)
        packed = self._side.read(4 * len(sums))
        expected = struct.unpack(f">{len(packed) // 4}I", packed[: len(packed) // 4 * 4])
        if tuple(sums) == expected:
            return None
        same = 0
        while same < len(expected) and sums[same] == expected[same]:
            same += 1
        return start + same * width

    def _read(self, count: int) -> bytes:
        pieces = []
        while count > 0:
            piece = self._file.read(count)
            if not piece:
                break
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def _damage(self, at: int) -> CorruptDataError:
        count = min(self._width, self._size - at)
        return CorruptDataError(
            f"{self._path}: the {count} bytes from byte {at} are damaged: they do not have the "
            f"checksum in {self._side_path.name}"
        )


class ChecksumWriter(io.RawIOBase):
    """A file to be written, with its checksum file; a new one, never over an old one.

    Args:
        path: The file.
        checksums: Whether the checksum file is written.
    """

    def __init__(self, path: Path, *, checksums: bool = True) -> None:
        self._file: BinaryIO = path.open("xb", buffering=0)
        self._side: BinaryIO | None = None
        if checksums:
            self._side = checksum_path(path).open("wb")
            self._side.write(_MAGIC + _PER_CHECKSUM.to_bytes(4, "big"))
        self._waiting = bytearray()
        self._position = 0

    def writable(self) -> bool:
        """Say yes."""
        return True

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._position

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Write bytes."""
        self._waiting += data
        self._position += len(data)
        if len(self._waiting) >= _BUFFER:
            self._put(len(self._waiting) // _PER_CHECKSUM * _PER_CHECKSUM)
        return len(data)

    def close(self) -> None:
        """Write what is left, and the checksums."""
        if self.closed:
            return
        try:
            self._put(len(self._waiting))
        finally:
            self._file.close()
            if self._side is not None:
                self._side.close()
            super().close()

    def _put(self, count: int) -> None:
        ready = memoryview(bytes(self._waiting[:count]))
        del self._waiting[:count]
        if self._side is not None:
            starts = range(0, count, _PER_CHECKSUM)
            sums = [zlib.crc32(ready[at : at + _PER_CHECKSUM]) for at in starts]
            self._side.write(struct.pack(f">{len(sums)}I", *sums))
        while ready:
            ready = ready[self._file.write(ready) :]
