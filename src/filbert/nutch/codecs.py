"""Hadoop's compression codecs: from packed bytes to bytes, and back.

Guarantee: unpacking stops at a limit, so that a few bytes cannot fill the memory; bytes that are
damaged or cut short are a `CorruptDataError`. What needs a library that is not installed is a
`UserError` that names the extra.
Source: Hadoop `io.compress`: `DefaultCodec` and `DeflateCodec` are zlib streams; Snappy and LZ4 lie
in blocks (`BlockCompressorStream`): int of the plain length, then int of length and bytes of each
packed piece.
"""

from __future__ import annotations

import bz2
import importlib
import zlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from filbert.errors import UserError
from filbert.nutch.data import CorruptDataError, DataInput, DataOutput, EndOfDataError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CODECS", "LIMIT", "Codec", "codec_of"]

LIMIT = 1 << 30
"""Most bytes that one packed value or block may unpack to."""

_PACKAGE = "org.apache.hadoop.io.compress."
_BUFFER = 256 * 1024
_BLOCK = _BUFFER - _BUFFER // 6 - 32
"""Plain bytes of a piece: packed, what cannot be packed still fits into Hadoop's buffer."""

_SLICE = 1024  # of a zstd stream: 4 bytes of it can stand for 128 KiB
_MOST_SNAPPY, _MOST_LZ4 = 64, 256  # plain bytes that one packed byte can stand for


class Codec(ABC):
    """One way to pack bytes.

    Attributes:
        name: What we call it.
        java: Hadoop's class.
    """

    name: str
    java: str

    @abstractmethod
    def compress(self, data: bytes) -> bytes:
        """Return bytes packed."""

    @abstractmethod
    def decompress(self, packed: bytes, limit: int = LIMIT) -> bytes:
        """Return what is packed.

        Raises:
            CorruptDataError: It is damaged, cut short, or more than `limit` bytes.
        """


class _Zlib(Codec):
    def __init__(self, name: str, java: str, wbits: int) -> None:
        self.name, self.java, self._wbits = name, _PACKAGE + java, wbits

    def compress(self, data: bytes) -> bytes:
        packer = zlib.compressobj(wbits=self._wbits)  # zlib.compress gives other bytes than Java
        return packer.compress(data) + packer.flush()

    def decompress(self, packed: bytes, limit: int = LIMIT) -> bytes:
        return _unpacked(lambda: zlib.decompressobj(self._wbits), packed, limit, zlib.error)


class _BZip2(Codec):
    name, java = "bzip2", _PACKAGE + "BZip2Codec"

    def compress(self, data: bytes) -> bytes:
        return bz2.compress(data)

    def decompress(self, packed: bytes, limit: int = LIMIT) -> bytes:
        return _unpacked(bz2.BZ2Decompressor, packed, limit, OSError)


def _unpacked(make: Callable[[], Any], packed: bytes, limit: int, error: type[Exception]) -> bytes:
    """Unpack one stream after the other, up to the limit."""
    pieces, left = [], limit
    while True:
        unpacker = make()
        try:
            piece = unpacker.decompress(packed, left + 1)
        except error as reason:
            raise _damaged(reason) from None
        left -= len(piece)
        if left < 0:
            raise _too_much(limit)
        if not unpacker.eof:
            raise EndOfDataError("packed bytes are cut short")
        pieces.append(piece)
        packed = unpacker.unused_data
        if not packed:
            return b"".join(pieces)


class _Zstandard(Codec):
    name, java = "zstd", _PACKAGE + "ZStandardCodec"

    def compress(self, data: bytes) -> bytes:
        packed: bytes = _library("zstandard", self.name).ZstdCompressor().compress(data)
        return packed

    def decompress(self, packed: bytes, limit: int = LIMIT) -> bytes:
        library = _library("zstandard", self.name)
        pieces, left, at = [], limit, 0
        while True:
            unpacker = library.ZstdDecompressor().decompressobj()
            while not unpacker.eof:
                if at >= len(packed):
                    raise EndOfDataError("packed bytes are cut short")
                try:
                    piece: bytes = unpacker.decompress(packed[at : at + _SLICE])
                except library.ZstdError as error:
                    raise _damaged(error) from None
                at = min(at + _SLICE, len(packed))
                left -= len(piece)
                if left < 0:
                    raise _too_much(limit)
                pieces.append(piece)
            at -= len(unpacker.unused_data)
            if at == len(packed):
                return b"".join(pieces)


