"""Codecs: what is packed comes back; damage, cuts and bombs end in an error."""

from __future__ import annotations

import bz2
import contextlib
import importlib
import importlib.util
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filbert.errors import UserError
from filbert.nutch.codecs import CODECS, Codec, codec_of
from filbert.nutch.data import CorruptDataError

if TYPE_CHECKING:
    from types import ModuleType

BLOCKS = ("snappy", "lz4")


@pytest.fixture(params=sorted(CODECS))
def codec(request: pytest.FixtureRequest) -> Codec:
    """Each of them; two are skipped aloud without their library."""
    if request.param in BLOCKS:
        pytest.importorskip("cramjam", reason="no cramjam: pip install filbert[hadoop-codecs]")
    return CODECS[request.param]


@given(st.binary(max_size=3_000) | st.integers(0, 3_000).map(bytes))
@settings(max_examples=30, deadline=None)
def test_what_is_packed_comes_back(data: bytes) -> None:
    """Of any bytes, also of none."""
    for codec in CODECS.values():
        if codec.name not in BLOCKS or importlib.util.find_spec("cramjam"):
            assert codec.decompress(codec.compress(data)) == data


def test_large_and_unpackable(codec: Codec) -> None:
    """What needs several pieces, and what packing makes longer."""
    noise = b"".join(zlib.crc32(b"%d" % n).to_bytes(4, "big") for n in range(150_000))
    for data in (bytes(700_000), noise):
        assert codec.decompress(codec.compress(data)) == data


def test_a_cut_is_an_error(codec: Codec) -> None:
    """Wherever the packed bytes are cut off, nothing is taken for the whole."""
    packed = codec.compress(b"a line of text, and another one; " * 20)
    for end in range(1, len(packed)):
        with pytest.raises(CorruptDataError):
            codec.decompress(packed[:end])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_flipped_bit_is_an_error_or_other_bytes(data: st.DataObject) -> None:
    """Never another exception."""
    for codec in CODECS.values():
        if codec.name in BLOCKS and not importlib.util.find_spec("cramjam"):
            continue
        packed = bytearray(codec.compress(b"a line of text, and another one; " * 20))
        packed[data.draw(st.integers(0, len(packed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        with contextlib.suppress(CorruptDataError):
            assert len(codec.decompress(bytes(packed), 100_000)) <= 100_000


def test_a_bomb_is_stopped(codec: Codec) -> None:
    """No more than the limit is unpacked."""
    packed = codec.compress(bytes(3_000_000))
    assert len(codec.decompress(packed, 3_000_000)) == 3_000_000
    with pytest.raises(CorruptDataError, match="unpack to more than 2999999 bytes"):
        codec.decompress(packed, 2_999_999)


@pytest.mark.parametrize("name", ["default", "gzip", "bzip2", "zstd"])
def test_streams_follow_one_another(name: str) -> None:
    """Two packed streams are one, as gzip has it."""
    codec = CODECS[name]
    packed = codec.compress(b"one ") + codec.compress(b"two")
    assert codec.decompress(packed) == b"one two"
    with pytest.raises(CorruptDataError):
        codec.decompress(packed + b"\x00no stream")


def _int(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_has_pieces(name: str) -> None:
    """Hadoop packs what is written at once piece by piece, under one length."""
    cramjam = pytest.importorskip("cramjam")
    pieces = [_raw(cramjam, name, plain) for plain in (b"a" * 1_000, b"b" * 500)]
    packed = b"".join(_int(len(piece)) + piece for piece in pieces)
    assert CODECS[name].decompress(_int(1_500) + packed) == b"a" * 1_000 + b"b" * 500
    for wrong in (1_499, 1_501, 999, 1 << 29, -1):
        with pytest.raises(CorruptDataError):
            CODECS[name].decompress(_int(wrong) + packed)
    assert CODECS[name].decompress(_int(0)) == b""


def _raw(cramjam: ModuleType, name: str, plain: bytes) -> bytes:
    if name == "snappy":
        return bytes(cramjam.snappy.compress_raw(plain))
    return bytes(cramjam.lz4.compress_block(plain, store_size=False))


def test_names() -> None:
    """By our name and by Hadoop's class; what is not known says what is."""
    assert codec_of("org.apache.hadoop.io.compress.GzipCodec") is codec_of("gzip")
    with pytest.raises(UserError, match="the codec lzo is not known") as caught:
        codec_of("lzo")
    assert "snappy" in caught.value.hint


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has not the extra learns which it is."""

    def gone(name: str) -> ModuleType:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", gone)
    with pytest.raises(UserError, match="needs the library cramjam") as caught:
        CODECS["lz4"].compress(b"x")
    assert "filbert[hadoop-codecs]" in caught.value.hint


def test_hadoops_streams() -> None:
    """The default codec is zlib's form, not bare deflate; the others are the plain formats."""
    assert zlib.decompress(CODECS["default"].compress(b"x")) == b"x"
    assert zlib.decompress(CODECS["deflate"].compress(b"x")) == b"x"
    assert zlib.decompress(CODECS["gzip"].compress(b"x"), wbits=31) == b"x"
    assert bz2.decompress(CODECS["bzip2"].compress(b"x")) == b"x"
