"""Real proxies are asked: Debian's tinyproxy over HTTP, microsocks over SOCKS5."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from filbert.model.records import FetchRequest, ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.http import HttpProtocol
from filbert.settings import Settings
from filbert.settings.http import HttpSettings
from filbert.settings.proxy import ProxySettings
from filbert.testing.daemons import find_program
from filbert.testing.proxies import microsocks, tinyproxy
from filbert.testing.raw_server import raw_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.testing.proxies import RunningProxy

pytestmark = pytest.mark.journey
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
LOGIN = ("nut", "cracker")


@contextmanager
def running(kind: str, work: Path, login: tuple[str, str] | None = None) -> Iterator[RunningProxy]:
    """Run a proxy of a kind, or skip aloud where its program is missing."""
    program = {"http": "tinyproxy", "socks5": "microsocks"}[kind]
    if find_program(program) is None:
        pytest.skip(f"{program} is not installed: scripts/install_test_servers.sh")
    with tinyproxy(work, login) if kind == "http" else microsocks(login) as proxy:
        yield proxy


def ask(proxy: dict[str, Any], folder: Path, **http: Any) -> tuple[ProtocolOutput, list[bytes]]:
    """Ask a loopback server through a proxy; return the output and what the server saw."""
    chosen = {"allow_addresses": ("loopback",), "agent_name": "bot", "timeout_ms": 5_000, **http}

    async def run() -> tuple[ProtocolOutput, list[bytes]]:
        settings = Settings(http=HttpSettings(**chosen), proxy=ProxySettings(**proxy))
        async with raw_server(OK) as server:
            async with HttpProtocol.from_settings(settings, folder) as protocol:
                url = f"http://127.0.0.1:{server.port}/a?b=%20c"
                output = await protocol.fetch(FetchRequest(url=url))
            return output, server.requests

    return asyncio.run(run())


@pytest.mark.parametrize("kind", ["http", "socks5"])
@pytest.mark.parametrize("login", [None, LOGIN])
@pytest.mark.parametrize("dns", ["local", "proxy"])
def test_a_page_comes_through(
    kind: str, login: tuple[str, str] | None, dns: str, tmp_path: Path
) -> None:
    """With and without a login, whoever looks up names: one request, the page as it is."""
    with running(kind, tmp_path, login) as proxy:
        given = {"host": "127.0.0.1", "port": proxy.port, "type": kind, "dns": dns}
        if login:
            given |= {"username": login[0], "password": login[1]}
        output, requests = ask(given, tmp_path)
    assert (output.http_status, output.body, output.ip) == (200, b"hello", None)
    assert [request.split(b"\r\n")[0] for request in requests] == [b"GET /a?b=%20c HTTP/1.1"]
    assert b"cracker" not in output.request_head
    if kind == "http":
        assert b"testproxy" in requests[0]


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_a_login_that_is_missing_is_not_the_hosts_fault(kind: str, tmp_path: Path) -> None:
    """The page is tried again, under a name that says where to look."""
    with running(kind, tmp_path, LOGIN) as proxy:
        given = {"host": "127.0.0.1", "port": proxy.port, "type": kind}
        output, requests = ask(given, tmp_path)
    assert output.message.startswith(("proxy_failed: ", "proxy_refused: "))
    assert output.http_status is None
    assert requests == []


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_what_the_guard_refuses_is_not_named_to_the_proxy(kind: str, tmp_path: Path) -> None:
    """A private address behind a name or written as one is refused before the proxy is asked."""
    with running(kind, tmp_path) as proxy:
        given = {"host": "127.0.0.1", "port": proxy.port, "type": kind}
        output, requests = ask(given, tmp_path, allow_addresses=())
        assert proxy.requests() == []
    assert output.message.startswith("address_refused: ")
    assert requests == []


def test_a_host_that_is_excepted_is_asked_directly(tmp_path: Path) -> None:
    """The proxy is not asked; the address of the server is known again."""
    given = {"host": "127.0.0.1", "port": 9, "exceptions": ("127.*",)}
    output, requests = ask(given, tmp_path)
    assert (output.http_status, output.ip, len(requests)) == (200, "127.0.0.1", 1)


def test_a_proxy_that_is_not_there(tmp_path: Path) -> None:
    """The failure names the proxy, and nothing is asked directly instead."""
    output, requests = ask({"host": "127.0.0.1", "port": 9}, tmp_path)
    assert output.message.startswith("proxy_failed: 127.0.0.1:9: ")
    assert (output.status, requests) == (ProtocolStatus.WOULDBLOCK, [])
