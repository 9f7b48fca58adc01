"""A real HTTP/2 server is asked: Debian's nginx over TLS."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from filbert.cli import run
from filbert.model.records import FetchRequest, ProtocolOutput
from filbert.plugins.protocols.http import HttpProtocol
from filbert.settings import Settings
from filbert.settings.http import HttpSettings
from filbert.settings.proxy import ProxySettings
from filbert.testing.daemons import find_program
from filbert.testing.nginx import nginx
from filbert.testing.proxies import microsocks, tinyproxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.testing.nginx import Nginx

pytestmark = pytest.mark.journey
PAGES = 20


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Nginx]:
    """An nginx with a few pages that link to each other, for the name h2.test and 127.0.0.1."""
    if find_program("nginx") is None:
        pytest.skip("nginx is not installed: scripts/install_test_servers.sh")
    root, work = tmp_path / "root", tmp_path / "work"
    root.mkdir()
    work.mkdir()
    for number in range(PAGES):
        links = "".join(f"<a href='/{n}.html'>{n}</a>" for n in range(PAGES) if number == 0)
        (root / f"{number}.html").write_text(f"<title>Page {number}</title><p>walnut {links}")
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /secret\n")
    with nginx(root, work, names=("h2.test", "127.0.0.1")) as running:
        yield running


def ask(
    server: Nginx,
    *paths: str,
    host: str = "h2.test",
    proxy: dict[str, Any] | None = None,
    **http: Any,
) -> list[ProtocolOutput]:
    """Ask for pages over TLS, one after the other."""
    chosen = {
        "allow_addresses": ("loopback",),
        "agent_name": "bot",
        "timeout_ms": 5_000,
        "resolve": ("*.test::127.0.0.1:",),
        "http_version": "2",
        **http,
    }

    async def work() -> list[ProtocolOutput]:
        settings = Settings(http=HttpSettings(**chosen), proxy=ProxySettings(**(proxy or {})))
        async with HttpProtocol.from_settings(settings, server.log.parent) as protocol:
            urls = [f"https://{host}:{server.tls_port}{path}" for path in paths]
            return [await protocol.fetch(FetchRequest(url=url)) for url in urls]

    return asyncio.run(work())


def test_a_site_is_crawled_over_http2(
    server: Nginx, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a seed to a search, every page once, and each capture says how it came."""
    crawl = str(tmp_path / "crawl")
    seed = f"https://h2.test:{server.tls_port}/0.html"
    settings = [
        "http.http_version=2",
        "http.tls_certificates_check=true",
        f"http.tls_ca_file={server.authority}",
        "http.resolve=h2.test::127.0.0.1:",
        "http.agent_name=testbot",
        "fetcher.server_delay_s=0.0",
        "fetcher.parse=false",
    ]
    options = [part for one in settings for part in ("-D", one)]
    assert run(["crawl", crawl, "--seeds", seed, "--rounds", "all", *options]) == 0
    seen = server.seen()
    assert {(protocol, tls) for protocol, tls, *_ in seen} == {("HTTP/2.0", "TLSv1.3")}
    paths = sorted(path for *_, path in seen)
    assert paths == sorted(["/robots.txt", *(f"/{number}.html" for number in range(PAGES))])
    capsys.readouterr()
    query = "select distinct protocol, http_status from fetches"
    assert run(["sql", crawl, query, "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["http/2,200"]
    assert run(["search", crawl, "walnut"]) == 0


@pytest.mark.parametrize(
    ("version", "protocol", "seen"),
    [("2", "http/2", "HTTP/2.0"), ("1.1", "http/1.1", "HTTP/1.1"), ("1.0", "http/1.1", "HTTP/1.0")],
)
def test_each_version_is_asked_in(server: Nginx, version: str, protocol: str, seen: str) -> None:
    """The setting is the highest version offered; an answer says its own."""
    (output,) = ask(server, "/1.html", http_version=version)
    assert (output.http_status, output.protocol, output.ip) == (200, protocol, "127.0.0.1")
    assert b"walnut" in output.body
    assert server.seen()[0][0] == seen


def test_a_certificate_is_verified_if_asked(server: Nginx) -> None:
    """Unknown authorities and wrong names are refused, the right ones pass; off, all pass."""
    given: dict[str, Any] = {"tls_certificates_check": True}
    ours = given | {"tls_ca_file": str(server.authority)}
    (unknown,) = ask(server, "/1.html", **given)
    (wrong,) = ask(server, "/1.html", host="other.test", **ours)
    (right,) = ask(server, "/1.html", **ours)
    (unasked,) = ask(server, "/1.html", host="other.test")
    assert (unknown.message.split(":")[0], wrong.message.split(":")[0]) == ("tls_failed",) * 2
    assert (right.http_status, unasked.http_status) == (200, 200)


def test_pages_of_one_host_share_a_connection(server: Nginx) -> None:
    """Conditional requests and missing pages go over it too, in the words of HTTP/2."""
    outputs = ask(server, "/1.html", "/2.html", "/none.html")
    assert [output.http_status for output in outputs] == [200, 200, 404]
    assert all(output.response_head.startswith(b"HTTP/2 ") for output in outputs)


@pytest.mark.parametrize("kind", ["http", "socks5"])
@pytest.mark.parametrize("dns", ["local", "proxy"])
def test_tls_goes_through_proxies(server: Nginx, kind: str, dns: str, tmp_path: Path) -> None:
    """CONNECT and SOCKS carry TLS to the host; its certificate is verified at our end."""
    program = {"http": "tinyproxy", "socks5": "microsocks"}[kind]
    if find_program(program) is None:
        pytest.skip(f"{program} is not installed: scripts/install_test_servers.sh")
    with tinyproxy(tmp_path) if kind == "http" else microsocks() as proxy:
        given = {"host": "127.0.0.1", "port": proxy.port, "type": kind, "dns": dns}
        verified = {"tls_certificates_check": True, "tls_ca_file": str(server.authority)}
        host = "127.0.0.1" if dns == "proxy" else "h2.test"
        (output,) = ask(server, "/1.html", host=host, proxy=given, **verified)
    assert (output.http_status, output.protocol, output.ip) == (200, "http/2", None)
    assert b"200 Connection" not in output.response_head
