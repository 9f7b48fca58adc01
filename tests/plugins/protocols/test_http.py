"""The http plugin against real sockets on loopback: whatever a server does is a record."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import socket
import struct
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pycurl
import pytest

from filbert.model.records import FetchRequest, ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.http import HttpProtocol
from filbert.plugins.protocols.transfer import Limits
from filbert.settings import Settings
from filbert.settings.fetcher import FetcherSettings
from filbert.settings.http import HttpSettings
from filbert.testing.raw_server import raw_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from filbert.testing.raw_server import RawServer

HERE = Path(__file__).parent
CASES = [
    json.loads(line)
    for line in (HERE.parents[1] / "data" / "cases" / "http-replies.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
GUARD = "filbert.plugins.protocols.guard"
HELLO = b"<html>hello</html>"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n" + HELLO


def make(folder: Path = HERE, **http: Any) -> HttpProtocol:
    """Make the plugin with loopback allowed, for servers without delay."""
    chosen = {"allow_addresses": ("loopback",), "agent_name": "bot", "timeout_ms": 2_000, **http}
    settings = Settings(http=HttpSettings(**chosen), fetcher=FetcherSettings(server_delay_s=0.0))
    return HttpProtocol.from_settings(settings, folder)


def fetch(
    reply: bytes | Callable[[asyncio.StreamWriter], Awaitable[None]],
    request: FetchRequest | None = None,
    limits: Limits | None = None,
    **http: Any,
) -> tuple[ProtocolOutput, RawServer]:
    """Fetch the root of a server that answers `reply`; return the output and what it saw."""

    async def run() -> tuple[ProtocolOutput, RawServer]:
        async with raw_server(reply) as server, make(**http) as protocol:
            if limits is not None:
                assert protocol._pool is not None
                protocol._pool._limits = limits
            asked = request or FetchRequest(url=server.url)
            asked = replace(asked, url=asked.url.replace("SERVER", f"127.0.0.1:{server.port}"))
            return await protocol.fetch(asked), server

    return asyncio.run(run())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_odd_replies(case: dict[str, Any]) -> None:
    """What browsers read is read; what nobody can read is recorded; the next fetch works."""
    output, _ = fetch(base64.b64decode(case["raw_base64"]))
    if isinstance(case["status"], int):
        assert output.http_status == case["status"]
    elif case["status"] == "error":
        assert (output.http_status, output.status) == (None, ProtocolStatus.EXCEPTION)
    else:
        assert output.http_status is not None or output.message
    if case["body"] == "whole":
        assert output.body == base64.b64decode(case["body_base64"])
    elif case["body"] == "prefix":
        assert output.body
        assert HELLO.startswith(output.body)
    elif case["body_length"] is not None:
        assert len(output.body) == case["body_length"]


def test_a_reply_is_kept_as_it_came() -> None:
    """Heads stand verbatim, the coded body too; the decoded body is beside it."""
    coded = gzip.compress(HELLO * 9)
    head = (
        b"HTTP/1.1 200 Fine\r\nX-A:  b\r\nContent-Encoding: gzip\r\nContent-Type: text/x\r\n"
        b"Content-Length: %d\r\n\r\n" % len(coded)
    )
    output, server = fetch(b"HTTP/1.1 103 Early\r\n\r\n" + head + coded)
    assert output.response_head == head
    assert (output.raw_body, output.body) == (coded, HELLO * 9)
    assert output.request_head == server.requests[0]
    assert (output.ip, output.protocol, output.content_type) == ("127.0.0.1", "http/1.1", "text/x")
    assert output.status is ProtocolStatus.SUCCESS
    assert output.truncated is None


def test_trailers_are_no_head() -> None:
    """Headers behind a chunked body do not replace the head."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    output, _ = fetch(head + b"5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n")
    assert (output.response_head, output.body) == (head, b"hello")


