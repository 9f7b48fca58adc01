"""Hadoop's checksum files: beside `data` lies `.data.crc`, a CRC-32 for each 512 bytes.

Guarantee: with a checksum file, no byte is given out that was not checked; without one, the file is
read as it lies. Writing gives the same files as Hadoop's `LocalFileSystem`.
Source: Hadoop `ChecksumFileSystem`: "crc" and a 0 byte, int of bytes per checksum, CRC-32 each.
"""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING

from filbert.nutch.data import CorruptDataError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

__all__ = ["ChecksumWriter", "checksum_path", "open_checked"]

_MAGIC = b"crc\0"
_HEAD = 8
_PER_CHECKSUM = 512
_BUFFER = 1 << 18


def checksum_path(path: Path) -> Path:
    """Return where the checksums of a file lie."""
    return path.with_name(f".{path.name}.crc")


def open_checked(path: Path, *, verify: bool = True) -> io.BufferedReader:
    """Open a file; its bytes are checked as they are read, if it has a checksum file.

    Raises:
        CorruptDataError: The checksum file is none. (A wrong checksum raises where it is met.)
    """
    side = checksum_path(path)
    if not verify or not side.is_file():
        return io.BufferedReader(io.FileIO(path), buffer_size=_BUFFER)
    return io.BufferedReader(_CheckedFile(path, side), buffer_size=_BUFFER)


class _CheckedFile(io.RawIOBase):
    def __init__(self, path: Path, side: Path) -> None:
        sums = side.read_bytes()
        width = int.from_bytes(sums[4:_HEAD], "big", signed=True)
        if sums[:4] != _MAGIC or width <= 0:
            raise CorruptDataError(f"{side} is no checksum file")
        self._path, self._side = path, side
        self._file = path.open("rb", buffering=0)
        self._sums, self._width = memoryview(sums)[_HEAD:], width
        self._position = 0
        self._size = path.stat().st_size
        chunks = -(-self._size // width)
        if len(self._sums) != 4 * chunks:
            self._file.close()
            raise CorruptDataError(
                f"{side} has checksums of {len(self._sums) // 4 * width} bytes or fewer, "
                f"{path.name} has {self._size} bytes",
                hint="one of the two is cut short; without the .crc file it is read unchecked",
            )

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()
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
        for at in range(0, len(data), self._width):
            if self._is_whole(data[at : at + self._width], start + at):
                continue
            if start + at <= self._position:
                raise self._damage(start + at)
            end = start + at  # it is met again, if it is asked for
            break
        given = data[self._position - start : end - start]
        buffer[: len(given)] = given
        self._position += len(given)
        return len(given)

    def _read(self, count: int) -> bytes:
        pieces = []
        while count > 0:
            piece = self._file.read(count)
            if not piece:
                break
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def _is_whole(self, chunk: bytes, at: int) -> bool:
        index = at // self._width * 4
        return zlib.crc32(chunk) == int.from_bytes(self._sums[index : index + 4], "big")

    def _damage(self, at: int) -> CorruptDataError:
        count = min(self._width, self._size - at)
        return CorruptDataError(
            f"{self._path}: the {count} bytes from byte {at} are damaged: they do not have the "
            f"checksum in {self._side.name}"
        )


class ChecksumWriter(io.RawIOBase):
    """A file to be written, with its checksum file; a new one, never over an old one.

    Args:
        path: The file.
        checksums: Whether the checksum file is written.
    """

    def __init__(self, path: Path, *, checksums: bool = True) -> None:
        self._file: BinaryIO = path.open("xb", buffering=_BUFFER)
        self._side = checksum_path(path) if checksums else None
        self._sums = bytearray(_MAGIC + _PER_CHECKSUM.to_bytes(4, "big"))
        self._rest = b""
        self._position = 0

    def writable(self) -> bool:
        """Say yes."""
        return True

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._position

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Write bytes."""
        self._file.write(data)
        self._position += len(data)
        if self._side is not None:
            whole = self._rest + data
            full = len(whole) // _PER_CHECKSUM * _PER_CHECKSUM
            for at in range(0, full, _PER_CHECKSUM):
                self._sum(whole[at : at + _PER_CHECKSUM])
            self._rest = whole[full:]
        return len(data)

    def close(self) -> None:
        """Write what is left, and the checksums."""
        if self.closed:
            return
        self._file.close()
        if self._side is not None:
            if self._rest:
                self._sum(self._rest)
            self._side.write_bytes(self._sums)
        super().close()

    def _sum(self, chunk: bytes) -> None:
        self._sums += zlib.crc32(chunk).to_bytes(4, "big")
