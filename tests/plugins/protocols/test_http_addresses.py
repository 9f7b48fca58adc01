"""Where the http plugin connects to: the guard, names led elsewhere, addresses, descriptors."""

from __future__ import annotations

import asyncio
import resource
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import UserError
from filbert.model.records import FetchRequest, ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.dns import Resolution
from filbert.plugins.protocols.guard import AddressGuard, raise_descriptor_limit
from filbert.plugins.protocols.http import HttpProtocol
from filbert.settings import Settings
from filbert.settings.fetcher import FetcherSettings
from filbert.settings.http import HttpSettings
from filbert.testing.raw_server import raw_server

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

HERE = Path(__file__).parent
GUARD = "filbert.plugins.protocols.guard"
HELLO = b"<html>hello</html>"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n" + HELLO


def make(folder: Path = HERE, **http: Any) -> HttpProtocol:
    """Make the plugin with loopback allowed, for servers without delay."""
    chosen = {"allow_addresses": ("loopback",), "agent_name": "bot", "timeout_ms": 2_000, **http}
    settings = Settings(http=HttpSettings(**chosen), fetcher=FetcherSettings(server_delay_s=0.0))
    return HttpProtocol.from_settings(settings, folder)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "127.1", "0x7f.1", "[::ffff:127.0.0.1]"]
)
def test_the_guard_refuses_loopback_under_any_name(host: str) -> None:
    """The address is judged, not the name; nothing is sent."""

    async def run() -> tuple[ProtocolOutput, int]:
        async with raw_server(OK) as server, make(allow_addresses=()) as protocol:
            url = f"http://{host}:{server.port}/"
            return await protocol.fetch(FetchRequest(url=url)), len(server.requests)

    output, requests = asyncio.run(run())
    assert output.message.startswith("address_refused:")
    assert "loopback" in output.message
    assert (output.status, requests) == (ProtocolStatus.EXCEPTION, 0)


def test_a_seed_allows_exactly_its_host_and_port(tmp_path: Path) -> None:
    """The lines of allowed-hosts.txt open one host and port each, and no other."""

    async def run() -> list[bool]:
        async with raw_server(OK) as one, raw_server(OK) as two:
            (tmp_path / "allowed-hosts.txt").write_text(f"localhost:{one.port}\n")
            async with make(tmp_path, allow_addresses=()) as protocol:
                urls = [f"http://localhost:{one.port}/", f"http://127.0.0.1:{one.port}/"]
                urls += [f"http://localhost:{two.port}/"]
                got = [await protocol.fetch(FetchRequest(url=url)) for url in urls]
        return [output.http_status == 200 for output in got]

    assert asyncio.run(run()) == [True, False, False]


def test_names_can_be_led_elsewhere() -> None:
    """`http.resolve` leads names to an address and port; Host stays, the guard still judges."""

    async def run() -> tuple[list[ProtocolOutput], list[bytes]]:
        async with raw_server(OK) as server:
            entry = (f"*.test:80:127.0.0.1:{server.port}",)
            async with (
                make(resolve=entry) as protocol,
                make(resolve=entry, allow_addresses=()) as closed,
            ):
                request = FetchRequest(url="http://www.a.test/x")
                got = [await protocol.fetch(request), await closed.fetch(request)]
            return got, server.requests

    (opened, refused), requests = asyncio.run(run())
    assert opened.body == HELLO
    assert b"Host: www.a.test\r\n" in requests[0]
    assert refused.message.startswith("address_refused:")


def test_a_wrong_resolve_entry_is_a_user_error() -> None:
    """An entry of another form says what would be right."""
    with pytest.raises(UserError, match=r"http\.resolve"):
        make(resolve=("www.example.com=127.0.0.1",))