def test_the_request() -> None:
    """The agent, conditions and cookie are sent; nothing breaks out of its line."""
    request = FetchRequest(
        url="http://SERVER/x",
        modified_time=784_111_777_000,
        etag='"a\r\nX-Evil: 1"',
        metadata={"Cookie": "k=v"},
    )
    output, server = fetch(
        OK, request, agent_version="2", agent_url="http://bot.test/", agent_email="a@b.test"
    )
    lines = server.requests[0].decode().split("\r\n")
    assert lines[0] == "GET /x HTTP/1.1"
    assert "User-Agent: bot/2 (http://bot.test/; a@b.test)" in lines
    assert "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT" in lines
    assert 'If-None-Match: "a X-Evil: 1"' in lines
    assert "Cookie: k=v" in lines
    assert output.request_head == server.requests[0]


def test_robots_requests_are_never_conditional() -> None:
    """A robots.txt must come whole."""
    request = FetchRequest(url="http://SERVER/robots.txt", modified_time=1_000, robots=True)
    _, server = fetch(OK, request)
    assert b"If-Modified-Since" not in server.requests[0]


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"http://h/\xe4?q=[1]|{2}", b"GET /\xe4?q=[1]|{2} HTTP/1.1\r\n"),
        (b"http://h/a b\r\nX: y", b"GET /a%20b%0D%0AX:%20y HTTP/1.1\r\n"),
        (b"http://h/a/../b/./%7e#part", b"GET /a/../b/./%7e HTTP/1.1\r\n"),
        (b"http://h?q", b"GET /?q HTTP/1.1\r\n"),
        (b"//strange", b"GET /key HTTP/1.1\r\n"),
    ],
)
def test_the_bytes_of_a_link_are_asked_for(raw: bytes, line: bytes) -> None:
    """The path goes out as the linking page spelt it, but for what would break the request."""
    _, server = fetch(OK, FetchRequest(url="http://SERVER/key", raw_url=raw))
    assert server.requests[0].startswith(line)


@pytest.mark.parametrize("location", [b"/\xc3\xa4 b", b"/\xe4", b"http://[", b"", b" /x "])
def test_redirects_are_given_back_and_not_followed(location: bytes) -> None:
    """Location comes back in the server's own bytes."""
    output, server = fetch(
        b"HTTP/1.1 301 M\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % location
    )
    assert output.location == location.strip()
    assert output.status is ProtocolStatus.MOVED
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (200, ProtocolStatus.SUCCESS),
        (201, ProtocolStatus.EXCEPTION),
        (300, ProtocolStatus.MOVED),
        (302, ProtocolStatus.TEMP_MOVED),
        (307, ProtocolStatus.TEMP_MOVED),
        (308, ProtocolStatus.MOVED),
        (400, ProtocolStatus.GONE),
        (401, ProtocolStatus.ACCESS_DENIED),
        (403, ProtocolStatus.EXCEPTION),
        (404, ProtocolStatus.NOTFOUND),
        (410, ProtocolStatus.GONE),
        (429, ProtocolStatus.EXCEPTION),
        (503, ProtocolStatus.EXCEPTION),
    ],
)
def test_statuses(code: int, status: ProtocolStatus) -> None:
    """Each status of a reply is Nutch's protocol status."""
    output, _ = fetch(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % code)
    assert (output.status, output.http_status) == (status, code)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"modified_time": 784_111_777_000}, ProtocolStatus.NOTMODIFIED),
        ({"etag": '"a"'}, ProtocolStatus.NOTMODIFIED),
        ({}, ProtocolStatus.EXCEPTION),
    ],
)
def test_unchanged_is_an_answer_to_a_question(
    asked: dict[str, Any], status: ProtocolStatus
) -> None:
    """A 304 of a page that we have no copy of would keep it away for a month: a failure."""
    request = FetchRequest(url="http://SERVER/", **asked)
    output, _ = fetch(b"HTTP/1.1 304 X\r\nContent-Length: 0\r\n\r\n", request)
    assert (output.status, output.http_status) == (status, 304)
    assert output.message.startswith("unasked_304: ") == (not asked)


LIMITS = Limits(silence_ms=1_000, total_ms=100, head_bytes=262_144)


