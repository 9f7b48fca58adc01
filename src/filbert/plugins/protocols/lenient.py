"""A second way to ask: for the replies that libcurl refuses and browsers take.

A header without a colon, a junk Content-Length, `chunked` that is not, an odd HTTP version: libcurl
reads such a reply and gives nothing back. This plain HTTP/1 exchange, one connection a request,
keeps every byte. Guarantee: the same limits and the same address guard as the first way.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.plugins.protocols.guard import AddressGuard, Refusal
from filbert.plugins.protocols.heads import header_pairs, last_head, split_head, status_line
from filbert.plugins.protocols.reply import Received

if TYPE_CHECKING:
    from filbert.plugins.protocols.request import Target
    from filbert.plugins.protocols.transfer import Limits

__all__ = ["PlainClient", "dechunk"]

_READ = 65_536
_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[^\n]{0,4096}\n")
_BODILESS = frozenset({204, 304})


@dataclass(slots=True)
class _Buffer:
    data: bytearray
    most: int
    cut: str | None = None
    failure: str = ""
    words: str = ""

    def end(self, cut: str | None, failure: str, words: str) -> None:
        """Note why it ended early."""
        self.cut, self.failure, self.words = cut, failure, words


class PlainClient:
    """Asks the plain way.

    Args:
        guard: Judges each address.
        limits: Limits of each exchange. Half of the whole limit is used: the first way came before.
        verify: Refuse servers whose TLS certificate does not verify.
        ca_file: The certificates trusted; empty: the system's.
    """

    def __init__(
        self, guard: AddressGuard, limits: Limits, *, verify: bool, ca_file: str = ""
    ) -> None:
        self._guard = guard
        self._limits = limits
        self._verify = verify
        self._ca_file = ca_file or None
        self._made: ssl.SSLContext | None = None

    async def exchange(
        self, target: Target, request_head: bytes, connect_to: tuple[str, int], limit: int
    ) -> Received:
        """Ask once, on a connection of its own; read until the server closes or a limit."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        opened = self._guard.open_socket(*_family(connect_to), target.authority)
        if isinstance(opened, Refusal):
            return Received(failure=opened.reason, words=opened.words)
        buffer = _Buffer(bytearray(), limit + self._limits.head_bytes)
        sock = socket.socket(fileno=opened)
        try:
            sock.settimeout(0)
            async with asyncio.timeout(self._limits.total_ms / 2000 or None):
                await self._talk(sock, connect_to, target, request_head, buffer)
        except TimeoutError:
            buffer.end("time", "timeout", "the reply took too long")
        except ssl.SSLError as error:
            buffer.end(None, "tls_failed", str(error))
        except OSError as error:
            buffer.end("disconnect", "disconnected", str(error))
        finally:
            sock.close()
        return _received(buffer, connect_to[0], round((loop.time() - start) * 1000))

    async def _talk(
        self,
        sock: socket.socket,
        connect_to: tuple[str, int],
        target: Target,
        request_head: bytes,
        buffer: _Buffer,
    ) -> None:
        silence_s = self._limits.silence_ms / 1000
        is_tls = target.scheme == "https"
        async with asyncio.timeout(silence_s):
            await asyncio.get_running_loop().sock_connect(sock, connect_to)
            reader, writer = await asyncio.open_connection(
                sock=sock,
                ssl=self._context() if is_tls else None,
                server_hostname=target.host.strip("[]") if is_tls else None,
            )
        try:
            writer.write(request_head[:-2] + b"Connection: close\r\n\r\n")
            await _read(reader, buffer, silence_s)
        finally:
            writer.transport.abort()
            await asyncio.sleep(0)  # the transport lets go of the socket in the next turn

    def _context(self) -> ssl.SSLContext:
        if self._made is None:
            self._made = ssl.create_default_context(cafile=self._ca_file)
            if not self._verify:
                self._made.check_hostname = False
                self._made.verify_mode = ssl.CERT_NONE
        return self._made


def _family(connect_to: tuple[str, int]) -> tuple[int, int, int, tuple[str, int]]:
    family = socket.AF_INET6 if ":" in connect_to[0] else socket.AF_INET
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, connect_to