class _Blocks(Codec):
    """Snappy and LZ4, in Hadoop's blocks."""

    def __init__(self, name: str, java: str) -> None:
        self.name, self.java = name, _PACKAGE + java

    def compress(self, data: bytes) -> bytes:
        out = DataOutput()
        for at in range(0, len(data), _BLOCK):
            plain = data[at : at + _BLOCK]
            packed = self._pack(plain)
            out.write_int(len(plain))
            out.write_int(len(packed))
            out.write_bytes(packed)
        return out.getvalue()

    def decompress(self, packed: bytes, limit: int = LIMIT) -> bytes:
        data, pieces, left = DataInput(packed), [], limit
        while data.left:
            wanted = data.read_int()
            if wanted > left:
                raise _too_much(limit)
            if wanted < 0:
                raise CorruptDataError(f"a block of {wanted} bytes cannot be")
            left -= wanted
            while wanted > 0:
                piece = self._unpack(data.read_bytes(data.read_int()), wanted)
                if not piece or len(piece) > wanted:
                    raise CorruptDataError("a block has not the length that it says")
                pieces.append(piece)
                wanted -= len(piece)
        return b"".join(pieces)

    def _pack(self, plain: bytes) -> bytes:
        library = _library("cramjam", self.name)
        if self.name == "snappy":
            return bytes(library.snappy.compress_raw(plain))
        return bytes(library.lz4.compress_block(plain, store_size=False))

    def _unpack(self, packed: bytes, most: int) -> bytes:
        library = _library("cramjam", self.name)
        try:
            if self.name == "snappy":
                claimed = library.snappy.decompress_raw_len(packed)
                if claimed > min(most, _MOST_SNAPPY * len(packed)):
                    raise CorruptDataError("a block has not the length that it says")
                return bytes(library.snappy.decompress_raw(packed))
            # How long a piece is, LZ4 does not say: often it is not the whole of its block.
            room = bytearray(min(most, _MOST_LZ4 * len(packed)))
            return bytes(room[: library.lz4.decompress_block_into(packed, room)])
        except library.DecompressionError as error:
            raise _damaged(error) from None


def _damaged(reason: Exception) -> CorruptDataError:
    return CorruptDataError(f"packed bytes are damaged: {reason}")


def _too_much(limit: int) -> CorruptDataError:
    return CorruptDataError(f"packed bytes unpack to more than {limit} bytes")


def _library(module: str, codec: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UserError(
            f"the codec {codec} needs the library {module}, which is not installed",
            hint="pip install 'filbert[hadoop-codecs]'",
        ) from None


_ALL: tuple[Codec, ...] = (
    _Zlib("default", "DefaultCodec", 15),
    _Zlib("deflate", "DeflateCodec", 15),
    _Zlib("gzip", "GzipCodec", 31),
    _BZip2(),
    _Zstandard(),
    _Blocks("snappy", "SnappyCodec"),
    _Blocks("lz4", "Lz4Codec"),
)
CODECS = {codec.name: codec for codec in _ALL}
"""Every codec by our name."""

_BY_JAVA = {codec.java: codec for codec in _ALL}


def codec_of(name: str) -> Codec:
    """Return a codec by our name or by Hadoop's class.

    Raises:
        UserError: There is none of that name.
    """
    found = CODECS.get(name) or _BY_JAVA.get(name)
    if found is None:
        raise UserError(f"the codec {name} is not known", hint=f"There are: {', '.join(CODECS)}.")
    return found