async def drip(writer: asyncio.StreamWriter) -> None:
    """Send a byte now and then, for ever."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


async def drip_head(writer: asyncio.StreamWriter) -> None:
    """Send one header after the other, for ever."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-A: b\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def endless(writer: asyncio.StreamWriter) -> None:
    """Send a body without an end, as fast as it goes."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"y" * 65_536)
        await writer.drain()


async def endless_head(writer: asyncio.StreamWriter) -> None:
    """Send headers without an end, as fast as it goes."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n" * 99)
        await writer.drain()


async def reset(writer: asyncio.StreamWriter) -> None:
    """Send half a body, then reset the connection."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf")
    await writer.drain()
    await asyncio.sleep(0.02)
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def silent(writer: asyncio.StreamWriter) -> None:
    """Say nothing."""
    await writer.drain()
    await asyncio.sleep(5)


def test_a_slow_drip_ends_at_the_time_limit() -> None:
    """The limit of a whole request holds though bytes keep coming; what came is kept."""
    output, _ = fetch(drip, limits=LIMITS)
    assert output.message.startswith("timeout:")
    assert (output.status, output.truncated) == (ProtocolStatus.EXCEPTION, "time")
    assert set(output.body) == {ord("x")}


def test_a_dripping_head_and_a_silent_server_end_at_the_time_limit() -> None:
    """Without a reply there is a named failure."""
    for behaviour in (drip_head, silent):
        output, _ = fetch(behaviour, limits=LIMITS)
        assert (output.message.split(":")[0], output.body) == ("timeout", b"")


def test_partial_bodies_are_kept_if_asked() -> None:
    """With `partial_truncated` a body that ran out of time, or broke off, is a success, marked."""
    for behaviour, reason in ((drip, "time"), (reset, "disconnect")):
        output, _ = fetch(behaviour, limits=LIMITS, partial_truncated=True)
        assert (output.status, output.truncated) == (ProtocolStatus.SUCCESS, reason)
        assert output.body


def test_an_endless_body_is_cut_at_the_limit() -> None:
    """Exactly the limit is kept, marked `length`."""
    output, _ = fetch(endless, content_limit=100_000)
    assert (output.status, output.truncated) == (ProtocolStatus.SUCCESS, "length")
    assert output.body == b"y" * 100_000


def test_endless_headers_are_refused() -> None:
    """Headers have a limit of their own."""
    output, _ = fetch(endless_head, headers_limit=20_000)
    assert output.message.startswith("headers_too_long:")
    assert output.status is ProtocolStatus.EXCEPTION


def test_a_64_kb_header_is_read() -> None:
    """A header as long as browsers take is no problem."""
    output, _ = fetch(b"HTTP/1.1 200 OK\r\nX-A: %s\r\n\r\n%s" % (b"a" * 65_536, HELLO))
    assert output.body == HELLO
    assert len(output.header("x-a") or "") == 65_536


def test_a_reset_is_a_record() -> None:
    """What came before a reset is kept with its reason; the fetch counts as failed."""
    output, _ = fetch(reset)
    assert output.message.startswith("disconnected:")
    assert (output.body, output.truncated, output.http_status) == (b"half", "disconnect", 200)
    assert output.status is ProtocolStatus.EXCEPTION


def test_a_gzip_bomb_is_cut_at_the_limit() -> None:
    """A small reply that would unfold to 10 MB gives the limit and no more."""
    bomb = gzip.compress(bytes(10 << 20))
    output, _ = fetch(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s"
        % (len(bomb), bomb),
        content_limit=100_000,
    )
    assert (len(output.body), output.truncated) == (100_000, "length")
    assert output.raw_body == output.body


def test_the_request_can_name_its_own_limit() -> None:
    """A robots.txt has another limit than a page; -1 is none."""
    output, _ = fetch(OK, FetchRequest(url="http://SERVER/", content_limit=5))
    assert (output.body, output.truncated) == (HELLO[:5], "length")
    output, _ = fetch(OK, FetchRequest(url="http://SERVER/", content_limit=-1))
    assert (output.body, output.truncated) == (HELLO, None)


def test_a_reply_that_libcurl_refuses_is_asked_for_again_after_the_delay() -> None:
    """The second way waits as long as the queue would; later requests take it at once."""

    async def run() -> tuple[list[float], list[int]]:
        reply = b"HTTP/1.1 200 OK\r\nNoColon\r\nContent-Length: 18\r\n\r\n" + HELLO
        times = []

        async def answer(writer: asyncio.StreamWriter) -> None:
            times.append(asyncio.get_running_loop().time())
            writer.write(reply)

        async with raw_server(answer) as server, make() as protocol:
            seen = []
            for _ in range(2):
                output = await protocol.fetch(FetchRequest(url=server.url, delay_ms=60))
                assert output.body == HELLO
                seen.append(len(server.requests))
            return times, seen

    times, seen = asyncio.run(run())
    assert seen == [2, 3]
    assert times[1] - times[0] >= 0.06


@pytest.mark.parametrize(("delay_ms", "asked"), [(60, 3), (0, 3), (61_000, 2)])
def test_a_kept_connection_that_dies_is_asked_again_after_the_delay(
    delay_ms: int, asked: int
) -> None:
    """At once it would be rude, as libcurl is; where the delay is long the next fetch asks."""

    async def run() -> tuple[list[float], ProtocolOutput]:
        times: list[float] = []

        async def answer(writer: asyncio.StreamWriter) -> None:
            times.append(asyncio.get_running_loop().time())
            if len(times) == 2:
                writer.close()
            else:
                writer.write(OK)

        async with raw_server(answer, keep_alive=True) as server, make() as protocol:
            first = await protocol.fetch(FetchRequest(url=server.url))
            assert first.body == HELLO
            return times, await protocol.fetch(FetchRequest(url=server.url, delay_ms=delay_ms))

    times, output = asyncio.run(run())
    assert len(times) == asked
    died = "connection_died: the server closed a kept connection, unanswered"
    if asked == 3:
        assert times[2] - times[1] >= delay_ms / 1000
        assert (output.body, output.message) == (HELLO, f"asked twice: {died}")
    else:
        assert (output.status, output.message) == (ProtocolStatus.EXCEPTION, died)


_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (OK[:-3], "disconnected: the reply broke off"),
        (_CHUNKED + b"5\r\nhello\r\nZZ", "disconnected: the reply broke off"),
        (_CHUNKED + b"5\r\nhello\r\n", "disconnected: the reply broke off"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nhelloabcd",
            "bad_reply: Content-Length is 5 and 9",
        ),
        (OK, ""),
        (_CHUNKED + b"5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n", ""),
        (_CHUNKED + HELLO, ""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n" + HELLO, ""),
        (b"HTTP/1.1 204 None\r\nContent-Length: 9\r\n\r\n", "http_204: the server answered 204"),
    ],
)
def test_the_second_way_knows_a_reply_that_broke_off(reply: bytes, message: str) -> None:
    """As the first does: a body that lacks its end is a failure, one of an odd head is none."""

    async def run() -> ProtocolOutput:
        async with raw_server(reply) as server, make() as protocol:
            protocol._remember_lenient(f"127.0.0.1:{server.port}")
            return await protocol.fetch(FetchRequest(url=server.url))

    output = asyncio.run(run())
    assert output.message == message
    assert (output.status is ProtocolStatus.EXCEPTION) == bool(message)


def test_connections_are_reused() -> None:
    """Two requests to one host need one connection."""

    async def run() -> set[object]:
        peers: set[object] = set()

        async def answer(writer: asyncio.StreamWriter) -> None:
            peers.add(writer.get_extra_info("peername"))
            writer.write(OK)

        async with raw_server(answer, keep_alive=True) as server, make() as protocol:
            for _ in range(3):
                await protocol.fetch(FetchRequest(url=server.url))
        return peers

    assert len(asyncio.run(run())) == 1


@pytest.mark.parametrize("url", ["ftp://a.test/", "http://", "nonsense", "http://a b/"])
def test_what_is_no_url_is_a_record(url: str) -> None:
    """A URL that cannot be asked for is a named failure."""
    output = asyncio.run(_fetch_one(url))
    assert output.message.startswith("malformed_url:")


async def _fetch_one(url: str) -> ProtocolOutput:
    async with make() as protocol:
        return await protocol.fetch(FetchRequest(url=url))


def test_nobody_listens() -> None:
    """A refused connection is a named failure."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        output = asyncio.run(_fetch_one(f"http://127.0.0.1:{sock.getsockname()[1]}/"))
    assert output.message.startswith("connect_failed:")
    assert output.status is ProtocolStatus.EXCEPTION


