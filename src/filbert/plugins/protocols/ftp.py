"""The ftp protocol: files and folders of FTP servers, in the words of HTTP.

200 a file, or a folder as an HTML listing; 300 a folder that was asked for without its slash; 304
not changed since `modified_time` (MDTM); 401 login or reading refused; 404 missing.
Guarantees: `fetch` never raises for what a server does and always ends within `ftp.timeout_ms` of
silence and `http.time_limit_s` in all; every address is judged before a socket is opened, that of
the data connection too. robots.txt is asked for over FTP (RFC 9309 section 2.3), as Nutch does.
Source: Nutch's protocol-ftp (`Ftp`, `FtpResponse`, `FtpRobotRulesParser`); RFC 1738 section 3.2.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from email.utils import formatdate
from mimetypes import guess_type
from typing import TYPE_CHECKING, Self
from urllib.parse import quote_from_bytes, unquote, unquote_to_bytes

from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.connect_to import ConnectTo
from filbert.plugins.protocols.dns import Resolver
from filbert.plugins.protocols.ftp_transfer import FtpErrand, FtpPool, FtpReply
from filbert.plugins.protocols.guard import AddressGuard, raise_descriptor_limit
from filbert.plugins.protocols.http import ALLOWED_HOSTS_FILE
from filbert.plugins.protocols.listing_page import SAFE_IN_PATH, ListedEntry, listing_page
from filbert.rules.ftp_listing import parse_listing
from filbert.rules.url_parts import DEFAULT_PORTS, split

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from filbert.model.records import FetchRequest
    from filbert.rules.ftp_listing import FtpEntry
    from filbert.settings import Settings
    from filbert.settings.ftp import FtpSettings

__all__ = ["FtpProtocol"]

_UNLIMITED = 1 << 48
_MOST_ADDRESSES = 3
_BEFORE_REQUEST = frozenset({"connect_failed", "connect_timeout", "address_refused"})
_OURS = frozenset({"out_of_descriptors", "guard_failed"})
_TRY_LATER = frozenset({421, 425, 426, 450, 451, 452})
# Words by which servers say that they are full, though 530 means a wrong password.
_FULL = ("too many", "maximum", "limit", "try again", "busy")
_NOTHING_THERE = ("no file", "no such", "not found", "empty")
_FORBIDDEN = ("permission", "denied", "not allowed", "forbidden")


class FtpProtocol:
    """Fetches ftp URLs. An async context manager, entered once per event loop."""

    name = "ftp"
    schemes = frozenset({"ftp"})
    robots = True

    def __init__(self, settings: Settings, guard: AddressGuard) -> None:
        self._settings = settings.ftp
        self._http = settings.http
        self._threads = settings.fetcher.threads
        self._guard = guard
        self._connect_to = ConnectTo(settings.http.resolve)
        self._resolver: Resolver | None = None
        self._pool: FtpPool | None = None

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the plugin; UserError if an address or `http.resolve` entry is wrong."""
        guard = AddressGuard.from_settings(settings.http)
        guard.allow_hosts_of(folder / ALLOWED_HOSTS_FILE)
        return cls(settings, guard)

    def allow_hosts(self, entries: Iterable[str]) -> None:
        """Let the guard pass these `host:port`, whatever their addresses are."""
        self._guard.allow_hosts(entries)

    async def __aenter__(self) -> Self:
        """Open the pool and the resolver."""
        raise_descriptor_limit()
        self._pool = FtpPool(
            self._settings,
            self._guard,
            head_limit=self._http.headers_limit,
            threads=self._threads,
        )
        self._resolver = Resolver(self._settings.timeout_ms / 1000)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close all connections."""
        if self._pool is not None:
            await self._pool.close()
        if self._resolver is not None:
            await self._resolver.__aexit__(*exc)
        self._pool = self._resolver = None

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        """Fetch one file or folder; whatever happens is in the output."""
        try:
            target = _target(request, self._settings)
        except ValueError as error:
            return _failed("malformed_url", str(error))
        limit = self._settings.content_limit
        if request.content_limit is not None:
            limit = request.content_limit
        visit = _Visit(
            target=target,
            limit=limit if limit >= 0 else _UNLIMITED,
            since_ms=None if request.robots else request.modified_time,
            url=request.url,
            keep_partial=self._http.partial_truncated,
        )
        return await self._ask_addresses(visit)

    async def _ask_addresses(self, visit: _Visit) -> ProtocolOutput:
        """Ask the first address of the host that can be connected to."""
        assert self._resolver is not None, "used outside its context"
        host, port = self._connect_to.target(visit.target.host, visit.target.port)
        found = await self._resolver.resolve(host)
        if not found.addresses:
            return _failed("dns_failed", f"{host}: {found.error}")
        output = _failed("dns_failed", host)
        for address in found.addresses[:_MOST_ADDRESSES]:
            output = await self._visit(visit, (address, port))
            if output.message.partition(":")[0] not in _BEFORE_REQUEST:
                break
        return output

    async def _visit(self, visit: _Visit, connect_to: tuple[str, int]) -> ProtocolOutput:
        """Retrieve a file or list a folder; a file that is none may be a folder."""
        started = asyncio.get_running_loop().time()
        errand = self._errand(visit, connect_to)
        reply = await self._perform(errand, started)
        if visit.target.is_folder:
            return _of_folder(reply, visit)
        if reply.failure != "no_file" or reply.code in _TRY_LATER:
            return _of_file(reply, visit)
        looked = await self._perform(
            replace(errand, path=f"{errand.path}/", only_look=True, since_ms=None), started
        )
        if looked.failure:
            return _of_file(reply, visit)
        location = visit.url.partition("#")[0] + "/"
        return replace(_said(300, "", looked), location=location.encode())

    async def _perform(self, errand: FtpErrand, started: float) -> FtpReply:
        assert self._pool is not None, "used outside its context"
        total_s = self._http.time_limit_s
        if total_s > 0:
            left = total_s - (asyncio.get_running_loop().time() - started)
            errand = replace(errand, time_ms=max(1, round(left * 1000)))
        return await self._pool.perform(errand)

    def _errand(self, visit: _Visit, connect_to: tuple[str, int]) -> FtpErrand:
        target = visit.target
        return FtpErrand(
            authority=target.authority,
            connect_to=connect_to,
            path=target.path,
            user=target.user,
            password=target.password,
            since_ms=visit.since_ms,
            limit=visit.limit,
            time_ms=0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """Where a URL leads: host as in the URL, escaped path, login."""

    host: str
    port: int
    path: str
    user: str
    password: str

    @property
    def authority(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Visit:
    target: _Target
    limit: int
    since_ms: int | None
    url: str
    keep_partial: bool

    @property
    def name(self) -> bytes:
        """The path as bytes of the server's file system."""
        return unquote_to_bytes(self.target.path)


