"""Serves the synthetic web on loopback for real, and logs each request as the server saw it.

Guarantee: the log is the last word on politeness: a client library may repeat a request by itself
(libcurl does, when a reused connection dies), and only the server's side shows it. HTTP/1.1 with
keep-alive, one asyncio loop, in a thread of its own or, run as a program, in a process of its own:

    python -m filbert.testing.synthetic_server --hosts 50 --seed 7 --port 0 --log requests.jsonl

It prints one JSON line when it listens: the port, the seeds, and the setting `http.resolve` that
leads the names of the web to it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, TextIO

from filbert.model.clock import SystemClock
from filbert.testing.synthetic_web import SyntheticWeb, WebSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filbert.testing.synthetic_web import SyntheticReply

__all__ = ["Seen", "SyntheticServer", "main"]

_REASONS = {200: "OK", 301: "Moved Permanently", 302: "Found", 304: "Not Modified"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as the server saw it; times in epoch milliseconds."""

    start_ms: int
    end_ms: int
    host: str
    path: str
    status: int


class SyntheticServer:
    """A context manager that serves a web from a thread.

    Args:
        spec: The web. With `addresses`, it listens on one address per host, all on one port.
        port: Port to listen on; 0: any free one.
        log: File that gets one JSON line per request.
    """

    def __init__(self, spec: WebSpec, *, port: int = 0, log: Path | None = None) -> None:
        self.seen: list[Seen] = []
        self.port = port
        self.web = SyntheticWeb(spec)
        self._spec = spec
        self._log_path = log
        self._log: TextIO | None = None
        self._clock = SystemClock()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run, name="synthetic-web", daemon=True)

    def __enter__(self) -> Self:
        """Listen; returns when requests can come."""
        self._thread.start()
        self._listening.wait(10)
        return self

    def __exit__(self, *exc: object) -> None:
        """Stop listening and close the log."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def resolve(self) -> tuple[str, ...]:
        """Return the value of the setting `http.resolve` that leads to this server."""
        if self._spec.addresses:
            return ()
        port = self._spec.port
        return tuple(
            f"{self.web.host(number)}:{port}:127.0.0.1:{self.port}"
            for number in range(self._spec.hosts)
        )

    def join(self) -> None:
        """Wait until the server is stopped by another thread or a signal."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def _run(self) -> None:
        with self._open_log():
            self._loop.run_until_complete(self._serve())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    @contextlib.contextmanager
    def _open_log(self) -> Iterator[None]:
        if self._log_path is None:
            yield
            return
        with self._log_path.open("w", encoding="utf-8") as self._log:
            yield

    async def _serve(self) -> None:
        if self._spec.addresses:
            addresses = [self.web.host(number) for number in range(self._spec.hosts)]
        else:
            addresses = ["127.0.0.1"]
        first = await asyncio.start_server(self._connection, addresses[0], self.port, backlog=1024)
        self.port = first.sockets[0].getsockname()[1]
        servers = [first]
        if addresses[1:]:
            servers.append(await asyncio.start_server(self._connection, addresses[1:], self.port))
        if self._spec.addresses:
            self.web = SyntheticWeb(_with_port(self._spec, self.port))
        self._listening.set()
        await self._stop.wait()
        for server in servers:
            server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False when the connection is to be closed."""
        head = await reader.readuntil(b"\r\n\r\n")
        start = self._clock.now_ms()
        line, _, rest = head.decode("latin-1").partition("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (one.partition(":") for one in rest.split("\r\n") if one)
        }
        target = line.split(" ")[1]
        host = headers.get("host", "")
        reply = self.web.reply(f"http://{host}{target}", headers)
        if reply is not None and reply.delay_ms:
            await asyncio.sleep(reply.delay_ms / 1000)
        status = 421 if reply is None else reply.status
        close = headers.get("connection", "").lower() == "close"
        encoded = _encode(reply, close=close)
        # Noted before the first byte leaves: the client cannot have counted its delay from earlier.
        self._note(
            Seen(start_ms=start, end_ms=self._clock.now_ms(), host=host, path=target, status=status)
        )
        writer.write(encoded)
        await writer.drain()
        return not close

    def _note(self, seen: Seen) -> None:
        if self._log is None:
            self.seen.append(seen)
            return
        self._log.write(json.dumps(asdict(seen)) + "\n")
        self._log.flush()


def _with_port(spec: WebSpec, port: int) -> WebSpec:
    return WebSpec(**{**asdict(spec), "port": port})


def _encode(reply: SyntheticReply | None, *, close: bool) -> bytes:
    if reply is None:
        return b"HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\n\r\n"
    lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Synthetic')}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    if reply.status != 304:
        lines.append(f"Content-Length: {len(reply.body)}")
    lines.append(f"Connection: {'close' if close else 'keep-alive'}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + reply.body


_SPEC = ("hosts", "pages", "seed", "addresses", "slow_ms", "crawl_delay_s")


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted; return the exit code."""
    parser = argparse.ArgumentParser(prog="synthetic_server", description=__doc__)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--addresses", action="store_true", help="hosts are 127.0.1.x, not names")
    parser.add_argument("--plain", action="store_true", help="ordinary pages only")
    parser.add_argument("--slow-ms", type=int, default=2_000, help="how long a slow page takes")
    parser.add_argument("--crawl-delay", type=float, default=2.0, dest="crawl_delay_s")
    parser.add_argument("--log", type=Path, default=None)
    chosen = parser.parse_args(arguments)
    common = {name: getattr(chosen, name) for name in _SPEC}
    spec = WebSpec.plain(**common) if chosen.plain else WebSpec(**common)
    with (
        contextlib.suppress(KeyboardInterrupt),
        SyntheticServer(spec, port=chosen.port, log=chosen.log) as server,
    ):
        known = {"port": server.port, "seeds": server.web.seeds(), "http.resolve": server.resolve()}
        print(json.dumps(known), flush=True)
        server.join()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
