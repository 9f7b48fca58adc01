"""A loopback server of ill will: each host name misbehaves in its own way.

`http://gzip-bomb.test/` is answered as `hostile_replies.REPLIES["gzip-bomb"]` says; hosts named in
`ROBOTS_REPLIES` misbehave when asked for robots.txt; `tls-…` hosts break TLS, `connect-…` hosts the
connection. Guarantee: `resolve` leads all the names here; every request is kept with its time.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Self

from filbert.testing.hostile_replies import REPLIES, ROBOTS_REPLIES, page, reset
from filbert.testing.nginx import make_certificates

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Awaitable, Callable
    from pathlib import Path

__all__ = ["CONNECTIONS", "TLS", "HostileServer"]

_NO_ROBOTS = page(b"", status=b"404 Not Found")
_STALL_S = 3_600.0
_ENDS = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError)
_GARBAGE = bytes(range(256)) * 40


class HostileServer:
    """A context manager that serves from a thread.

    Attributes:
        seen: Requests by host.
        times: When each request of a host began, seconds of the machine's steady clock.

    Args:
        folder: Where certificates are made.
    """

    def __init__(self, folder: Path) -> None:
        self.seen: Counter[str] = Counter()
        self.times: dict[str, list[float]] = {}
        self._folder = folder
        self._ports: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._listening = threading.Event()
        self._open: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="hostile-server", daemon=True)

    def __enter__(self) -> Self:
        """Listen; returns when requests can come."""
        make_certificates(self._folder, ("tls-wrong-name.example",))
        self._thread.start()
        self._listening.wait(10)
        return self

    def __exit__(self, *exc: object) -> None:
        """Close all connections, and stop."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def seeds(self) -> list[str]:
        """Return two URLs of each host: what follows a bad answer counts as well."""
        names = [*REPLIES, *ROBOTS_REPLIES, *CONNECTIONS]
        return [f"http://{name}.test/{path}" for name in names for path in ("a", "again")] + [
            f"https://{name}.test/{path}" for name in TLS for path in ("a", "again")
        ]

    def resolve(self) -> tuple[str, ...]:
        """Return the value of the setting `http.resolve` that leads here."""
        own = [f"{name}.test::127.0.0.1:{port}" for name, port in self._ports.items() if name]
        return (*own, f"*.test:80:127.0.0.1:{self._ports['']}")

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            for name, talk in {"": self._talk, **CONNECTIONS, **TLS}.items():
                context = self._context() if name in _WITH_TLS else None
                server = await asyncio.start_server(
                    self._kept(name, talk), "127.0.0.1", ssl=context
                )
                stack.callback(server.close)
                self._ports[name] = server.sockets[0].getsockname()[1]
            self._listening.set()
            await self._stop.wait()
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)

    def _kept(
        self, name: str, talk: Callable[[StreamReader, StreamWriter], Awaitable[None]]
    ) -> Callable[[StreamReader, StreamWriter], Awaitable[None]]:
        async def serve(reader: StreamReader, writer: StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._open.add(task)
            try:
                if name:
                    self._note(f"{name}.test")
                with contextlib.suppress(*_ENDS):
                    await talk(reader, writer)
            finally:
                writer.close()
                self._open.discard(task)

        return serve

    async def _talk(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer one request as its host does; then close."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        path = head.split(" ")[1]
        host = head.lower().partition("\r\nhost:")[2].partition("\r\n")[0].strip()
        self._note(host)
        name = host.removesuffix(".test")
        if name in ROBOTS_REPLIES and path not in {"/a", "/again"}:
            await ROBOTS_REPLIES[name](writer, path)
        elif path == "/robots.txt" or name not in REPLIES:
            writer.write(_NO_ROBOTS if path == "/robots.txt" else page())
            await writer.drain()
        else:
            await REPLIES[name](writer, path)

    def _note(self, host: str) -> None:
        self.seen[host] += 1
        self.times.setdefault(host, []).append(time.monotonic())

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / "server.pem", self._folder / "server.key")
        return context


async def _stall(_reader: StreamReader, _writer: StreamWriter) -> None:
    await asyncio.sleep(_STALL_S)


async def _reset(_reader: StreamReader, writer: StreamWriter) -> None:
    reset(writer)


async def _close(_reader: StreamReader, _writer: StreamWriter) -> None:
    """Close at once."""


async def _garbage(_reader: StreamReader, writer: StreamWriter) -> None:
    writer.write(_GARBAGE)
    await writer.drain()


async def _plain(reader: StreamReader, writer: StreamWriter) -> None:
    await reader.read(100)
    writer.write(page())
    await writer.drain()


async def _half(reader: StreamReader, writer: StreamWriter) -> None:
    """Answer the first message of TLS with the head of a record that never comes."""
    await reader.read(100)
    writer.write(b"\x16\x03\x03\x40\x00")
    await writer.drain()
    await asyncio.sleep(_STALL_S)


async def _whole(reader: StreamReader, writer: StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(page())
    await writer.drain()


CONNECTIONS = {
    "connect-reset": _reset,
    "connect-close": _close,
    "connect-silent": _stall,
    "connect-garbage": _garbage,
}
"""Hosts that break the connection, by name."""

TLS = {
    "tls-stalls": _stall,
    "tls-closes": _close,
    "tls-resets": _reset,
    "tls-garbage": _garbage,
    "tls-is-plain": _plain,
    "tls-half-a-record": _half,
    "tls-wrong-name": _whole,
}
"""Hosts that break TLS, by name."""

_WITH_TLS = frozenset({"tls-wrong-name"})
