"""A loopback FTP server that behaves as a test tells it to, well or badly.

Guarantee: serves a tree of bytes over passive connections; each command that it saw is kept, in
order; a test can have it say anything to any command, or nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

__all__ = ["RawFtpServer", "raw_ftp_server"]

SILENCE = b""
"""Said to a command: nothing, for ever."""


@dataclass
class RawFtpServer:
    """A server on a loopback port.

    Attributes:
        tree: Path → file; folders are what paths have before their slashes.
        port: Where it listens.
        says: Command → what is said to it instead of doing it; `GREETING` is none's.
        dates: Path → what MDTM says (`20260309120100`).
        passive: The address that PASV gives, if not its own: `10,0,0,1,1,1`.
        stalls: A retrieval sends half of the file and then nothing.
        commands: What was said to it.
    """

    tree: Mapping[str, bytes]
    port: int = 0
    says: Mapping[str, bytes] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)
    passive: str = ""
    stalls: bool = False
    commands: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """URL of its root."""
        return f"ftp://127.0.0.1:{self.port}/"

    def listing(self, folder: str) -> bytes:
        """Return a folder in the words of `ls -l`."""
        base = folder.rstrip("/") + "/"
        found: dict[str, str] = {}
        for path, body in self.tree.items():
            name, slash, _ = path.removeprefix(base).partition("/")
            if path.startswith(base) and name:
                kind, size = ("d", 4096) if slash else ("-", len(body))
                found[name] = f"{kind}rw-r--r--    1 ftp      ftp  {size:>10} Mar 09  2025 {name}"
        return "".join(f"{line}\r\n" for line in found.values()).encode()

    def has_folder(self, path: str) -> bool:
        """Say whether there is anything below a path."""
        base = path.rstrip("/") + "/"
        return base == "/" or any(one.startswith(base) for one in self.tree)


@contextlib.asynccontextmanager
async def raw_ftp_server(server: RawFtpServer) -> AsyncIterator[RawFtpServer]:
    """Have a server listen on a loopback port of its own."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await _Session(server, reader, writer).run()
        finally:
            writer.close()
            tasks.discard(task)

    listener = await asyncio.start_server(serve, "127.0.0.1", server.port)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        left = list(tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
        await listener.wait_closed()


class _Session:
    """One control connection."""

    def __init__(
        self, server: RawFtpServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._folder = "/"
        self._data: asyncio.Server | None = None
        self._opened: list[asyncio.StreamWriter] = []
        self._peer: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()

    async def run(self) -> None:
        try:
            await self._say(self._server.says.get("GREETING", b"220 at your service\r\n"))
            while line := await self._reader.readline():
                said = line.decode("latin-1").strip()
                self._server.commands.append(said)
                verb, _, argument = said.partition(" ")
                if verb.upper() == "QUIT":
                    await self._say(b"221 bye\r\n")
                    return
                await self._do(verb.upper(), argument)
        finally:
            for writer in self._opened:
                writer.transport.abort()
            if self._data is not None:
                self._data.close()

    async def _say(self, words: bytes) -> None:
        if words == SILENCE:
            await asyncio.Event().wait()
        self._writer.write(words)
        await self._writer.drain()

    async def _do(self, verb: str, argument: str) -> None:
        words = self._server.says.get(verb)
        if words is not None:
            await self._say(words)
        elif verb in {"EPSV", "PASV"}:
            await self._listen(verb)
        elif verb in {"LIST", "RETR"}:
            await self._send(verb, argument)
        else:
            await self._say(self._answer(verb, argument).encode() + b"\r\n")

    def _answer(self, verb: str, argument: str) -> str:
        server, path = self._server, self._path(argument)
        if verb == "CWD":
            if not server.has_folder(path):
                return "550 Failed to change directory."
            self._folder = path
            return "250 there"
        if verb == "MDTM" and (path in server.dates or path in server.tree):
            return f"213 {server.dates.get(path, '20250309120100')}"
        if verb == "SIZE" and path in server.tree:
            return f"213 {len(server.tree[path])}"
        answers = {"USER": "331 who else", "PASS": "230 in", "PWD": '257 "/"', "TYPE": "200 yes"}
        return answers.get(verb, "550 no such thing")

    def _path(self, argument: str) -> str:
        return argument if argument.startswith("/") else f"{self._folder.rstrip('/')}/{argument}"

    async def _listen(self, verb: str) -> None:
        # A connection to an earlier port, opened and never used, is not this one's.
        peer = self._peer = asyncio.Queue()

        def keep(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._opened.append(writer)
            peer.put_nowait(writer)

        if self._data is not None:
            self._data.close()
        self._data = await asyncio.start_server(keep, "127.0.0.1", 0)
        port = self._data.sockets[0].getsockname()[1]
        if verb == "EPSV":
            await self._say(b"229 go (|||%d|)\r\n" % port)
        else:
            where = self._server.passive or f"127,0,0,1,{port >> 8},{port & 255}"
            await self._say(f"227 go ({where})\r\n".encode())

    async def _send(self, verb: str, argument: str) -> None:
        server, path = self._server, self._path(argument)
        if verb == "RETR" and path not in server.tree:
            await self._say(b"550 Failed to open file.\r\n")
            return
        body = server.listing(self._folder) if verb == "LIST" else server.tree[path]
        await self._say(b"150 here it comes\r\n")
        writer = await self._peer.get()
        if server.stalls:
            writer.write(body[: len(body) // 2])
            await asyncio.Event().wait()
        writer.write(body)
        with contextlib.suppress(OSError):
            await writer.drain()
            writer.close()
            await self._say(b"226 done\r\n")
