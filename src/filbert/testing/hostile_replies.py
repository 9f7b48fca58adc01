"""What hostile servers say over plain HTTP: one small coroutine each, by name.

Guarantee: each is bounded by the connection alone: it goes on until the client closes, so that only
the client's own limits end it. Sources: RFC 9110 and 9112 read with ill will; the cases that users
of crawlers report.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import zlib
from typing import TYPE_CHECKING

import brotli
import zstandard

if TYPE_CHECKING:
    from asyncio import StreamWriter
    from collections.abc import Awaitable, Callable

    Say = Callable[[StreamWriter, str], Awaitable[None]]

__all__ = ["REPLIES", "ROBOTS_REPLIES", "page", "reset"]

_PAUSE_S = 0.05
_FOREVER_S = 3_600.0
_BOMB = 16 << 20
_HTML = b"<!doctype html><title>hostile</title><p>hazelnut</p>"


def page(
    body: bytes = _HTML, headers: bytes = b"", status: bytes = b"200 OK", length: object = None
) -> bytes:
    """Return a whole reply; `length` takes the place of the true Content-Length."""
    told = len(body) if length is None else length
    head = (
        b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nConnection: close\r\n%sContent-Length: %s\r\n"
    )
    return head % (status, headers, str(told).encode()) + b"\r\n" + body


def reset(writer: StreamWriter) -> None:
    """Send a TCP reset instead of an end."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _bytes(reply: bytes) -> Say:
    async def say(writer: StreamWriter, _path: str) -> None:
        writer.write(reply)
        await writer.drain()

    return say


def _forever(first: bytes, again: bytes, pause_s: float = 0.0) -> Say:
    async def say(writer: StreamWriter, _path: str) -> None:
        writer.write(first)
        while True:
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return say


def _then_reset(reply: bytes) -> Say:
    async def say(writer: StreamWriter, _path: str) -> None:
        writer.write(reply)
        await writer.drain()
        await asyncio.sleep(_PAUSE_S)
        reset(writer)

    return say


def _silent(first: bytes = b"") -> Say:
    async def say(writer: StreamWriter, _path: str) -> None:
        writer.write(first)
        await writer.drain()
        await asyncio.sleep(_FOREVER_S)

    return say


async def _close(_writer: StreamWriter, _path: str) -> None:
    """Say nothing, and close."""


def _redirect(target: Callable[[str], bytes], status: bytes = b"302 Found") -> Say:
    async def say(writer: StreamWriter, path: str) -> None:
        writer.write(page(b"", b"Location: %s\r\n" % target(path), status))
        await writer.drain()

    return say


def _further(path: str) -> bytes:
    number = int(path.removeprefix("/hop")) if path[4:].isdigit() else 0
    return b"/hop%d" % (number + 1)


def _zstd_bomb() -> bytes:
    return zstandard.ZstdCompressor().compress(bytes(_BOMB))


def _nested(times: int) -> bytes:
    body = _HTML
    for _ in range(times):
        body = gzip.compress(body, mtime=0)
    return page(body, b"Content-Encoding: %s\r\n" % b", ".join([b"gzip"] * times))


def _coded(coding: bytes, body: bytes) -> bytes:
    return page(body, b"Content-Encoding: %s\r\n" % coding)


_OK = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"

