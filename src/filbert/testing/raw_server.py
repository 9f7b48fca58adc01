"""A loopback server that says exactly what a test tells it to.

Guarantee: raw bytes, or whatever a coroutine writes; nothing is added, and every request is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["RawServer", "Reply", "raw_server"]

Reply = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]
"""What is said to a request: bytes, or a coroutine that writes."""


@dataclass
class RawServer:
    """A server on a loopback port, and the requests that it saw."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """URL of its root."""
        return f"http://127.0.0.1:{self.port}/"


@contextlib.asynccontextmanager
async def raw_server(
    reply: Reply,
    *,
    keep_alive: bool = False,
    host: str = "127.0.0.1",
) -> AsyncIterator[RawServer]:
    """Serve raw bytes, or whatever a coroutine writes, to each request; then close."""
    seen = RawServer(0)
    open_ones: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_ones.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await _converse(seen, reply, reader, writer, keep_alive=keep_alive)
        finally:
            with contextlib.suppress(OSError):
                writer.close()
                await writer.wait_closed()
            open_ones.discard(task)

    server = await asyncio.start_server(serve, host, 0)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()
        left = list(open_ones)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
        await server.wait_closed()


async def _converse(
    seen: RawServer,
    reply: Reply,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    keep_alive: bool,
) -> None:
    while True:
        seen.requests.append(await reader.readuntil(b"\r\n\r\n"))
        seen.asked.set()
        if isinstance(reply, bytes):
            writer.write(reply)
            await writer.drain()
        else:
            await reply(writer)
        if not keep_alive:
            return
