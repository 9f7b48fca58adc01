"""Hadoop's compression codecs: from packed bytes to bytes, and back.

Guarantee: unpacking stops at a limit, so that a few bytes cannot fill the memory; damaged bytes are
a `CorruptDataError`. What needs a library that is not installed is a `UserError` that names it.
Source: Hadoop `io.compress`: `DefaultCodec` and `DeflateCodec` are zlib streams; Snappy and LZ4 lie
in blocks: int of the plain length, then int of length and bytes of each packed piece.
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
_BLOCK = 256 * 1024


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
    def decompress(self, packed: bytes) -> bytes:
        """Return what is packed.

        Raises:
            CorruptDataError: It is damaged, cut short, or more than `LIMIT`.
        """


class _Zlib(Codec):
    def __init__(self, name: str, java: str, wbits: int) -> None:
        self.name, self.java, self._wbits = name, _PACKAGE + java, wbits

    def compress(self, data: bytes) -> bytes:
        packer = zlib.compressobj(wbits=self._wbits)
        return packer.compress(data) + packer.flush()

    def decompress(self, packed: bytes) -> bytes:
        return _unpacked(lambda: zlib.decompressobj(wbits=self._wbits), packed, zlib.error)


class _BZip2(Codec):
    name, java = "bzip2", _PACKAGE + "BZip2Codec"

    def compress(self, data: bytes) -> bytes:
        return bz2.compress(data)

    def decompress(self, packed: bytes) -> bytes:
        return _unpacked(bz2.BZ2Decompressor, packed, OSError)


def _unpacked(make: Callable[[], Any], packed: bytes, error: type[Exception]) -> bytes:
    """Unpack one stream after the other, up to the limit."""
    pieces, left = [], LIMIT
    while True:
        unpacker = make()
        try:
            piece = unpacker.decompress(packed, left + 1)
        except error as reason:
            raise CorruptDataError(f"packed bytes are damaged: {reason}") from None
        left -= len(piece)
        if left < 0:
            raise CorruptDataError(f"packed bytes unpack to more than {LIMIT} bytes")
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

    def decompress(self, packed: bytes) -> bytes:
        library = _library("zstandard", self.name)
        try:
            with library.ZstdDecompressor().stream_reader(
                packed, read_across_frames=True
            ) as reader:
                plain: bytes = reader.read(LIMIT + 1)
        except library.ZstdError as error:
            raise CorruptDataError(f"packed bytes are damaged: {error}") from None
        if len(plain) > LIMIT:
            raise CorruptDataError(f"packed bytes unpack to more than {LIMIT} bytes")
        return plain


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

    def decompress(self, packed: bytes) -> bytes:
        data, pieces, left = DataInput(packed), [], LIMIT
        while data.left:
            wanted = data.read_int()
            if not 0 <= wanted <= left:
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
                if library.snappy.decompress_raw_len(packed) > most:
                    raise CorruptDataError("a block has not the length that it says")
                return bytes(library.snappy.decompress_raw(packed))
            return bytes(library.lz4.decompress_block(packed, output_len=most))
        except library.DecompressionError as error:
            raise CorruptDataError(f"packed bytes are damaged: {error}") from None


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
