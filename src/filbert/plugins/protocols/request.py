"""What is sent to a web server: target, headers, and the head as bytes.

Guarantee: the path and query go out byte for byte as the page that linked spelt them
(`raw_url`), but for blanks and control bytes, which would break the request line and are escaped
as browsers escape them. No header value can break out of its line.
Source: RFC 9112 section 3; the User-Agent is Nutch's `name/version (description; url; email)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from email.utils import formatdate
from typing import TYPE_CHECKING
from zlib import crc32

import ada_url

from filbert.plugins.protocols.credentials import read_agents, read_cookies
from filbert.plugins.protocols.decoding import ACCEPT_ENCODING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from filbert.model.records import FetchRequest
    from filbert.settings.http import HttpSettings

__all__ = ["HeaderMaker", "Target", "head_bytes", "target_of", "user_agent"]

_PORTS = {"http": 80, "https": 443}
_AFTER_AUTHORITY = re.compile(
    rb"[a-z][a-z0-9+.-]*:/{2,}[^/?#\\]*([^#]*)", re.IGNORECASE | re.DOTALL
)
# What the URL normaliser gives nearly always, and what needs no URL parser to take apart.
_PLAIN = re.compile(r"(https?)://([a-z0-9.-]+)(?::([0-9]{1,5}))?(/[!-~]*)?")
_IPV4 = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
_BREAKING = re.compile(rb"[\x00-\x20\x7f]")
_LINE_BREAKS = re.compile(r"[\r\n\x00]+")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes.

    Attributes:
        scheme: http or https.
        host: As in the URL; IPv6 in brackets.
        port: Explicit or the scheme's.
        path: Path and query, as bytes of the request line.
    """

    scheme: str
    host: str
    port: int
    path: bytes

    @property
    def authority(self) -> str:
        """`host:port`, always with the port: what the address guard goes by."""
        return f"{self.host}:{self.port}"

    @property
    def host_header(self) -> str:
        """`host`, with the port only where it is not the scheme's."""
        return self.host if self.port == _PORTS[self.scheme] else self.authority


def target_of(request: FetchRequest) -> Target:
    """Return where a request goes; ValueError if its URL is no http(s) URL."""
    target = _parsed(request.url)
    if request.raw_url is None:
        return target
    found = _AFTER_AUTHORITY.match(request.raw_url)
    return replace(target, path=_path_bytes(found[1])) if found else target


def _parsed(text: str) -> Target:
    plain = _PLAIN.fullmatch(text)
    if plain is not None and (not plain[2][-1].isdigit() or _IPV4.fullmatch(plain[2])):
        scheme, host, port, path = plain.groups()
        path = (path or "/").partition("#")[0]
        return Target(scheme, host, int(port) if port else _PORTS[scheme], path.encode())
    url = ada_url.URL(text)
    scheme = url.protocol.rstrip(":")
    if scheme not in _PORTS or not url.hostname:
        raise ValueError(f"no http(s) URL: {text[:200]}")
    port = int(url.port) if url.port else _PORTS[scheme]
    return Target(
        scheme, url.hostname.lower(), port, _path_bytes((url.pathname + url.search).encode())
    )


def _path_bytes(rest: bytes) -> bytes:
    if not rest.startswith(b"/"):
        rest = b"/" + rest
    return _BREAKING.sub(lambda byte: b"%%%02X" % byte[0][0], rest)


def is_conditional(lines: Iterable[bytes]) -> bool:
    """Say whether header lines ask for a page only if it has changed."""
    return any(line.startswith((b"If-Modified-Since:", b"If-None-Match:")) for line in lines)


def user_agent(settings: HttpSettings) -> str:
    """Return the User-Agent that the agent settings make."""
    name = settings.agent_name or "filbert"
    product = f"{name}/{settings.agent_version}" if settings.agent_version else name
    about = "; ".join(
        part
        for part in (settings.agent_description, settings.agent_url, settings.agent_email)
        if part
    )
    return _one_line(f"{product} ({about})" if about else product)


class HeaderMaker:
    """Makes the headers of requests; the same list each time where nothing is conditional."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._cookies = read_cookies(settings.cookie_file)
        rotated = read_agents(settings.agent_rotate_file) if settings.agent_rotate else ()
        self._bases = [self._base(agent) for agent in rotated or (user_agent(settings),)]

    def _base(self, agent: str) -> list[bytes]:
        settings = self._settings
        named = {
            "User-Agent": agent,
            "Accept": settings.accept,
            "Accept-Encoding": ACCEPT_ENCODING,
            "Accept-Language": settings.accept_language,
            "Accept-Charset": settings.accept_charset,
        }
        return [f"{name}: {_one_line(value)}".encode() for name, value in named.items() if value]

    def lines(self, request: FetchRequest, host: str = "") -> list[bytes]:
        """Return the header lines of a request to a host, without Host."""
        extra = []
        cookie = request.metadata.get("Cookie") or self._cookies.get(host)
        if self._settings.cookie_header and cookie:
            extra.append(f"Cookie: {_one_line(cookie)}")
        if self._settings.if_modified_since and not request.robots:
            if request.modified_time is not None and request.modified_time > 0:
                date = formatdate(request.modified_time // 1000, usegmt=True)
                extra.append(f"If-Modified-Since: {date}")
            if request.etag:
                extra.append(f"If-None-Match: {_one_line(request.etag)}")
        base = self._bases[crc32(request.url.encode()) % len(self._bases) if self._bases[1:] else 0]
        return [*base, *(line.encode() for line in extra)] if extra else base


def head_bytes(target: Target, lines: list[bytes], version: str) -> bytes:
    """Return the head as it goes over the wire (HTTP/1.1 form, also for HTTP/2)."""
    first = b"GET %s HTTP/%s\r\nHost: %s\r\n" % (
        target.path,
        (b"1.0" if version == "1.0" else b"1.1"),
        target.host_header.encode(),
    )
    return first + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def _one_line(value: str) -> str:
    return _LINE_BREAKS.sub(" ", value).strip()