def test_a_bug_in_the_guard_is_not_the_hosts_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a callback raises is told by its own name, and the next fetch works."""

    async def run() -> tuple[ProtocolOutput, ProtocolOutput]:
        async with raw_server(OK) as server, make() as protocol:

            def broken(*_: object) -> None:
                raise RuntimeError("oops")

            monkeypatch.setattr(protocol._guard, "judge", broken)
            first = await protocol.fetch(FetchRequest(url=server.url))
            monkeypatch.undo()
            return first, await protocol.fetch(FetchRequest(url=server.url))

    first, second = asyncio.run(run())
    assert first.message == "guard_failed: RuntimeError: oops"
    assert second.body == HELLO


def test_no_descriptors_left_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of descriptors waits and tries again, and never reads as the host's failure."""
    real = socket.socket
    failures = iter([True, True, False])

    async def run() -> ProtocolOutput:
        async with raw_server(OK) as server, make() as protocol:

            def scarce(*args: Any) -> socket.socket:
                if next(failures, False):
                    raise OSError(24, "Too many open files")
                return real(*args)

            monkeypatch.setattr(f"{GUARD}.socket", SimpleNamespace(socket=scarce))
            return await protocol.fetch(FetchRequest(url=server.url))

    monkeypatch.setattr("filbert.plugins.protocols.http._DESCRIPTOR_PAUSES_S", (0.0, 0.0, 0.0))
    assert asyncio.run(run()).body == HELLO


def test_never_any_descriptors_is_a_would_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lack that stays is WOULDBLOCK: to be asked later, with nothing held against the host."""
    monkeypatch.setattr("filbert.plugins.protocols.http._DESCRIPTOR_PAUSES_S", (0.0,))

    async def run() -> ProtocolOutput:
        async with raw_server(OK) as server, make() as protocol:

            def none(*_: object) -> socket.socket:
                raise OSError(24, "Too many open files")

            monkeypatch.setattr(f"{GUARD}.socket", SimpleNamespace(socket=none))
            output = await protocol.fetch(FetchRequest(url=server.url))
            monkeypatch.undo()
            return output

    output = asyncio.run(run())
    assert output.message.startswith("out_of_descriptors:")
    assert output.status is ProtocolStatus.WOULDBLOCK


def test_a_name_without_an_address_is_a_named_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS failures are the output's, with the name."""

    async def run() -> ProtocolOutput:
        async with make() as protocol:
            assert protocol._resolver is not None
            monkeypatch.setattr(protocol._resolver, "resolve", _answer(()))
            return await protocol.fetch(FetchRequest(url="http://none.test/"))

    assert asyncio.run(run()).message == "dns_failed: none.test: no address"


def test_the_next_address_is_tried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nobody listens costs no fetch if the host has another one."""

    async def run() -> tuple[ProtocolOutput, tuple[str, ...]]:
        async with raw_server(OK) as server, make() as protocol:
            assert protocol._resolver is not None
            addresses = ("127.77.77.77", "127.0.0.1")
            monkeypatch.setattr(protocol._resolver, "resolve", _answer(addresses))
            output = await protocol.fetch(FetchRequest(url=f"http://two.test:{server.port}/"))
            return output, (await protocol.resolve("two.test")).addresses

    output, addresses = asyncio.run(run())
    assert (output.body, output.ip) == (HELLO, "127.0.0.1")
    assert addresses == ("127.77.77.77", "127.0.0.1")


def _answer(addresses: tuple[str, ...]) -> Callable[[str], Coroutine[Any, Any, Resolution]]:
    async def resolve(_: str) -> Resolution:
        return Resolution(addresses, "" if addresses else "no address")

    return resolve


def test_a_dot_behind_a_host_changes_nothing() -> None:
    """`localhost.` is the host that a seed with either spelling allowed."""
    guard = AddressGuard.from_settings(HttpSettings())
    guard.allow_hosts(["localhost:81"])
    assert guard.judge("127.0.0.1", "localhost.:81") is None
    assert guard.judge("127.0.0.1", "localhost:81") is None
    assert guard.judge("127.0.0.1", "localhost.:82") is not None


def test_hosts_can_be_allowed_later() -> None:
    """`allow_hosts` opens one host and port."""

    async def run() -> list[int | None]:
        async with raw_server(OK) as server, make(allow_addresses=()) as protocol:
            request = FetchRequest(url=server.url)
            before = await protocol.fetch(request)
            protocol.allow_hosts([f"127.0.0.1:{server.port}"])
            after = await protocol.fetch(request)
            return [before.http_status, after.http_status]

    assert asyncio.run(run()) == [None, 200]


def test_descriptors_are_raised() -> None:
    """The soft limit of open files goes up to the hard one; the answer is what fits."""
    assert raise_descriptor_limit() > 0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft in {hard, 65_536}
