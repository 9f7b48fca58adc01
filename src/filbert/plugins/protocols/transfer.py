"""Exchanges over libcurl: a pool of handles on one multi, watched over.

Guarantees: a transfer sends one request, whatever becomes of it; no callback raises; what stopped
a transfer is left in its exchange (`stop`). A multi that libcurl gave up is replaced, and what was
in flight on it says `client_failed`: the server is not blamed. A handle whose transfer was
cancelled is not used again.
Source: docs/decisions/0006, and the traps of libcurl named there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pycurl

from filbert.plugins.protocols.curl_options import curl_options
from filbert.plugins.protocols.curl_sink import CurlSink
from filbert.plugins.protocols.guard import AddressGuard, Refusal
from filbert.plugins.protocols.reply import Received

if TYPE_CHECKING:
    from filbert.plugins.protocols.credentials import Login
    from filbert.plugins.protocols.proxy import Via
    from filbert.plugins.protocols.request import Target
    from filbert.settings.http import HttpSettings

__all__ = ["CONNECTION_DIED", "Errand", "Exchange", "Limits", "TransferPool"]

CONNECTION_DIED = "connection_died"
"""The failure of a request without an answer, on a connection kept from an earlier one."""

# Idle connections kept, at most: https ones take 75 KB each.
_MOST_IDLE = 4_096
# A coded body is hardly longer than the decoded one, whose length is what the limit is for.
_CODING_ROOM = 1_024
_CODING_SHARE = 512
_FAILURES = {
    pycurl.E_UNSUPPORTED_PROTOCOL: "bad_reply",
    pycurl.E_URL_MALFORMAT: "malformed_url",
    pycurl.E_COULDNT_RESOLVE_HOST: "dns_failed",
    pycurl.E_COULDNT_CONNECT: "connect_failed",
    pycurl.E_HTTP2: "bad_reply",
    pycurl.E_PARTIAL_FILE: "disconnected",
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_SSL_CONNECT_ERROR: "tls_failed",
    pycurl.E_GOT_NOTHING: "empty_reply",
    pycurl.E_SEND_ERROR: "disconnected",
    pycurl.E_RECV_ERROR: "disconnected",
    pycurl.E_SSL_CERTPROBLEM: "tls_failed",
    pycurl.E_SSL_CIPHER: "tls_failed",
    pycurl.E_SSL_CACERT: "tls_failed",
    pycurl.E_BAD_CONTENT_ENCODING: "bad_reply",
    pycurl.E_COULDNT_RESOLVE_PROXY: "proxy_failed",
    100: "headers_too_long",  # CURLE_TOO_LARGE has no name in pycurl
    97: "proxy_refused",  # CURLE_PROXY has no name in pycurl
    8: "bad_reply",  # CURLE_WEIRD_SERVER_REPLY has no name in pycurl
}
_CUTS = {"timeout": "time", "disconnected": "disconnect", "bad_reply": "disconnect"}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of exchanges: ms of silence, ms in all (0: none), bytes of headers."""

    silence_ms: int
    total_ms: int
    head_bytes: int


@dataclass(frozen=True, slots=True)
class Errand:
    """What is asked for, and how.

    Attributes:
        target: Where, and the path.
        lines: Header lines, without Host; the same list for many requests costs less.
        limit: Most bytes of the decoded body.
        login: Who we are, where the host will ask for it (Digest): it is then sent two requests.
    """

    target: Target
    lines: list[bytes]
    limit: int
    login: Login | None = None