REPLIES: dict[str, Say] = {
    # slow, silent, endless
    "drip-head": _forever(_OK, b"X-Drip: 1\r\n", _PAUSE_S),
    "drip-body": _forever(_OK + b"Content-Type: text/html\r\n\r\n", b"x", _PAUSE_S),
    "silent": _silent(),
    "silent-after-status": _silent(_OK),
    "silent-in-body": _silent(_OK + b"Content-Length: 99\r\n\r\nhalf"),
    "endless-body": _forever(_OK + b"\r\n", b"y" * 65_536),
    "endless-head": _forever(_OK, b"X-Long: " + b"b" * 4_000 + b"\r\n"),
    "endless-header-line": _forever(_OK + b"X-Long: ", b"b" * 65_536),
    "endless-status-line": _forever(b"HTTP/1.1 200 ", b"O" * 65_536),
    "endless-chunks": _forever(_CHUNKED, b"1000\r\n" + b"z" * 4_096 + b"\r\n"),
    "flood-of-1xx": _forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "flood-of-trailers": _forever(_CHUNKED + b"1\r\nx\r\n0\r\n", b"X-T: " + b"t" * 999 + b"\r\n"),
    # bombs
    "gzip-bomb": _bytes(_coded(b"gzip", gzip.compress(bytes(_BOMB), mtime=0))),
    "deflate-bomb": _bytes(_coded(b"deflate", zlib.compress(bytes(_BOMB)))),
    "brotli-bomb": _bytes(_coded(b"br", brotli.compress(bytes(_BOMB), quality=1))),
    "zstd-bomb": _bytes(_coded(b"zstd", _zstd_bomb())),
    "nested-codings": _bytes(_nested(3)),
    "thirty-codings": _bytes(_nested(30)),
    "coding-lies": _bytes(_coded(b"gzip", _HTML)),
    "coding-unknown": _bytes(_coded(b"x-nut", _HTML)),
    "coding-broken": _bytes(_coded(b"gzip", gzip.compress(_HTML * 99, mtime=0)[:60])),
    # redirects
    "redirect-to-itself": _redirect(lambda path: path.encode()),
    "redirect-in-a-circle": _redirect(lambda path: b"/b" if path == "/a" else b"/a"),
    "redirect-without-end": _redirect(_further, b"301 Moved Permanently"),
    "redirect-blank": _redirect(lambda _: b"  "),
    "redirect-to-script": _redirect(lambda _: b"javascript:alert(1)"),
    "redirect-to-file": _redirect(lambda _: b"file:///etc/passwd"),
    "redirect-to-metadata": _redirect(lambda _: b"http://169.254.169.254/latest/meta-data/"),
    "redirect-to-decimal": _redirect(lambda _: b"http://2130706433/"),
    "redirect-huge": _redirect(lambda _: b"/" + b"a" * 100_000),
    "redirect-garbage": _redirect(lambda _: b"http://[::zz]:99999/\xff\xfe"),
    # lengths and chunks
    "length-too-long": _bytes(page(length=9_999)),
    "length-too-short": _bytes(page(length=9)),
    "length-negative": _bytes(page(length=-1)),
    "length-twice": _bytes(page(headers=b"Content-Length: 3\r\n")),
    "length-huge": _bytes(page(length=10**30)),
    "chunk-size-bad": _bytes(_CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n"),
    "chunk-size-huge": _bytes(_CHUNKED + b"f" * 40 + b"\r\nhello"),
    "chunk-end-missing": _bytes(_CHUNKED + b"5\r\nhello\r\n"),
    "chunk-extension-huge": _bytes(_CHUNKED + b"5;" + b"e" * 99_999 + b"\r\nhello\r\n0\r\n\r\n"),
    # ends where none should be
    "close-at-once": _close,
    "close-kept-connections": _bytes(page().replace(b"Connection: close\r\n", b"")),
    "reset-after-request": _then_reset(b""),
    "reset-after-status": _then_reset(_OK),
    "reset-in-head": _then_reset(_OK + b"Content-Ty"),
    "reset-in-body": _then_reset(page(length=999)),
    # heads that are none, or odd
    "status-garbage": _bytes(b"\x00\xff\xfe nonsense\r\n\r\n" + _HTML),
    "status-without-number": _bytes(b"HTTP/1.1 OK\r\n\r\n" + _HTML),
    "status-999": _bytes(page(status=b"999 Odd")),
    "http-0.9": _bytes(_HTML),
    "http-9.9": _bytes(b"HTTP/9.9 200 OK\r\n\r\n" + _HTML),
    "switching-protocols": _bytes(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: nut\r\n\r\n"),
    "no-content-with-body": _bytes(page(status=b"204 No Content")),
    "not-modified-unasked": _bytes(page(status=b"304 Not Modified")),
    "header-huge": _bytes(page(headers=b"X-Huge: " + b"h" * 100_000 + b"\r\n")),
    "header-binary": _bytes(page(headers=b"X-Bin: \x80\xff\x01\x7f\r\n\xfe\xff: y\r\n")),
    "header-nul": _bytes(page(headers=b"X-Nul: a\x00b\r\n")),
    "header-without-colon": _bytes(page(headers=b"nonsense here\r\n")),
    "header-folded": _bytes(page(headers=b"X-Fold: a\r\n\tb\r\n")),
    "headers-ten-thousand": _bytes(page(headers=b"X-Many: 1\r\n" * 10_000)),
    "cookies-without-end": _bytes(page(headers=b"Set-Cookie: a=b\r\n" * 3_000)),
    # answers of ill will
    "retry-after-years": _bytes(page(headers=b"Retry-After: 999999999\r\n", status=b"503 No")),
    "retry-after-garbage": _bytes(page(headers=b"Retry-After: soon\r\n", status=b"429 Slow")),
    "always-429": _bytes(page(status=b"429 Too Many Requests")),
    "unauthorized-huge": _bytes(page(b"n" * (4 << 20), status=b"401 Unauthorized")),
    "type-lies": _bytes(page(b"\x89PNG\r\n\x1a\n" + bytes(999))),
    "charset-lies": _bytes(page(b"\xff\xfe" + "<p>hazelnut".encode("utf-16-le"))),
    "nested-deeply": _bytes(page(b"<div>" * 100_000 + b"hazelnut")),
    "attributes-without-end": _bytes(page(b"<p " + b"a=1 " * 50_000 + b">hazelnut")),
}
"""What is said to a request for a page, by the name of the behaviour."""

ROBOTS_REPLIES: dict[str, Say] = {
    "robots-silent": _silent(),
    "robots-drips": _forever(_OK + b"Content-Type: text/plain\r\n\r\n", b"#", _PAUSE_S),
    "robots-endless": _forever(_OK + b"\r\n", b"Disallow: /x\n" * 4_000),
    "robots-resets": _then_reset(_OK + b"\r\nUser-agent: *\n"),
    "robots-503": _bytes(page(status=b"503 Service Unavailable")),
    "robots-in-a-circle": _redirect(lambda path: b"/a.txt" if "robots" in path else b"/robots.txt"),
    "robots-binary": _bytes(page(bytes(range(256)) * 999)),
    "robots-bomb": _bytes(_coded(b"gzip", gzip.compress(b"\n" * _BOMB, mtime=0))),
    "robots-wildcards": _bytes(page(b"User-agent: *\nDisallow: /" + b"*a" * 2_000 + b"$\n")),
    "robots-closes": _close,
}
"""What is said to a request for robots.txt by hosts whose pages are ordinary."""
