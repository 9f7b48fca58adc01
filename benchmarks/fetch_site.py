"""A local web to fetch from: many loopback hosts, pages of 5 to 60 KB, gzip on the wire.

Guarantee: pages are a pure function of their number, and every client sees the same ones. nginx
serves them if it is installed; else a small asyncio server in a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DISTINCT_PAGES = 500
ROBOTS = b"User-agent: *\nDisallow: /private/\nDisallow: /*?session=\nAllow: /\n"
_WORDS = (
    *("archive", "crawler", "index", "page", "host", "link", "anchor", "score", "round"),
    *("segment", "queue", "politeness", "delay", "capture", "journal", "record", "server"),
    *("answer", "header", "body", "parse", "text", "outlink", "filter", "normal", "form"),
)
_NGINX = """
daemon off; {user} worker_processes 1; pid {root}/nginx.pid; error_log {root}/error.log crit;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000; keepalive_timeout 300s; default_type text/html;
  client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3;
  uwsgi_temp_path {root}/t4; scgi_temp_path {root}/t5;
  server {{
    listen 0.0.0.0:{port} backlog=4096; root {root}/pages; gzip_static always; gunzip on;
    location = /robots.txt {{ gzip_static off; default_type text/plain; }}
  }}
}}
"""


def page_body(number: int) -> bytes:
    """Return the HTML of a page."""
    rng = random.Random(number)
    size = 5_000 + rng.randrange(55_000)
    parts = [f"<html><head><title>Page {number}</title></head><body>"]
    length = 0
    while length < size:
        words = " ".join(rng.choices(_WORDS, k=12))
        part = (
            f'<p id="{rng.randrange(10**9)}">{words} <a href="/p{rng.randrange(500)}">x</a></p>\n'
        )
        parts.append(part)
        length += len(part)
    return ("".join(parts) + "</body></html>").encode()


def page_urls(hosts: int, pages: int, port: int) -> list[str]:
    """Return `pages` URLs, spread over `hosts` loopback addresses, hosts in turn."""
    if pages > hosts * DISTINCT_PAGES:
        raise SystemExit(f"a host has {DISTINCT_PAGES} pages: ask for more --hosts")
    return [
        f"http://127.0.{1 + (n % hosts) // 250}.{1 + (n % hosts) % 250}:{port}/p{n // hosts}.html"
        for n in range(pages)
    ]


@contextlib.contextmanager
def serve(root: Path, *, use_nginx: bool | None = None) -> Iterator[tuple[int, str]]:
    """Serve the pages from another process; yield the port and the server's name."""
    pages = root / "pages"
    pages.mkdir(parents=True)
    for number in range(DISTINCT_PAGES):
        (pages / f"p{number}.html.gz").write_bytes(gzip.compress(page_body(number), mtime=0))
    (pages / "robots.txt").write_bytes(ROBOTS)
    port = _free_port()
    nginx = shutil.which("nginx") if use_nginx in {None, True} else None
    if nginx:
        config = root / "nginx.conf"
        config.write_text(
            _NGINX.format(root=root, port=port, user="user root;" if os.geteuid() == 0 else "")
        )
        command = [nginx, "-c", str(config), "-p", str(root)]
    else:
        command = [sys.executable, "-m", "benchmarks.fetch_site", str(pages), str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield port, "nginx" if nginx else "asyncio"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("0.0.0.0", 0))
        port: int = sock.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise SystemExit("the local server did not start")


class _Pages(asyncio.Protocol):
    """Answers GET from memory; keep-alive; gzip always."""

    def __init__(self, replies: dict[bytes, bytes]) -> None:
        self._replies = replies
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].partition(b"?")[0]
            missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
            assert self._transport is not None
            self._transport.write(self._replies.get(path, missing))


def _reply(path: Path) -> bytes:
    body = path.read_bytes()
    kind, coding = "text/plain", ""
    if path.suffix == ".gz":
        kind, coding = "text/html", "Content-Encoding: gzip\r\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{coding}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _replies(pages: Path) -> dict[bytes, bytes]:
    return {f"/{path.name.removesuffix('.gz')}".encode(): _reply(path) for path in pages.iterdir()}


async def _run(replies: dict[bytes, bytes], port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Pages(replies), "0.0.0.0", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    asyncio.run(_run(_replies(Path(sys.argv[1])), int(sys.argv[2])))