def _target(request: FetchRequest, settings: FtpSettings) -> _Target:
    """Return where to go; ValueError if it is no ftp URL, or would break out of a command."""
    parts = split(request.url)
    if parts is None or parts.scheme != "ftp" or not parts.host:
        raise ValueError(f"no ftp URL: {request.url[:200]}")
    if request.raw_url is not None and (asked := split(request.raw_url.decode("latin-1"))):
        path = unquote_to_bytes(asked.path.encode("latin-1"))
    else:
        path = unquote_to_bytes(parts.path)
    if any(byte < 0x20 or byte == 0x7F for byte in path):
        raise ValueError("control characters in the path")
    user, colon, password = (parts.userinfo or "").partition(":")
    return _Target(
        host=parts.host.lower(),
        port=DEFAULT_PORTS["ftp"] if parts.port == -1 else parts.port,
        path=quote_from_bytes(path, safe=SAFE_IN_PATH.replace(b";", b"")) or "/",
        user=unquote(user) if user else settings.username,
        password=unquote(password) if colon or user else settings.password,
    )


def _of_folder(reply: FtpReply, visit: _Visit) -> ProtocolOutput:
    """Return what listing a folder gave: its page, if it is one."""
    words = reply.words.lower()
    if reply.failure == "no_file" and any(word in words for word in _NOTHING_THERE):
        reply = replace(reply, failure="", words="")  # it could be entered, and holds nothing
    if reply.failure:
        return _unhappy(reply)
    entries = sorted(
        parse_listing(reply.body, time.time_ns() // 1_000_000), key=lambda entry: entry.name
    )
    page = listing_page(visit.name, map(_listed, entries), parent=visit.name != b"/")
    kept = page[: visit.limit]
    cut = reply.cut or ("length" if len(kept) < len(page) else None)
    return _document(reply, kept, "text/html; charset=utf-8", cut)


def _listed(entry: FtpEntry) -> ListedEntry:
    return ListedEntry(
        name=entry.name,
        is_folder=entry.is_folder,
        date=_date(entry.modified_ms),
        size="" if entry.size is None else str(entry.size),
    )


def _of_file(reply: FtpReply, visit: _Visit) -> ProtocolOutput:
    if reply.failure and not (visit.keep_partial and reply.cut):
        return _unhappy(reply)
    if reply.unchanged:
        return replace(_said(304, "", reply), headers=_headers(reply, None))
    content_type = guess_type(visit.name.decode("latin-1"))[0]
    return _document(reply, reply.body, content_type, reply.cut)


def _document(
    reply: FtpReply, body: bytes, content_type: str | None, cut: str | None
) -> ProtocolOutput:
    return replace(
        _said(200, "", reply),
        headers=_headers(reply, content_type),
        raw_body=body,
        body=body,
        content_type=content_type,
        truncated=cut,
    )


def _headers(reply: FtpReply, content_type: str | None) -> tuple[tuple[str, str], ...]:
    headers = []
    if date := _date(reply.modified_ms):
        headers.append(("Last-Modified", date))
    if content_type is not None:
        headers.append(("Content-Type", content_type))
    return tuple(headers)


def _date(modified_ms: int | None) -> str:
    """Return a time in the words of HTTP; "" if it is not known or no calendar has it."""
    if modified_ms is None:
        return ""
    try:
        return formatdate(modified_ms / 1000, usegmt=True)
    except (ValueError, OverflowError, OSError):
        return ""


def _unhappy(reply: FtpReply) -> ProtocolOutput:
    """Return what a failure means for the page."""
    words = reply.words.lower()
    is_full = any(word in words for word in _FULL)
    if reply.failure in _OURS:
        return replace(_failed(reply.failure, reply.words), status=ProtocolStatus.WOULDBLOCK)
    if reply.code in _TRY_LATER or (reply.failure == "login_denied" and is_full):
        return _failed("server_busy", reply.words, reply)
    if reply.failure == "login_denied":
        return _said(401, f"login_denied: {reply.words}", reply)
    if reply.failure in {"no_file", "no_folder"}:
        if any(word in words for word in _FORBIDDEN):
            return _said(401, f"unreadable: {reply.words}", reply)
        return _said(404, f"missing: {reply.words}", reply)
    return _failed(reply.failure, reply.words, reply)


_STATUSES = {
    200: ProtocolStatus.SUCCESS,
    300: ProtocolStatus.MOVED,
    304: ProtocolStatus.NOTMODIFIED,
    401: ProtocolStatus.ACCESS_DENIED,
    404: ProtocolStatus.NOTFOUND,
}


def _said(code: int, message: str, reply: FtpReply) -> ProtocolOutput:
    return ProtocolOutput(
        status=_STATUSES[code],
        http_status=code,
        message=message,
        ip=reply.ip,
        protocol="ftp",
        response_ms=reply.ms,
    )


def _failed(name: str, words: str, reply: FtpReply | None = None) -> ProtocolOutput:
    ip, ms = (reply.ip, reply.ms) if reply else (None, 0)
    message = f"{name}: {words}"
    return ProtocolOutput(status=ProtocolStatus.EXCEPTION, message=message, ip=ip, response_ms=ms)