class Exchange(CurlSink):
    """One handle, and what its present transfer has brought."""

    __slots__ = ("_is_fresh", "_left", "_lines", "_login", "_via", "curl", "head", "limits")

    def __init__(self, settings: HttpSettings, guard: AddressGuard, limits: Limits) -> None:
        super().__init__(guard)
        self._lines: list[bytes] | None = None
        self._left = 0  # requests that the transfer may still send
        self._login: Login | None = None
        self._is_fresh = False
        self._via: Via | None = None
        self.limits = limits
        self.head = bytearray()
        self.curl = pycurl.Curl()
        options = curl_options(settings, silence_ms=limits.silence_ms, total_ms=limits.total_ms)
        for option, value in options.items():
            self.curl.setopt(option, value)
        # No Python per line: libcurl itself stops at 300 KB, our limit is looked at in the end.
        self.curl.setopt(pycurl.HEADERFUNCTION, self.head.extend)
        self.curl.setopt(pycurl.WRITEFUNCTION, self.on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self.on_socket)
        self.curl.setopt(pycurl.PREREQFUNCTION, self._on_request)

    def prepare(
        self, errand: Errand, connect_to: tuple[str, int], *, fresh: bool, via: Via | None
    ) -> None:
        """Set the handle up for a request to an address and port.

        Args:
            errand: What is asked for, and how.
            connect_to: Where the host is; behind a proxy that finds it itself, no matter.
            fresh: On a new connection.
            via: The proxy that is asked instead; None: the host is asked.
        """
        target, limit, login = errand.target, errand.limit, errand.login
        self.head.clear()
        self.body.clear()
        self.stop = None
        self._left = 1 if login is None else 2
        self._room = limit + limit // _CODING_SHARE + _CODING_ROOM
        self._authority = via.authority if via else target.authority
        curl = self.curl
        curl.setopt(pycurl.URL, f"{target.scheme}://{target.authority}/")
        curl.setopt(pycurl.REQUEST_TARGET, _request_target(target, via))
        if via is not None and via.hides(target):
            curl.unsetopt(pycurl.CONNECT_TO)
        else:
            address, port = connect_to
            bracketed = f"[{address}]" if ":" in address else address
            curl.setopt(pycurl.CONNECT_TO, [f"{target.authority}:{bracketed}:{port}"])
        if via != self._via:
            self._take_proxy(via)
        if login is not self._login:
            self._take_login(login)
        if fresh is not self._is_fresh:
            curl.setopt(pycurl.FRESH_CONNECT, int(fresh))
            self._is_fresh = fresh
        if errand.lines is not self._lines:
            curl.setopt(pycurl.HTTPHEADER, errand.lines)
            self._lines = errand.lines

    def _take_proxy(self, via: Via | None) -> None:
        curl = self.curl
        curl.setopt(pycurl.PROXY, via.url if via else "")
        if via is not None:
            curl.setopt(pycurl.PROXYTYPE, via.kind)
        if via is not None and via.login:
            curl.setopt(pycurl.PROXYUSERPWD, via.login)
        else:
            curl.unsetopt(pycurl.PROXYUSERPWD)
        self._via = via

    def _take_login(self, login: Login | None) -> None:
        curl = self.curl
        if login is None:
            curl.unsetopt(pycurl.USERPWD)
            curl.setopt(pycurl.HTTPAUTH, pycurl.HTTPAUTH_NONE)
        else:
            curl.setopt(pycurl.USERPWD, f"{login.user}:{login.password}")
            curl.setopt(pycurl.HTTPAUTH, pycurl.HTTPAUTH_DIGEST)
        self._login = login

    def _on_request(self, *_where: object) -> int:
        """Let one request out: libcurl would send a second where a kept connection died."""
        if not self._left:
            self.stop = Refusal(CONNECTION_DIED, "the server closed a kept connection, unanswered")
            return int(pycurl.PREREQFUNC_ABORT)
        self._left -= 1
        return int(pycurl.PREREQFUNC_OK)

    def received(self, error: pycurl.error | None) -> Received:
        """Return what the transfer brought, and why it ended."""
        curl = self.curl
        name, words, cut = self._end(error)
        return Received(
            head=bytes(self.head) if self._login is None else _answer_to_login(self.head),
            raw=bytes(self.body),
            failure=name,
            words=words,
            cut=cut,
            ip=None if self._via else curl.getinfo(pycurl.PRIMARY_IP) or None,
            ms=round(curl.getinfo(pycurl.TOTAL_TIME) * 1000),
            http2=curl.getinfo(pycurl.INFO_HTTP_VERSION) == pycurl.CURL_HTTP_VERSION_2_0,
        )

    def _end(self, error: pycurl.error | None) -> tuple[str, str, str | None]:
        if len(self.head) > self.limits.head_bytes:
            return "headers_too_long", f"over {self.limits.head_bytes} bytes of headers", None
        if error is None:
            return "", "", None
        if self.stop is not None:
            if self.stop.reason == "length":
                return "", "", "length"
            return self.stop.reason, self.stop.words, None
        code, words = error.args[0], str(error.args[-1])
        name = _FAILURES.get(code, f"curl_{code}")
        if words.startswith("Too large response headers"):
            name = "headers_too_long"
        if name == "disconnected" and "chunk" in words:
            name = "bad_reply"
        if words.startswith("CONNECT tunnel failed"):
            name = "proxy_failed" if words.endswith("407") else "proxy_refused"
        if name == "connect_failed" and (number := self.curl.getinfo(pycurl.OS_ERRNO)):
            words = f"{os.strerror(number)} ({words})"
        if name == "timeout" and not self.curl.getinfo(pycurl.PRETRANSFER_TIME):
            name = "connect_timeout"
        return name, words, _CUTS.get(name) if self.head else None


