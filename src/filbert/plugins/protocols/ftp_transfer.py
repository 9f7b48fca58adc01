"""Exchanges with FTP servers over libcurl: log in, change folder, list or retrieve.

libcurl says QUIT and waits for the answer when it closes a control connection, which would stall
the event loop for as long as a server likes: so each transfer runs in a thread, and a handle is
kept per host and login for its connection's sake.
Guarantees: passive mode only, and the data connection goes to the address of the control
connection, whatever the server says (so no server can have us knock on another's door); the
address guard judges both; both are bounded in time and in bytes; no callback raises. A transfer
whose task was cancelled ends within a second or so, and its handle is not used again.
Source: RFC 959, 2428, 3659; docs/decisions/0006 for libcurl's traps.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pycurl
import structlog

from filbert.plugins.protocols.curl_sink import CurlSink
from filbert.plugins.protocols.guard import AddressGuard, Refusal

if TYPE_CHECKING:
    from filbert.settings.ftp import FtpSettings

__all__ = ["FtpErrand", "FtpPool", "FtpReply"]

_log = structlog.get_logger(__name__)

_MOST_IDLE = 256
_MOST_THREADS = 64
_WITHOUT_NAME = {8: "bad_reply"}  # CURLE_WEIRD_SERVER_REPLY has no name in pycurl
_FAILURES = {
    pycurl.E_URL_MALFORMAT: "malformed_url",
    pycurl.E_COULDNT_RESOLVE_HOST: "dns_failed",
    pycurl.E_COULDNT_CONNECT: "connect_failed",
    pycurl.E_REMOTE_ACCESS_DENIED: "no_folder",
    pycurl.E_FTP_WEIRD_PASS_REPLY: "bad_reply",
    pycurl.E_FTP_WEIRD_PASV_REPLY: "bad_reply",
    pycurl.E_FTP_WEIRD_227_FORMAT: "bad_reply",
    pycurl.E_FTP_CANT_GET_HOST: "bad_reply",
    pycurl.E_FTP_COULDNT_SET_TYPE: "bad_reply",
    pycurl.E_PARTIAL_FILE: "disconnected",
    pycurl.E_FTP_COULDNT_RETR_FILE: "no_file",
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_GOT_NOTHING: "empty_reply",
    pycurl.E_SEND_ERROR: "disconnected",
    pycurl.E_RECV_ERROR: "disconnected",
    pycurl.E_LOGIN_DENIED: "login_denied",
    pycurl.E_REMOTE_FILE_NOT_FOUND: "no_file",
    **_WITHOUT_NAME,
}
_CUTS = {"timeout": "time", "disconnected": "disconnect", "bad_reply": "disconnect"}
_SECRET = b"PASS "


@dataclass(frozen=True, slots=True, kw_only=True)
class FtpErrand:
    """One transfer.

    Attributes:
        authority: `host:port` of the URL: what the guard goes by.
        connect_to: Address and port.
        path: As in the URL, escaped; one that ends in a slash is a folder.
        user, password: For the login.
        since_ms: Retrieve it only if it has changed since, epoch ms.
        only_look: Go to the folder, and transfer nothing.
        limit: Most bytes kept.
        time_ms: Limit of the whole; 0: none.
    """

    authority: str
    connect_to: tuple[str, int]
    path: str
    user: str
    password: str
    since_ms: int | None = None
    only_look: bool = False
    limit: int
    time_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FtpReply:
    """What a transfer brought.

    Attributes:
        failure: Name of what went wrong; empty: nothing.
        words: The same in words; the server's last line, if it said one.
        code: FTP's own reply code, the last that was seen; 0: none.
        body: What came over the data connection.
        cut: length, time or disconnect, if it was cut.
        modified_ms: When the file was changed, epoch ms; None: the server did not say.
        unchanged: It was not retrieved, since it has not changed.
        ip: Address of the server.
        ms: Milliseconds of the whole.
    """

    failure: str = ""
    words: str = ""
    code: int = 0
    body: bytes = b""
    cut: str | None = None
    modified_ms: int | None = None
    unchanged: bool = False
    ip: str | None = None
    ms: int = 0


class _Transfer(CurlSink):
    """One handle, and what its present transfer has brought."""

    def __init__(self, settings: FtpSettings, guard: AddressGuard) -> None:
        super().__init__(guard)
        self._head_left = 0
        self._is_cancelled = False
        self.last = b""
        self.curl = pycurl.Curl()
        for option, value in _options(settings).items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.XFERINFOFUNCTION, self._on_progress)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_line)
        self.curl.setopt(pycurl.WRITEFUNCTION, self.on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self.on_socket)
        if settings.follow_talk:
            self.curl.setopt(pycurl.VERBOSE, 1)
            self.curl.setopt(pycurl.DEBUGFUNCTION, self._on_talk)

    def cancel(self) -> None:
        """Have the transfer end soon, from another thread."""
        self._is_cancelled = True

    def close(self) -> None:
        """Say goodbye, and wait for the answer a second at most."""
        self.curl.setopt(pycurl.FTP_RESPONSE_TIMEOUT, 1)
        self.curl.close()

    def run(self, errand: FtpErrand, head_limit: int) -> FtpReply:
        """Do one transfer, in the thread that this is called in."""
        try:
            self._prepare(errand, head_limit)
        except (pycurl.error, UnicodeError, ValueError) as error:
            return FtpReply(failure="malformed_url", words=str(error))
        failed: pycurl.error | None = None
        try:
            self.curl.perform()
        except pycurl.error as error:
            failed = error
        reply = self._reply(failed)
        if self._is_cancelled:
            self.close()
        return reply

    def _prepare(self, errand: FtpErrand, head_limit: int) -> None:
        self.body.clear()
        self.last, self.stop = b"", None
        self._authority = errand.authority
        self._room, self._head_left = errand.limit, head_limit
        address, port = errand.connect_to
        bracketed = f"[{address}]" if ":" in address else address
        since = errand.since_ms
        curl = self.curl
        curl.setopt(pycurl.URL, f"ftp://{errand.authority}{errand.path}")
        curl.setopt(pycurl.CONNECT_TO, [f"{errand.authority}:{bracketed}:{port}"])
        curl.setopt(pycurl.USERNAME, errand.user)
        curl.setopt(pycurl.PASSWORD, errand.password)
        curl.setopt(pycurl.TIMEOUT_MS, errand.time_ms)
        curl.setopt(pycurl.NOBODY, int(errand.only_look))
        is_conditional = since is not None
        curl.setopt(
            pycurl.TIMECONDITION,
            pycurl.TIMECONDITION_IFMODSINCE if is_conditional else pycurl.TIMECONDITION_NONE,
        )
        curl.setopt(pycurl.TIMEVALUE, 0 if since is None else since // 1000)

    def _on_progress(self, *_bytes: int) -> int:
        return int(self._is_cancelled)

    def _on_line(self, line: bytes) -> int | None:
        self._head_left -= len(line)
        if self._head_left < 0:
            self.stop = Refusal("headers_too_long", "the server talks without end")
            return 0
        if line[:3].isdigit():
            self.last = line
        return None

    def _on_talk(self, kind: int, text: bytes) -> None:
        side = {pycurl.INFOTYPE_HEADER_IN: "server", pycurl.INFOTYPE_HEADER_OUT: "we"}.get(kind)
        if side is None:
            return
        said = _SECRET + b"***" if text.startswith(_SECRET) else text
        line = said.decode("utf-8", "replace").strip()
        _log.info("ftp.talk", host=self._authority, side=side, line=line)

    def _reply(self, error: pycurl.error | None) -> FtpReply:
        """Return what the transfer brought, and why it ended."""
        curl = self.curl
        failure, words, cut = self._end(error)
        modified = curl.getinfo(pycurl.INFO_FILETIME)
        return FtpReply(
            failure=failure,
            words=words,
            code=int(self.last[:3] or 0),
            body=bytes(self.body),
            cut=cut,
            modified_ms=modified * 1000 if modified >= 0 else None,
            unchanged=error is None and bool(curl.getinfo(pycurl.CONDITION_UNMET)),
            ip=curl.getinfo(pycurl.PRIMARY_IP) or None,
            ms=round(curl.getinfo(pycurl.TOTAL_TIME) * 1000),
        )

    def _end(self, error: pycurl.error | None) -> tuple[str, str, str | None]:
        if error is None:
            return "", "", None
        if self.stop is not None:
            if self.stop.reason == "length":
                return "", "", "length"
            return self.stop.reason, self.stop.words, None
        code, words = error.args[0], str(error.args[-1])
        name = _FAILURES.get(code, f"curl_{code}")
        if name == "timeout" and not self.curl.getinfo(pycurl.CONNECT_TIME):
            name = "connect_timeout"
        said = self.last.decode("utf-8", "replace").strip()
        return name, said or words, _CUTS.get(name) if self.body else None


class FtpPool:
    """Handles, each with its own control connection, and the threads that they work in.

    Args:
        settings: How we ask.
        guard: Judges each address.
        head_limit: Most bytes that a server may say on the control connection in one transfer.
        threads: Transfers at once, at most.
    """

    def __init__(
        self, settings: FtpSettings, guard: AddressGuard, *, head_limit: int, threads: int
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._head_limit = head_limit
        self._threads = ThreadPoolExecutor(min(threads, _MOST_THREADS), "ftp")
        self._idle: OrderedDict[str, _Transfer] = OrderedDict()

    async def close(self) -> None:
        """Close all connections; transfers in flight end within a second or so."""
        closing = [self._threads.submit(transfer.close) for transfer in self._idle.values()]
        self._idle.clear()
        for one in closing:
            await asyncio.wrap_future(one)
        self._threads.shutdown(wait=False)

    async def perform(self, errand: FtpErrand) -> FtpReply:
        """Do one transfer; whatever happens is in the reply."""
        key = f"{errand.user}@{errand.authority}"
        transfer = self._idle.pop(key, None) or _Transfer(self._settings, self._guard)
        try:
            reply = await asyncio.get_running_loop().run_in_executor(
                self._threads, transfer.run, errand, self._head_limit
            )
        except asyncio.CancelledError:
            transfer.cancel()
            self._threads.submit(transfer.close)  # fails while it runs; then it closes itself
            raise
        if key in self._idle:
            self._threads.submit(transfer.close)
        else:
            self._idle[key] = transfer
        if len(self._idle) > _MOST_IDLE:
            self._threads.submit(self._idle.popitem(last=False)[1].close)
        return reply


def _options(settings: FtpSettings) -> dict[int, object]:
    silence_s = max(1, -(-settings.timeout_ms // 1000))
    return {
        pycurl.NOSIGNAL: 1,
        pycurl.NOPROGRESS: 0,
        pycurl.PROTOCOLS: pycurl.PROTO_FTP,
        pycurl.PROXY: "",  # the environment's proxy would be a surprise
        pycurl.FTP_FILEMETHOD: pycurl.FTPMETHOD_SINGLECWD,
        pycurl.FTP_SKIP_PASV_IP: 1,  # libcurl's default, and not to be left to it
        pycurl.OPT_FILETIME: 1,
        pycurl.DNS_CACHE_TIMEOUT: 0,
        pycurl.MAXCONNECTS: 1,
        pycurl.CONNECTTIMEOUT_MS: settings.timeout_ms,
        pycurl.FTP_RESPONSE_TIMEOUT: silence_s,
        pycurl.LOW_SPEED_LIMIT: 1,
        pycurl.LOW_SPEED_TIME: silence_s,
        pycurl.FORBID_REUSE: int(not settings.keep_connection),
        pycurl.MAXAGE_CONN: max(1, settings.server_timeout_ms // 1000),
    }
