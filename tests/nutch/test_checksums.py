"""Checksum files: written as Hadoop writes them, checked where the bytes are read."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filbert.nutch.checksums import (
    ChecksumWriter,
    UnequalLengthsError,
    checksum_path,
    open_checked,
)
from filbert.nutch.data import CorruptDataError

GOLDEN = sorted((Path(__file__).parents[1] / "data" / "nutch1").rglob(".*.crc"))


def _written(path: Path, data: bytes, width: int = 512) -> Path:
    path.write_bytes(data)
    sums = [zlib.crc32(data[at : at + width]) for at in range(0, len(data), width)]
    head = b"crc\0" + width.to_bytes(4, "big")
    checksum_path(path).write_bytes(head + b"".join(one.to_bytes(4, "big") for one in sums))
    return path


@pytest.mark.parametrize("side", GOLDEN, ids=lambda path: "/".join(path.parts[-4:]))
def test_every_golden_file_has_its_checksums(side: Path, tmp_path: Path) -> None:
    """Each file of Nutch 1.22 is read checked, and its checksum file is the one we would write."""
    path = side.with_name(side.name[1:].removesuffix(".crc"))
    with open_checked(path) as file:
        data = file.read()
    assert data == path.read_bytes()
    with ChecksumWriter(tmp_path / "copy") as copy:
        copy.write(data[:1000])
        copy.write(data[1000:])
        assert copy.tell() == len(data)
    assert (tmp_path / "copy").read_bytes() == data
    assert checksum_path(tmp_path / "copy").read_bytes() == side.read_bytes()


@given(st.lists(st.binary(max_size=2_000), max_size=8))
@settings(max_examples=40, deadline=None)
def test_written_in_any_pieces(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    """However the bytes come, the checksums are those of the whole."""
    path = tmp_path_factory.mktemp("pieces") / "data"
    with ChecksumWriter(path) as file:
        for piece in pieces:
            file.write(piece)
    written = checksum_path(path).read_bytes()
    assert written == checksum_path(_written(path, b"".join(pieces))).read_bytes()


@pytest.mark.parametrize("width", [1, 7, 512, 4096])
def test_no_byte_is_given_out_unchecked(width: int, tmp_path: Path) -> None:
    """What lies before a damaged chunk is read; the chunk is an error, each time; not the rest."""
    data = bytes(n % 251 for n in range(20_000))
    path = _written(tmp_path / "data", data, width)
    path.write_bytes(data[:12_345] + b"\xff\xff" + data[12_347:])
    start = 12_345 // width * width
    with open_checked(path) as file:
        assert file.read(start) == data[:start]
        for _ in range(2):
            file.seek(start)
            with pytest.raises(CorruptDataError, match=f"bytes from byte {start} are damaged"):
                file.read(1)
        file.seek(16_500)
        assert file.read() == data[16_500:]
    with open_checked(path, verify=False) as file:
        assert len(file.read()) == len(data)


@pytest.mark.parametrize("length", [0, 511, 512, 1024, 1500, 3000])
def test_a_file_that_is_cut_or_grew(length: int, tmp_path: Path) -> None:
    """It does not open; where any length will do, what can be checked is given out."""
    data = bytes(2_000)
    path = _written(tmp_path / "data", data)
    path.write_bytes((data * 2)[:length])
    with pytest.raises(UnequalLengthsError, match=f"data has {length} bytes"):
        open_checked(path)
    with open_checked(path, any_length=True) as file:
        whole = min(length, len(data)) // 512 * 512
        assert file.read(whole) == data[:whole]
        if length > whole:
            with pytest.raises(CorruptDataError, match="damaged"):
                file.read(1)


@pytest.mark.parametrize(
    "side", [b"", b"crc\0", b"crc\0\0\0\0\0", b"CRC\0\0\0\2\0", b"crc\0\xff\0\0\0"]
)
def test_what_is_no_checksum_file(side: bytes, tmp_path: Path) -> None:
    """Its name is in the error; the file can be read unchecked."""
    path = _written(tmp_path / "data", b"x")
    checksum_path(path).write_bytes(side)
    with pytest.raises(CorruptDataError, match=r"\.data\.crc is no checksum file"):
        open_checked(path)
    with open_checked(path, verify=False) as file:
        assert file.read() == b"x"


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    """Neither the file nor its checksums are touched."""
    path = _written(tmp_path / "data", b"x")
    before = checksum_path(path).read_bytes()
    with pytest.raises(FileExistsError):
        ChecksumWriter(path)
    assert (path.read_bytes(), checksum_path(path).read_bytes()) == (b"x", before)
