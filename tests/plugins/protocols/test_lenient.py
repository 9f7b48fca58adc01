"""The plain exchange: for what libcurl refuses, with the same limits and the same guard."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from filbert.plugins.protocols.guard import AddressGuard
from filbert.plugins.protocols.lenient import PlainClient, dechunk
from filbert.plugins.protocols.request import Target
from filbert.plugins.protocols.transfer import Limits
from filbert.rules.addresses import parse_rules
from filbert.testing.raw_server import raw_server

if TYPE_CHECKING:
    from filbert.plugins.protocols.reply import Received
    from filbert.testing.raw_server import Reply

LIMITS = Limits(silence_ms=100, total_ms=400, head_bytes=10_000)


def ask(reply: Reply, allow: tuple[str, ...] = ("loopback",), limit: int = 1_000) -> Received:
    """Ask a server that says `reply`."""

    async def run() -> Received:
        async with raw_server(reply, keep_alive=True) as server:
            client = PlainClient(AddressGuard(parse_rules(allow, (), ())), LIMITS, verify=True)
            target = Target("http", "127.0.0.1", server.port, b"/")
            head = b"GET / HTTP/1.1\r\n\r\n"
            return await client.exchange(target, head, ("127.0.0.1", server.port), limit)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab", b"ab"),
        (b"HTTP/1.1 200 OK\nNoColon\nContent-Length: 2\n\nabcd", b"ab"),
        (b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", b"ab"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", b"ab"),
        (b"HTTP/1.9  200 OK\r\nContent-Length: 2\r\n\r\nab", b"ab"),
        (b"HTTP/1.1 304 Not\r\nContent-Length: 2\r\n\r\n", b""),
    ],
)
def test_replies_end_where_they_say(reply: bytes, body: bytes) -> None:
    """An honest length, or the last chunk, ends a reply though the connection stays open."""
    got = ask(reply)
    assert got.raw[: len(body)] == body
    assert got.ip == "127.0.0.1"


def test_a_reply_without_an_end_is_cut_by_silence() -> None:
    """A server that says nothing more ends at the limit of silence; what came is kept."""
    got = ask(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nab")
    assert (got.failure, got.cut, got.raw) == ("timeout", "time", b"ab")


def test_an_endless_drip_is_cut_by_the_whole_limit() -> None:
    """Bytes now and then do not hold the slot for ever."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.03)

    assert ask(drip).failure == "timeout"


def test_an_endless_body_is_cut_by_its_limit() -> None:
    """No more than the limits is read."""

    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 10_000)
            await writer.drain()

    got = ask(pour)
    assert (got.cut, got.failure) == ("length", "")
    assert len(got.raw) < 100_000


def test_the_guard_holds_here_too() -> None:
    """An address that is refused is not connected to."""
    assert ask(b"", allow=()).failure == "address_refused"


def test_nobody_listens() -> None:
    """A connection that cannot be made is a record."""

    async def run() -> Received:
        client = PlainClient(AddressGuard(parse_rules(("loopback",), (), ())), LIMITS, verify=True)
        target = Target("http", "127.0.0.1", 1, b"/")
        return await client.exchange(target, b"GET / HTTP/1.1\r\n\r\n", ("127.0.0.1", 1), 10)

    assert asyncio.run(run()).failure == "disconnected"


def test_no_status_is_a_failure() -> None:
    """A status line without a status is recorded as a bad reply."""
    got = ask(b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n")
    assert (got.failure, got.raw) == ("bad_reply", b"")


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"5;x=y\r\nhello\r\n1 \r\n!\r\n0\r\nX: y\r\n\r\n", b"hello!"),
        (b"5\nhello\n0\n\n", b"hello"),
        (b"5\r\nhello\r\nzz\r\n", b"hello"),
        (b"9\r\nhello", b"hello"),
        (b"<html>plain", b"<html>plain"),
        (b"0\r\n\r\n", b""),
        (b"", b""),
    ],
)
def test_dechunk(data: bytes, body: bytes) -> None:
    """Chunks are taken off up to the first thing that is none; a plain body stays."""
    assert dechunk(data) == body
