"""The http and https protocol: one request, one record, whatever the server does.

Guarantees: `fetch` never raises for what a server does and always ends within its limits; no
redirect is followed; every address is judged before a socket is opened; heads and bodies are kept
as they came. The name of a failure stands before the colon of the output's message.
Source: Nutch's lib-http, protocol-http and protocol-okhttp; docs/decisions/0006.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Self

from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.connect_to import ConnectTo
from filbert.plugins.protocols.credentials import read_logins
from filbert.plugins.protocols.dns import Resolver
from filbert.plugins.protocols.guard import AddressGuard, raise_descriptor_limit
from filbert.plugins.protocols.lenient import PlainClient
from filbert.plugins.protocols.proxy import Proxy, is_address, of_proxy
from filbert.plugins.protocols.reply import Received, failure, output_of
from filbert.plugins.protocols.request import HeaderMaker, head_bytes, is_conditional, target_of
from filbert.plugins.protocols.transfer import CONNECTION_DIED, Errand, TransferPool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path

    from filbert.model.records import FetchRequest, ProtocolOutput
    from filbert.plugins.protocols.dns import Resolution
    from filbert.plugins.protocols.request import Target
    from filbert.settings import Settings

__all__ = ["HttpProtocol"]

ALLOWED_HOSTS_FILE = "allowed-hosts.txt"

_UNLIMITED = 1 << 48
_ANY_PORT = 80
# Failures before a request went out: another address of the same host may be tried at once.
_BEFORE_REQUEST = frozenset({"connect_failed", "connect_timeout", "address_refused"})
_MOST_ADDRESSES = 3
_DESCRIPTOR_PAUSES_S = (0.05, 0.2, 1.0)
# A queue slower than this leaves the second way to the next fetch.
_LONGEST_WAIT_S = 60.0
# Servers that need the second way; a few per thousand hosts.
_MOST_LENIENT = 10_000
_OURS = {
    "out_of_descriptors": ProtocolStatus.WOULDBLOCK,
    "client_failed": ProtocolStatus.WOULDBLOCK,
    "proxy_failed": ProtocolStatus.WOULDBLOCK,
    "guard_failed": ProtocolStatus.WOULDBLOCK,
}


class HttpProtocol:
    """Fetches http and https URLs. An async context manager, entered once per event loop."""

    name = "http"
    schemes = frozenset({"http", "https"})
    robots = True

    def __init__(self, settings: Settings, guard: AddressGuard) -> None:
        self._http = settings.http
        self._delay_s = settings.fetcher.server_delay_s
        self._guard = guard
        self._headers = HeaderMaker(settings.http)
        self._logins = read_logins(settings.http.auth_file)
        self._proxy = Proxy.from_settings(settings.proxy)
        if self._proxy is not None:
            guard.allow_hosts([self._proxy.authority])  # the operator names it, as a seed does
        self._connect_to = ConnectTo(settings.http.resolve)
        self._lenient: OrderedDict[str, None] = OrderedDict()
        self._resolver: Resolver | None = None
        self._pool: TransferPool | None = None
        self._plain: PlainClient | None = None

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the plugin; UserError if an address or `http.resolve` entry is wrong.

        Hosts that seeds named are read from `allowed-hosts.txt` in the crawl folder.
        """
        guard = AddressGuard.from_settings(settings.http)
        guard.allow_hosts_of(folder / ALLOWED_HOSTS_FILE)
        return cls(settings, guard)

    def allow_hosts(self, entries: Iterable[str]) -> None:
        """Let the guard pass these `host:port`, whatever their addresses are."""
        self._guard.allow_hosts(entries)

    async def __aenter__(self) -> Self:
        """Open the pool and the resolver."""
        connections = raise_descriptor_limit()
        self._pool = TransferPool(self._http, self._guard, connections)
        self._plain = PlainClient(
            self._guard,
            self._pool.limits,
            verify=self._http.tls_certificates_check,
            ca_file=self._http.tls_ca_file,
        )
        self._resolver = Resolver(self._http.timeout_ms / 1000)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close all connections."""
        if self._pool is not None:
            await self._pool.close()
        if self._resolver is not None:
            await self._resolver.__aexit__(*exc)
        self._pool = self._resolver = None

    async def resolve(self, host: str) -> Resolution:
        """Return the addresses that requests to a host go to: what a queue by address is for."""
        assert self._resolver is not None, "used outside its context"
        return await self._resolver.resolve(self._connect_to.target(host, _ANY_PORT)[0])

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        """Fetch one URL; whatever happens is in the output."""
        try:
            target = target_of(request)
        except ValueError as error:
            return failure("malformed_url", str(error))
        lines = self._headers.lines(request, target.host)
        limit = self._http.content_limit if request.content_limit is None else request.content_limit
        limit = limit if limit >= 0 else _UNLIMITED
        errand = self._errand(target, lines, limit)
        delay_s = self._delay_s if request.delay_ms is None else request.delay_ms / 1000
        if self._proxy is not None and self._proxy.serves(target.host):
            received = await self._ask_proxy(self._proxy, errand)
        else:
            received = await self._ask_addresses(errand, delay_s)
        if received.failure in _OURS:
            return failure(received.failure, received.words, _OURS[received.failure])
        output = output_of(
            received,
            request_head=head_bytes(target, lines, self._http.http_version),
            limit=limit,
            keep_partial=self._http.partial_truncated,
        )
        if output.status is ProtocolStatus.NOTMODIFIED and not is_conditional(lines):
            # Taken at its word it would be due in a month, and we have no copy of it.
            words = "unasked_304: the server says unchanged, and was not asked whether it is"
            return replace(output, status=ProtocolStatus.EXCEPTION, message=words)
        return output

    def _errand(self, target: Target, lines: list[bytes], limit: int) -> Errand:
        """Return what is sent; a login goes along, and is never among the lines that are kept."""
        login = self._logins.of(target) if len(self._logins) else None
        if login is None or login.scheme != "basic":
            return Errand(target, lines, limit, login)
        return Errand(target, [*lines, login.basic_line()], limit)

    async def _ask_addresses(self, errand: Errand, delay_s: float) -> Received:
        """Ask the first address of the host that can be connected to."""
        assert self._resolver is not None, "used outside its context"
        target = errand.target
        host, port = self._connect_to.target(target.host, target.port)
        found = await self._resolver.resolve(host)
        if not found.addresses:
            return Received(failure="dns_failed", words=f"{host}: {found.error}")
        is_lenient = target.authority in self._lenient
        ask = self._ask_leniently if is_lenient else self._ask_patiently
        received = Received()
        for address in found.addresses[:_MOST_ADDRESSES]:
            received = await ask(errand, (address, port))
            if received.failure not in _BEFORE_REQUEST:
                break
        if is_lenient or not received.ip or received.http2:
            return received
        again = self._again(received, errand, (received.ip, port))
        if again is None or delay_s > _LONGEST_WAIT_S:
            return received
        # The server has been asked just now: the second request waits as any other would.
        await asyncio.sleep(delay_s)
        return replace(await again(), note=f"asked twice: {received.failure}: {received.words}")

    async def _ask_proxy(self, proxy: Proxy, errand: Errand) -> Received:
        """Ask through the proxy, once; a host that may not be asked is not named to it."""
        assert self._resolver is not None, "used outside its context"
        assert self._pool is not None, "used outside its context"
        target = errand.target
        host, port = self._connect_to.target(target.host, target.port)
        addresses: tuple[str, ...] = (host,)
        if not proxy.names or is_address(host):
            found = await self._resolver.resolve(host)
            if not found.addresses:
                return Received(failure="dns_failed", words=f"{host}: {found.error}")
            addresses = found.addresses
            for address in addresses:
                # All of them: which of them the proxy would take, only the proxy knows.
                if refusal := self._guard.judge(address, target.authority):
                    return Received(failure=refusal.reason, words=refusal.words)
        at = await self._resolver.resolve(proxy.host)
        if not at.addresses:
            return Received(failure="proxy_failed", words=f"{proxy.host}: {at.error}")
        via = proxy.at(at.addresses[0])
        received = await self._pool.perform(errand, (addresses[0], port), via=via)
        return of_proxy(received, via, target)

    def _again(
        self, received: Received, errand: Errand, address: tuple[str, int]
    ) -> Callable[[], Awaitable[Received]] | None:
        """Return how a server is asked a second time; None: what came is the answer."""
        if received.failure == "bad_reply":
            self._remember_lenient(errand.target.authority)
            return partial(self._ask_leniently, errand, address)
        if received.failure == CONNECTION_DIED:
            return partial(self._ask_patiently, errand, address, fresh=True)
        return None

    async def _ask_leniently(self, errand: Errand, address: tuple[str, int]) -> Received:
        assert self._plain is not None, "used outside its context"
        head = head_bytes(errand.target, errand.lines, self._http.http_version)
        return await self._plain.exchange(errand.target, head, address, errand.limit)

    async def _ask_patiently(
        self, errand: Errand, address: tuple[str, int], *, fresh: bool = False
    ) -> Received:
        """Ask; wait for descriptors where there are none left, which is not the host's fault."""
        assert self._pool is not None, "used outside its context"
        received = await self._pool.perform(errand, address, fresh=fresh)
        for pause in _DESCRIPTOR_PAUSES_S:
            if received.failure != "out_of_descriptors":
                break
            await asyncio.sleep(pause)
            received = await self._pool.perform(errand, address, fresh=fresh)
        return received

    def _remember_lenient(self, authority: str) -> None:
        self._lenient[authority] = None
        while len(self._lenient) > _MOST_LENIENT:
            self._lenient.popitem(last=False)