async def _read(reader: asyncio.StreamReader, buffer: _Buffer, silence_s: float) -> None:
    end: _End | None = None
    while len(buffer.data) < buffer.most:
        async with asyncio.timeout(silence_s):
            data = await reader.read(_READ)
        if not data:
            if end is not None and not end.may_lie_here(buffer.data):
                buffer.end("disconnect", "disconnected", "the reply broke off")
            return
        buffer.data += data
        end = end or _end_of(buffer.data)
        if end is not None and end.is_reached(buffer.data):
            return
    buffer.cut = "length"


@dataclass(frozen=True, slots=True)
class _End:
    """Where a reply ends, by what its head says honestly; if nowhere, with the connection."""

    length: int | None = None
    chunked: int | None = None  # where the chunks begin

    def may_lie_here(self, data: bytearray) -> bool:
        """Say whether a reply that the server closed may be whole."""
        if self.chunked is None:
            return self.length is None or len(data) >= self.length
        return _CHUNK.match(data, self.chunked) is None or _has_last_chunk(data, self.chunked)

    def is_reached(self, data: bytearray) -> bool:
        """Say whether the reply is whole, so that no more is waited for."""
        if self.chunked is not None:
            return data.endswith((b"0\r\n\r\n", b"0\n\n"))
        return self.length is not None and len(data) >= self.length


def _end_of(data: bytearray) -> _End | None:
    """Return where the reply ends; None while its head is not there."""
    parts = split_head(bytes(data))
    if parts is None:
        return None
    line = status_line(parts[0])
    if line is None or line.status < 200:
        return _End()
    if line.status in _BODILESS:
        return _End(length=len(parts[0]))
    names = {name.lower(): value for name, value in header_pairs(parts[0])}
    if "transfer-encoding" in names:
        return _End(chunked=len(parts[0]))
    length = names.get("content-length", "")
    if length.isascii() and length.isdigit():
        return _End(length=len(parts[0]) + int(length))
    return _End()


def _received(buffer: _Buffer, ip: str, ms: int) -> Received:
    data = bytes(buffer.data).lstrip(b"\r\n")
    head, body = b"", bytes(buffer.data)
    if status_line(data) is not None:
        head, body = _split_final(data)
    elif data[:5].upper() == b"HTTP/":
        return Received(failure="bad_reply", words="no status in the status line", ip=ip, ms=ms)
    pairs = header_pairs(head)
    names = {name.lower(): value for name, value in pairs}
    if "chunked" in names.get("transfer-encoding", "").lower():
        body = dechunk(body)
    elif len(told := {value for name, value in pairs if name.lower() == "content-length"}) > 1:
        buffer.end(None, "bad_reply", f"Content-Length is {' and '.join(sorted(told))}")
    line = status_line(head)
    if line is not None and line.status in _BODILESS:
        body = b""
    return Received(
        head=head,
        raw=body,
        failure=buffer.failure,
        words=buffer.words,
        cut=buffer.cut if head else None,
        ip=ip,
        ms=ms,
    )


def _split_final(data: bytes) -> tuple[bytes, bytes]:
    """Return the head of the final reply, and what follows it."""
    head, rest = split_head(data) or (data, b"")
    line = status_line(head)
    while line is not None and line.status < 200 and status_line(rest) is not None:
        head, rest = split_head(rest) or (rest, b"")
        line = status_line(head)
    return last_head(head), rest


def _has_last_chunk(data: bytearray, place: int) -> bool:
    """Say whether chunks that begin at a place end with the empty one."""
    while found := _CHUNK.match(data, place):
        size = int(found[1], 16)
        if size == 0:
            return True
        place = found.end() + size
        place += 2 if data.startswith(b"\r\n", place) else data.startswith(b"\n", place)
    return False


def dechunk(data: bytes) -> bytes:
    """Return a body without its chunks, up to the first thing that is none.

    What never was chunked is returned as it is.
    """
    body = bytearray()
    place = 0
    while found := _CHUNK.match(data, place):
        size = int(found[1], 16)
        if size == 0:
            return bytes(body)
        body += data[found.end() : found.end() + size]
        place = found.end() + size
        place += 2 if data.startswith(b"\r\n", place) else data.startswith(b"\n", place)
    return bytes(body) if body else data