def test_a_multi_that_libcurl_gives_up_is_replaced() -> None:
    """What was in flight says `client_failed`; the next fetch gets a new multi and works."""

    async def run() -> tuple[ProtocolOutput, ProtocolOutput]:
        async with raw_server(silent) as quiet, raw_server(OK) as server, make() as protocol:
            pool = protocol._pool
            assert pool is not None
            async with asyncio.TaskGroup() as group:
                hanging = group.create_task(protocol.fetch(FetchRequest(url=quiet.url)))
                async with asyncio.timeout(2):
                    await quiet.asked.wait()
                pool._multi._fail_all_pending(pycurl.error(4, "internal error"))
            return hanging.result(), await protocol.fetch(FetchRequest(url=server.url))

    first, second = asyncio.run(run())
    assert first.message.startswith("client_failed:")
    assert first.status is ProtocolStatus.WOULDBLOCK
    assert second.body == HELLO


def test_a_cancelled_fetch_leaves_the_plugin_usable() -> None:
    """After a cancelled fetch the next one works."""

    async def run() -> ProtocolOutput:
        async with raw_server(silent) as quiet, raw_server(OK) as server, make() as protocol:
            try:
                async with asyncio.timeout(0.05):
                    await protocol.fetch(FetchRequest(url=quiet.url))
            except TimeoutError:
                pass
            return await protocol.fetch(FetchRequest(url=server.url))

    assert asyncio.run(run()).body == HELLO


