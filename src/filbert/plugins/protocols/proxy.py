"""Through which proxy a host is asked, and what the address guard judges then.

Guarantee: a proxy that the settings name may be connected to, wherever it stands; a host that they
except is asked directly. The target is judged as it would be without a proxy, by the addresses that
its name has here (`proxy.dns = "local"`), before the proxy hears of it; who leaves names to
the proxy leaves the judging to it too, but for addresses written in URLs. The gap
between our answer and the proxy's: docs/decisions/0014.
Source: Nutch's `http.proxy.*`; RFC 9110 section 9.3.6 (CONNECT), RFC 1928 (SOCKS5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import pycurl

from filbert.errors import UserError
from filbert.plugins.protocols.heads import last_head, status_line

if TYPE_CHECKING:
    from filbert.plugins.protocols.reply import Received
    from filbert.plugins.protocols.request import Target
    from filbert.settings.proxy import ProxySettings

__all__ = ["Proxy", "Via", "is_address", "of_proxy"]

_TO_THE_PROXY = frozenset({"connect_failed", "connect_timeout"})
_LOGIN_WANTED = 407

_KINDS = {
    "http": pycurl.PROXYTYPE_HTTP,
    "socks4": pycurl.PROXYTYPE_SOCKS4,
    "socks5": pycurl.PROXYTYPE_SOCKS5,
}
_LEAVING_NAMES = {
    "http": pycurl.PROXYTYPE_HTTP,
    "socks4": pycurl.PROXYTYPE_SOCKS4A,
    "socks5": pycurl.PROXYTYPE_SOCKS5_HOSTNAME,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Via:
    """One proxy at one address, as a transfer uses it.

    Attributes:
        url: `address:port` of the proxy.
        authority: Its `host:port` in the settings: what the guard goes by.
        kind: libcurl's number of its protocol.
        login: `user:password`; empty: it asks for none.
        names: Names are left to it.
    """

    url: str
    authority: str
    kind: int
    login: str
    names: bool

    def hides(self, target: Target) -> bool:
        """Say whether the proxy itself finds the target's host, by its name or as it likes."""
        return self.names or (self.kind == pycurl.PROXYTYPE_HTTP and target.scheme == "http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """The proxy of the settings.

    Attributes:
        host: Its name or address.
        port: Its port.
        kind: http, socks4 or socks5.
        login: `user:password`, or empty.
        exceptions: Hosts asked directly: exact, or with `*` at one end.
        names: Names are left to the proxy.
    """

    host: str
    port: int
    kind: str
    login: str = ""
    exceptions: tuple[str, ...] = ()
    names: bool = False

    @classmethod
    def from_settings(cls, settings: ProxySettings) -> Self | None:
        """Return the proxy that the settings name; None: there is none.

        Raises:
            UserError: A password without a user, or a SOCKS4 proxy with one.
        """
        if not settings.host:
            return None
        if settings.password and not settings.username:
            raise UserError(
                "proxy.password is set, and proxy.username is not",
                hint="Name the user, or leave the password out.",
            )
        if settings.type == "socks4" and settings.password:
            raise UserError(
                "SOCKS4 knows users, but no passwords", hint='Set proxy.type = "socks5".'
            )
        user, password = settings.username, settings.password
        return cls(
            host=settings.host.strip("[]"),
            port=settings.port,
            kind=settings.type,
            login=f"{user}:{password}" if user else "",
            exceptions=tuple(one.lower() for one in settings.exceptions),
            names=settings.dns == "proxy",
        )

    @property
    def authority(self) -> str:
        """`host:port`, as the guard compares it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host.lower()}:{self.port}"

    def serves(self, host: str) -> bool:
        """Say whether a host is asked through it."""
        return not any(_fits(one, host.lower()) for one in self.exceptions)

    def at(self, address: str) -> Via:
        """Return it as it stands at one of its addresses."""
        bracketed = f"[{address}]" if ":" in address else address
        kinds = _LEAVING_NAMES if self.names else _KINDS
        return Via(
            url=f"{bracketed}:{self.port}",
            authority=self.authority,
            kind=kinds[self.kind],
            login=self.login,
            names=self.names,
        )


def _fits(pattern: str, host: str) -> bool:
    if pattern.startswith("*"):
        return host.endswith(pattern[1:])
    if pattern.endswith("*"):
        return host.startswith(pattern[:-1])
    return host == pattern


def is_address(host: str) -> bool:
    """Say whether a host of a URL is an address; WHATWG's parser leaves no other spelling."""
    return host.startswith("[") or host.replace(".", "").isdigit()


def of_proxy(received: Received, via: Via, target: Target) -> Received:
    """Return what came, with the proxy's own failures under names of their own."""
    if received.failure in _TO_THE_PROXY:
        return replace(received, failure="proxy_failed", words=f"{via.authority}: {received.words}")
    line = status_line(last_head(received.head)) if received.head else None
    if via.hides(target) and line is not None and line.status == _LOGIN_WANTED:
        return replace(
            received, failure="proxy_failed", words=f"{via.authority} wants another login (407)"
        )
    return received
