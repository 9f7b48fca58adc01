"""Frees a body from its content coding, within a limit, whatever state the bytes are in.

Guarantee: never raises and never makes more than `limit` bytes; what could be decoded before an
error is kept. Bytes that are not coded as claimed are the body as they stand, as browsers hold it.
Codings: gzip and x-gzip (RFC 1952, several members), deflate (RFC 1950, or raw RFC 1951), br
(RFC 7932), zstd (RFC 8878); several in a row; an unknown one is kept as it is.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import brotli
import zstandard
from isal import isal_zlib

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ACCEPT_ENCODING", "Decoded", "codings_of", "decode"]

ACCEPT_ENCODING = "gzip, deflate, br, zstd"

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WBITS = 31
_ZLIB_WBITS = 15
_RAW_WBITS = -15
# Small enough that an error loses little, large enough to be quick.
_SALVAGE_STEP = 64
_STREAM_STEP = 65_536
# RFC 8878 asks decoders for 8 MB; some servers use the 128 MB of `zstd --ultra`, none may use more.
_ZSTD_WINDOW = 128 << 20
_MOST_CODINGS = 5


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body without its coding.

    Attributes:
        body: The bytes.
        clean: The coded bytes were whole and had nothing behind them, so that any reader gets
            the same body from them.
        cut: The limit cut it.
        ended: The coding's end mark was seen (always true of a body that was not coded).
    """

    body: bytes
    clean: bool = True
    cut: bool = False
    ended: bool = True


def codings_of(header: str | None) -> tuple[str, ...]:
    """Return the codings that a Content-Encoding header names, outermost last."""
    if not header:
        return ()
    names = (name.strip().lower() for name in header.split(","))
    return tuple(name for name in names if name not in {"", "identity", "none"})


def decode(raw: bytes, codings: tuple[str, ...], limit: int) -> Decoded:
    """Undo `codings` (as `codings_of` gives them); at most `limit` bytes come out."""
    done = Decoded(raw)
    for name in reversed(codings[-_MOST_CODINGS:]):
        step = _DECODERS.get(name)
        if step is None or not done.body:
            return replace(_limited(done.body, limit), clean=False, ended=done.ended)
        one = step(done.body, limit)
        done = Decoded(
            one.body,
            clean=done.clean and one.clean,
            cut=done.cut or one.cut,
            ended=done.ended and one.ended,
        )
    return done if len(done.body) <= limit else _limited(done.body, limit)


def _limited(body: bytes | bytearray, limit: int, *, ended: bool = True) -> Decoded:
    """Return what the limit leaves of a body that is not to be decoded again."""
    cut = len(body) > limit
    return Decoded(bytes(body[:limit]), clean=False, cut=cut, ended=ended)


def _gzip(raw: bytes, limit: int) -> Decoded:
    if not raw.startswith(_GZIP_MAGIC):
        return Decoded(raw, clean=False)
    body = b""
    rest = raw
    while rest.startswith(_GZIP_MAGIC):
        one, rest = _inflate(rest, _GZIP_WBITS, limit - len(body))
        body = body + one.body if body else one.body
        if not one.clean:
            return replace(one, body=body)
    return Decoded(body, clean=not rest)


def _deflate(raw: bytes, limit: int) -> Decoded:
    if raw.startswith(_GZIP_MAGIC):
        return _gzip(raw, limit)
    one, rest = _inflate(raw, _ZLIB_WBITS, limit)
    if one.body:
        return replace(one, clean=one.clean and not rest)
    one, _ = _inflate(raw, _RAW_WBITS, limit)
    # Readers of archives expect RFC 1950: a raw stream is not clean.
    return replace(one, clean=False) if one.body else Decoded(raw, clean=False)


def _inflate(raw: bytes, wbits: int, limit: int) -> tuple[Decoded, bytes]:
    """Return one stream's body, and what lies behind the stream."""
    engine = isal_zlib.decompressobj(wbits)
    try:
        body: bytes = engine.decompress(raw, limit + 1)
    except (isal_zlib.error, ValueError):  # type: ignore[misc]  # the stub calls it a value
        return _salvage(raw, wbits, limit), b""
    if len(body) > limit:
        return _limited(body, limit, ended=False), b""
    if not engine.eof:
        return Decoded(body, clean=False, ended=False), b""
    return Decoded(body), engine.unused_data


def _salvage(raw: bytes, wbits: int, limit: int) -> Decoded:
    """Inflate piece by piece up to the error: one call would lose all that came before it."""
    engine = zlib.decompressobj(wbits)
    body = bytearray()
    view = memoryview(raw)
    try:
        for start in range(0, len(raw), _SALVAGE_STEP):
            body += engine.decompress(view[start : start + _SALVAGE_STEP], limit + 1 - len(body))
            if engine.eof or len(body) > limit:
                break
    except zlib.error:
        pass
    return _limited(body, limit, ended=engine.eof)


def _brotli(raw: bytes, limit: int) -> Decoded:
    engine = brotli.Decompressor()
    body = bytearray()
    feed = raw
    try:
        while len(body) <= limit and not engine.is_finished():
            piece = engine.process(feed, output_buffer_limit=limit + 1 - len(body))
            body += piece
            if not piece and engine.can_accept_more_data():
                break
            feed = b""
    except brotli.error:
        return _limited(body or raw, limit, ended=False)
    # RFC 7932 has no magic: readers that lack the codec would show noise, so never "clean".
    return _limited(body, limit, ended=engine.is_finished())


def _zstd(raw: bytes, limit: int) -> Decoded:
    engine = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    body = bytearray()
    try:
        with engine.stream_reader(raw, read_across_frames=True) as reader:
            while len(body) <= limit:
                piece = reader.read(min(_STREAM_STEP, limit + 1 - len(body)))
                if not piece:
                    break
                body += piece
        ended = len(body) <= limit and _zstd_ends(raw, len(body))
    except zstandard.ZstdError:
        return _limited(body or raw, limit, ended=False)
    # Few readers of archives know zstd inside HTTP, so never "clean".
    return _limited(body, limit, ended=ended)


def _zstd_ends(raw: bytes, length: int) -> bool:
    """Tell whether a stream that gave `length` bytes has its end: the reader does not say."""
    if zstandard.get_frame_parameters(raw).content_size == length:
        return True
    # Bounded: the whole stream is known to give no more than `length` bytes.
    engine = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
    engine.decompress(raw)
    return engine.eof


_DECODERS: dict[str, Callable[[bytes, int], Decoded]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