def test_many_at_once() -> None:
    """A hundred fetches share the multi, each with its own record."""

    async def run() -> list[bytes]:
        async with raw_server(OK) as server, make() as protocol:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(protocol.fetch(FetchRequest(url=f"{server.url}{n}")))
                    for n in range(100)
                ]
            return [task.result().body for task in tasks]

    assert asyncio.run(run()) == [HELLO] * 100


def test_http_09_has_no_head() -> None:
    """A body without any head is a page, as browsers of old had it."""
    output, _ = fetch(HELLO)
    assert (output.body, output.response_head, output.protocol) == (HELLO, b"", "http/0.9")
    assert output.http_status == 200


def test_heads_that_libcurl_takes_for_bodies_are_put_back() -> None:
    """ICY, and blank lines before the status line, are heads all the same."""
    for start in (b"ICY 200 OK\r\n", b"\r\n\r\nHTTP/1.1 200 OK\r\n"):
        output, _ = fetch(start + b"Content-Type: a/b\r\n\r\n" + HELLO)
        assert (output.body, output.content_type) == (HELLO, "a/b")


def test_a_coding_without_an_end_is_marked() -> None:
    """What a cut gzip stream still gives is the body, marked as broken off."""
    coded = gzip.compress(bytes(range(256)) * 400)
    output, _ = fetch(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + coded[:-20])
    assert output.truncated == "disconnect"
    assert (bytes(range(256)) * 400).startswith(output.body)
    assert output.raw_body == output.body


def test_a_slow_queue_leaves_the_second_way_to_the_next_fetch() -> None:
    """Nobody waits minutes inside a slot: the fetch fails now, and the next one asks plainly."""

    async def run() -> tuple[list[ProtocolOutput], int]:
        odd = b"HTTP/1.1 200 OK\r\nNoColon\r\nContent-Length: 18\r\n\r\n" + HELLO
        async with raw_server(odd) as server, make() as protocol:
            request = FetchRequest(url=server.url, delay_ms=600_000)
            got = [await protocol.fetch(request) for _ in range(2)]
            return got, len(server.requests)

    (first, second), requests = asyncio.run(run())
    assert first.message.startswith("bad_reply:")
    assert (second.body, requests) == (HELLO, 2)
