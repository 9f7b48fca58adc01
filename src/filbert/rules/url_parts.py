"""A URL taken apart as Nutch takes it apart: leniently, losing nothing.

Guarantee: `split(url)` gives the parts that `java.net.URL` gives, or None for what it calls
malformed; `join` puts them together as its `toExternalForm` does. No character is encoded,
decoded or dropped but the blanks at both ends. Keys of the crawldb are compared as text, so the
normaliser must see the same parts as Nutch's. What a browser makes of a link is `urls.resolve`.
Source: the contract of `java.net.URL` (RFC 2396), golden table `url-util`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address

__all__ = ["DEFAULT_PORTS", "KNOWN_SCHEMES", "UrlParts", "join", "split"]

KNOWN_SCHEMES = frozenset({"http", "https", "ftp", "file"})
"""Schemes that pages have; Nutch's plugin repository knows the same (and jar, not built)."""

DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}

_SCHEME = re.compile(r"([^\W\d_](?:[^\W_]|[.+-])*+):")
_CONTROLS_AND_BLANK = "".join(map(chr, range(0x21)))
_PORT = re.compile(r"([+-]?)(?=\d)0*+(\d*)")
_PORT_DIGITS = 10  # of the greatest int; Python refuses to read thousands of them
_CONTROL = re.compile(r"[\x00-\x1f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlParts:
    """The parts of a URL, as text. `port` is -1 where none is given.

    `authority` is None where the URL has no `//`; `query` and `fragment` are None where there is
    no `?` or `#`, and empty where nothing follows it.
    """

    scheme: str
    authority: str | None = None
    userinfo: str | None = None
    host: str = ""
    port: int = -1
    path: str = ""
    query: str | None = None
    fragment: str | None = None

    @property
    def file(self) -> str:
        """The path with the query."""
        return self.path if self.query is None else f"{self.path}?{self.query}"


def split(url: str, schemes: frozenset[str] = KNOWN_SCHEMES) -> UrlParts | None:
    """Return the parts of an absolute URL; None if it is none, or of another scheme."""
    text = url.strip(_CONTROLS_AND_BLANK)
    if text[:4].lower() == "url:":
        text = text[4:]
    found = _SCHEME.match(text)
    if found is None or (scheme := found[1].lower()) not in schemes:
        return None
    rest, hash_sign, fragment = text[found.end() :].partition("#")
    rest, mark, query = rest.partition("?")
    authority, path = _authority_and_path(rest)
    place = ("", None, -1) if authority is None else _host_and_port(authority)
    if place is None:
        return None
    host, userinfo, port = place
    return UrlParts(
        scheme=scheme,
        authority=authority,
        userinfo=userinfo,
        host=host,
        port=port,
        path=path,
        query=query if mark else None,
        fragment=fragment if hash_sign else None,
    )


def join(parts: UrlParts) -> str:
    """Return the URL as text."""
    text = f"{parts.scheme}:"
    if parts.authority:
        text += f"//{parts.authority}"
    text += parts.file
    return text if parts.fragment is None else f"{text}#{parts.fragment}"


def _authority_and_path(rest: str) -> tuple[str | None, str]:
    if not rest.startswith("//") or rest.startswith("////"):
        return None, rest
    authority, slash, path = rest[2:].partition("/")
    return authority, slash + path


def _host_and_port(authority: str) -> tuple[str, str | None, int] | None:
    if _CONTROL.search(authority):
        return None
    userinfo, at, host = authority.rpartition("@")
    if "@" in userinfo:
        return "", None, -1
    if host.startswith("["):
        host, bracket, tail = host.partition("]")
        if not bracket or not _is_ipv6(host[1:]) or (tail and not tail.startswith(":")):
            return None
        host, port = f"{host}]", _port(tail[1:])
    else:
        host, _, digits = host.partition(":")
        port = _port(digits)
    return None if port is None else (host, userinfo if at else None, port)


def _port(digits: str) -> int | None:
    """Return the port, -1 for none, None for nonsense; as Java's `Integer.parseInt` reads it."""
    if not digits:
        return -1
    found = _PORT.fullmatch(digits)
    if found is None or len(found[2]) > _PORT_DIGITS:
        return None
    port = int(found[1] + (found[2] or "0"))
    return port if -1 <= port < 2**31 else None


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text.partition("%")[0])
    except AddressValueError:
        return False
    return True
