"""The heads of SequenceFiles: what each version has, and what cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import UserError
from filbert.nutch.codecs import CODECS
from filbert.nutch.data import CorruptDataError, DataOutput, EndOfDataError
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.sequence_header import read_header
from filbert.nutch.sequence_writer import Compression, Form, SequenceFileWriter
from filbert.nutch.writable import VersionMismatchError

if TYPE_CHECKING:
    from pathlib import Path

SYNC = bytes(range(16))
GZIP = CODECS["gzip"].java


def _head(version: int, *, compressed: bool = False, block: bool = False, codec: str = "") -> bytes:
    out = DataOutput()
    out.write_bytes(b"SEQ" + bytes([version]))
    for name in ("key", "value"):
        (out.write_text if version >= 4 else out.write_utf)(name)
    if version >= 3:
        out.write_boolean(compressed)
    if version >= 4:
        out.write_boolean(block)
    if version >= 5 and compressed:
        out.write_text(codec)
    if version >= 6:
        out.write_int(0)
    if version >= 2:
        out.write_bytes(SYNC)
    return out.getvalue()


def _record(key: bytes, value: bytes) -> bytes:
    return b"".join(n.to_bytes(4, "big") for n in (len(key) + len(value), len(key))) + key + value


@pytest.mark.parametrize(
    ("version", "compressed", "codec"),
    [
        (0, False, ""),
        (1, False, ""),
        (2, False, ""),
        (3, False, ""),
        (3, True, "default"),
        (4, False, ""),
        (4, True, "default"),
        (5, False, ""),
        (5, True, GZIP),
        (6, True, GZIP),
    ],
)
def test_each_version_has_its_fields(
    version: int, compressed: bool, codec: str, tmp_path: Path
) -> None:
    """Sync bytes from 2, packed values from 3, names as Text and blocks from 4, codecs from 5."""
    head = _head(version, compressed=compressed, codec=codec)
    value = CODECS["gzip" if codec == GZIP else "default"].compress(b"v") if compressed else b"v"
    (tmp_path / "data").write_bytes(head + _record(b"k", value))
    with SequenceFile(tmp_path / "data") as file:
        assert [one[:2] for one in file] == [(b"k", b"v")]
        header = file.header
    assert (header.version, header.key_class, header.value_class) == (version, "key", "value")
    assert (header.compressed, header.block, header.codec) == (compressed, False, codec)
    assert (header.sync, header.length) == (SYNC if version >= 2 else b"", len(head))


@pytest.mark.parametrize("version", [4, 5])
def test_blocks_of_older_versions(version: int, tmp_path: Path) -> None:
    """Blocks are what they are in version 6."""
    form = Form(compression=Compression.BLOCK, sync=SYNC, checksums=False)
    with SequenceFileWriter(tmp_path / "6", "key", "value", form) as writer:
        writer.append(b"k", b"v")
    with SequenceFile(tmp_path / "6") as file:
        body = (tmp_path / "6").read_bytes()[file.header.length :]
    head = _head(version, compressed=True, block=True, codec=CODECS["default"].java)
    (tmp_path / "older").write_bytes(head + body)
    with SequenceFile(tmp_path / "older") as file:
        assert file.header.block
        assert [one[:2] for one in file] == [(b"k", b"v")]


def test_newer_versions_are_not_guessed_at() -> None:
    """A version that is not known is a mismatch, and says of which."""
    with pytest.raises(VersionMismatchError, match="Expecting v6, found v7"):
        read_header(lambda count: b"SEQ\x07"[:count], "FILE")
    with pytest.raises(VersionMismatchError, match="Expecting v2, found v3"):
        read_header(lambda count: b"SEQ\x03"[:count], "FILE", 2)


@pytest.mark.parametrize("size", [10, 5_000, 70_000, 1_200_000])
def test_metadata_may_be_long(size: int, tmp_path: Path) -> None:
    """They are read whole, and in their order."""
    metadata = {"z": "x" * size, "a": "é"}
    with SequenceFileWriter(tmp_path / "data", "k", "v", Form(metadata=metadata)) as writer:
        writer.append(b"key", b"value")
    with SequenceFile(tmp_path / "data") as file:
        assert list(file.header.metadata.items()) == list(metadata.items())
        assert [one[:2] for one in file] == [(b"key", b"value")]


@pytest.mark.parametrize("version", range(7))
def test_a_cut_head_is_an_error(version: int) -> None:
    """Wherever it is cut."""
    whole = _head(version, compressed=version >= 3, codec=GZIP)
    for end in range(len(whole)):
        with pytest.raises(CorruptDataError):
            read_header(lambda count, end=end: whole[: min(end, count)], "FILE")  # type: ignore[misc]
    assert read_header(lambda count: whole[:count], "FILE").length == len(whole)


def test_the_file_is_named(tmp_path: Path) -> None:
    """What cannot be a SequenceFile says which file it is; so does a codec that is not known."""
    path = tmp_path / "FILE"
    path.write_bytes(b"no")
    with pytest.raises(CorruptDataError, match=r"FILE not a SequenceFile"):
        SequenceFile(path)
    path.write_bytes(_head(6)[:20])
    with pytest.raises(EndOfDataError, match="FILE: "):
        SequenceFile(path)
    path.write_bytes(_head(6, compressed=True, codec="org.example.Codec"))
    with pytest.raises(UserError, match=r"org\.example\.Codec is not known"):
        SequenceFile(path)
