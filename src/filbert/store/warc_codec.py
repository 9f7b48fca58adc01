"""How WARC records are compressed: each one whole in one gzip member or zstd frame.

Guarantee: a reader can begin at any record; a torn record is found out.
Source: RFC 1951, RFC 1952, RFC 8878; docs/decisions/0004.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import zstandard
from isal import igzip_lib, isal_zlib

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Codec", "WarcOptions", "decompress"]

_ISAL_LEVELS = 3
_STORED_BLOCK = 0xFFFF
_BLOCK_HEAD = struct.Struct("<BHH")
_TRAILER = struct.Struct("<II")


@dataclass(frozen=True, slots=True, kw_only=True)
class WarcOptions:
    """How records are written.

    Attributes:
        format: gzip or zstd.
        level: Its level, 0 to 9.
        requests: Write a request record before each response.
    """

    format: Literal["gzip", "zstd"] = "gzip"
    level: int = 1
    requests: bool = False


class Codec:
    """Compresses one record at a time, in one go.

    `keep` is for a record whose payload is compressed already: at gzip levels 0 and 1 it makes a
    member of stored blocks, ten times as fast and 2 % larger than trying again.
    """

    def __init__(self, options: WarcOptions) -> None:
        self.suffix = ".warc.gz" if options.format == "gzip" else ".warc.zst"
        self.compress: Callable[[bytes], bytes]
        if options.format == "zstd":
            engine = zstandard.ZstdCompressor(level=max(1, options.level), write_checksum=True)
            self.compress = engine.compress
        elif options.level <= _ISAL_LEVELS:
            level = options.level
            self.compress = lambda plain: igzip_lib.compress(plain, level, igzip_lib.COMP_GZIP)
        else:
            level = options.level
            self.compress = lambda plain: zlib.compress(plain, level, 31)
        is_quick = options.format == "gzip" and options.level <= 1
        self.keep: Callable[[bytes], bytes] = _stored if is_quick else self.compress


def decompress(member: bytes) -> bytes:
    """Return the record in one gzip member or zstd frame, or a plain one; ValueError if torn."""
    try:
        if member.startswith(b"\x1f\x8b"):
            return bytes(igzip_lib.decompress(member, igzip_lib.DECOMP_GZIP))
        if member.startswith(b"\x28\xb5\x2f\xfd"):
            return zstandard.ZstdDecompressor().decompressobj().decompress(member)
    except (igzip_lib.error, zstandard.ZstdError, EOFError) as error:  # type: ignore[misc]
        raise ValueError(str(error)) from error
    return member


def _stored(plain: bytes) -> bytes:
    """Return a gzip member of stored blocks (RFC 1951 section 3.2.4, RFC 1952)."""
    parts = [b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"]
    for start in range(0, len(plain), _STORED_BLOCK):
        piece = plain[start : start + _STORED_BLOCK]
        is_last = start + _STORED_BLOCK >= len(plain)
        parts += (_BLOCK_HEAD.pack(is_last, len(piece), len(piece) ^ 0xFFFF), piece)
    parts.append(_TRAILER.pack(isal_zlib.crc32(plain), len(plain) & 0xFFFFFFFF))
    return b"".join(parts)