def _answer_to_login(heads: bytearray) -> bytes:
    """Return the heads without that of the challenge before them."""
    begins = heads.rfind(b"\r\n\r\nHTTP/")
    return bytes(heads if begins < 0 else heads[begins + 4 :])


class _Multi(pycurl.AsyncCurlMulti):  # type: ignore[misc]  # pycurl ships no types for it
    """A multi that knows when libcurl has given it up."""

    broken = False

    def _fail_all_pending(self, exc: BaseException) -> None:
        self.broken = True
        super()._fail_all_pending(exc)


class TransferPool:
    """Handles on one multi, in one event loop.

    Args:
        settings: How we ask.
        guard: Judges each address.
        connections: Connections that fit into the limit of descriptors.
    """

    def __init__(self, settings: HttpSettings, guard: AddressGuard, connections: int) -> None:
        self._settings = settings
        self._guard = guard
        self._limits = Limits(
            silence_ms=settings.timeout_ms,
            total_ms=max(0, settings.time_limit_s) * 1000,
            head_bytes=settings.headers_limit,
        )
        self._idle = min(_MOST_IDLE, max(1, connections // 2))
        self._free: list[Exchange] = []
        self._jar = _new_jar() if settings.cookie_jar else None
        self._multi = self._new_multi()

    @property
    def limits(self) -> Limits:
        """The limits of each exchange."""
        return self._limits

    def _new_multi(self) -> _Multi:
        multi = _Multi()
        # libcurl's own default, 4 × handles, would reuse nothing with more hosts than that.
        multi.setopt(pycurl.M_MAXCONNECTS, self._idle)
        return multi

    async def close(self) -> None:
        """Close all connections; transfers in flight are cancelled."""
        await self._multi.aclose()
        for exchange in self._free:
            exchange.curl.close()
        self._free.clear()

    async def perform(
        self,
        errand: Errand,
        connect_to: tuple[str, int],
        *,
        fresh: bool = False,
        via: Via | None = None,
    ) -> Received:
        """Do one exchange with one address; the arguments are those of `Exchange.prepare`."""
        exchange = self._free.pop() if self._free else self._new_exchange()
        try:
            exchange.prepare(errand, connect_to, fresh=fresh, via=via)
        except (pycurl.error, UnicodeError, ValueError) as error:
            return Received(failure="malformed_url", words=str(error))
        multi = await self._working()
        failed: pycurl.error | None = None
        try:
            await multi.perform(exchange.curl)
        except pycurl.error as error:
            failed = error
        if multi.broken:
            return Received(failure="client_failed", words=str(failed))
        received = exchange.received(failed)
        self._free.append(exchange)
        return received

    def _new_exchange(self) -> Exchange:
        exchange = Exchange(self._settings, self._guard, self._limits)
        if self._jar is not None:
            exchange.curl.setopt(pycurl.SHARE, self._jar)
            exchange.curl.setopt(pycurl.COOKIEFILE, "")  # none: but from now on cookies are kept
        return exchange

    async def _working(self) -> _Multi:
        if self._multi.broken:
            given_up, self._multi = self._multi, self._new_multi()
            await given_up.aclose()
        return self._multi


def _new_jar() -> pycurl.CurlShare:
    """Return a jar that all handles of a pool share; libcurl keeps each host's cookies apart."""
    jar = pycurl.CurlShare()
    jar.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
    return jar


def _request_target(target: Target, via: Via | None) -> bytes:
    """Return what stands in the request line: for a plain proxy the whole URL (RFC 9112, 3.2.2)."""
    if via is None or target.scheme != "http" or via.kind != pycurl.PROXYTYPE_HTTP:
        return target.path
    return b"http://" + target.host_header.encode() + target.path
