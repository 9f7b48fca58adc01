"""The browser protocol: pages as they are after their scripts have run.

A page is asked for once, by the http protocol, as any other; if it is HTML and needs a browser, a
Chromium is given that answer and renders it. Everything that the page then loads goes through the
http protocol as well, so that the address guard, proxies, limits and `http.resolve` hold for it;
the browser itself never opens a connection.
Guarantees: robots.txt decides on the page as ever; redirects are not followed here; only GET
requests of the kinds in `browser.resources` are answered, so many and so large as the settings say;
a page cannot lead elsewhere. If the browser fails, the page is kept as the server sent it, and the
message says `not_rendered`. `fetch` never raises for what a server or the browser does.
What is kept: the server's own answer (a `response` record), and behind it the rendered document (a
`conversion` record), which is what is parsed.
Source: Nutch's protocol-selenium, protocol-htmlunit; docs/decisions/0016-browser.md.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from filbert.model.records import FetchRequest
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocol_factory import said_mapping
from filbert.plugins.protocols.chromium import MOST_OVERHEAD_S, Answer, BrowserError, Chromium
from filbert.plugins.protocols.http import HttpProtocol
from filbert.plugins.protocols.request import user_agent
from filbert.rules.mime import type_of
from filbert.rules.needs_browser import needs_browser
from filbert.rules.this_machine import ThisMachine
from filbert.rules.urls import host_of, place_of, resolve, scheme_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from filbert.model.records import ProtocolOutput
    from filbert.plugins.protocols.chromium import Asked
    from filbert.plugins.protocols.dns import Resolution
    from filbert.rules.protocols import ProtocolMapping
    from filbert.settings import Settings
    from filbert.settings.browser import BrowserSettings

__all__ = ["BrowserProtocol"]

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TYPE = "text/html; charset=utf-8"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_CACHED = frozenset({"script", "stylesheet"})
_MB = 1 << 20
_MOST_CHARACTERS = 64 * _MB  # of a document, where the settings set no limit
# Headers that speak of bytes or of a connection that the browser does not see.
_NOT_PASSED = frozenset(
    {"content-encoding", "content-length", "transfer-encoding", "connection", "alt-svc", "refresh"}
)


class BrowserProtocol:
    """Fetches and renders http and https URLs. An async context manager, entered once per loop."""

    name = "browser"
    schemes = frozenset({"http", "https"})
    robots = True
    only_mapped = True

    def __init__(self, settings: Settings, http: HttpProtocol, mapping: ProtocolMapping) -> None:
        self._settings = settings.browser
        # All slots of a part may wait for the few pages that are rendered at once.
        waiting = settings.fetcher.threads / settings.browser.pages + 1
        self.longer_s = waiting * (settings.browser.page_limit_s + MOST_OVERHEAD_S)
        self._limit = settings.http.content_limit
        self._http = http
        self._mapped = {host for host, name in mapping.hosts.items() if name == self.name}
        self._all_mapped = self.name in mapping.schemes.values()
        self._agent = user_agent(settings.http)
        self._named = bool(settings.http.agent_name.strip())
        self._home = ThisMachine(settings.http.resolve)
        self._cache = _Cache(settings.browser.cache_mb * _MB)
        self._chromium: Chromium | None = None

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the plugin; no browser is started before a page needs it."""
        return cls(settings, HttpProtocol.from_settings(settings, folder), said_mapping(settings))

    def allow_hosts(self, entries: Iterable[str]) -> None:
        """Let the guard pass these `host:port`, whatever their addresses are."""
        self._http.allow_hosts(entries)

    async def __aenter__(self) -> Self:
        """Open the http protocol."""
        await self._http.__aenter__()
        self._chromium = Chromium(self._settings, self._agent)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """End the browser, close all connections."""
        if self._chromium is not None:
            await self._chromium.close()
        self._chromium = None
        await self._http.__aexit__(*exc)

    async def resolve(self, host: str) -> Resolution:
        """Return the addresses that requests to a host go to: what a queue by address is for."""
        return await self._http.resolve(host)

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        """Fetch one URL, and render it if it is a page that needs it."""
        output = await self._http.fetch(request)
        if request.robots or not self._is_to_be_rendered(request.url, output):
            return output
        assert self._chromium is not None, "used outside its context"
        visit = _Visit(self, self._settings, request, output)
        try:
            most = _MOST_CHARACTERS if self._limit < 0 else self._limit + 1
            document, cut = await self._chromium.render(request.url, visit.answer, most=most)
        except BrowserError as error:
            return replace(output, message=f"not_rendered: {error}")
        return _rendered(output, document, self._chromium.version, limit=self._limit, cut=cut)

    def _is_to_be_rendered(self, url: str, output: ProtocolOutput) -> bool:
        if output.status is not ProtocolStatus.SUCCESS or not output.body:
            return False
        declared = (output.content_type or "").partition(";")[0].strip().lower()
        if (declared or type_of(None, url, output.body)) not in _HTML:
            return False
        if self._all_mapped or host_of(url) in self._mapped or place_of(url)[1] in self._mapped:
            return True
        return bool(needs_browser(output.body, least_text=self._settings.least_text))

    def may_load(self, url: str) -> bool:
        """Say whether a page may load a URL: of this machine alone, if the robot has no name."""
        if scheme_of(url) not in self.schemes:
            return False
        return self._named or self._home.has(url, host_of(url))

    async def load(self, url: str, *, limit: int, delay_ms: int | None) -> ProtocolOutput:
        """Ask for what a page loads."""
        asked = FetchRequest(url=url, content_limit=limit, delay_ms=delay_ms)
        return await self._http.fetch(asked)

    @property
    def kept(self) -> _Cache:
        """What earlier pages loaded."""
        return self._cache


class _Visit:
    """Answers the requests of one page."""

    def __init__(
        self,
        protocol: BrowserProtocol,
        settings: BrowserSettings,
        request: FetchRequest,
        page: ProtocolOutput,
    ) -> None:
        self._protocol = protocol
        self._request = request
        self._page = page
        self._requests = settings.max_requests
        self._bytes = settings.max_mb * _MB
        self._kinds = frozenset(settings.resources)

    async def answer(self, asked: Asked) -> Answer | None:
        """Return the answer to a request; None refuses it."""
        if asked.kind == "page":
            return _answer(self._page)
        if asked.method != "GET" or asked.kind not in self._kinds:
            return None
        url = asked.url.partition("#")[0]
        cached = self._protocol.kept.get(url)
        if cached is not None:
            return cached
        output = await self._ask(url)
        if output is None or output.http_status is None:
            return None
        answer = _answer(output)
        if asked.kind in _CACHED and output.status is ProtocolStatus.SUCCESS:
            self._protocol.kept.put(url, answer)
        return answer

    async def _ask(self, url: str) -> ProtocolOutput | None:
        """Ask for a URL, and where it leads; None: it may not be asked for."""
        for _ in range(_MOST_REDIRECTS):
            if self._requests <= 0 or self._bytes <= 0 or not self._protocol.may_load(url):
                return None
            self._requests -= 1
            delay_ms = self._request.delay_ms
            output = await self._protocol.load(url, limit=self._bytes, delay_ms=delay_ms)
            self._bytes -= len(output.body)
            if output.http_status not in _REDIRECTS:
                return output
            target = resolve(url, (output.location or b"").decode("utf-8", "replace").strip())
            if target is None:
                return output
            url = target
        return None


class _Cache:
    """Answers, the least recently used of which go first."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._answers: OrderedDict[str, Answer] = OrderedDict()

    def get(self, url: str) -> Answer | None:
        found = self._answers.get(url)
        if found is not None:
            self._answers.move_to_end(url)
        return found

    def put(self, url: str, answer: Answer) -> None:
        if url in self._answers or len(answer.body) > self._most:
            return
        self._answers[url] = answer
        self._size += len(answer.body)
        while self._size > self._most:
            self._size -= len(self._answers.popitem(last=False)[1].body)


def _answer(output: ProtocolOutput) -> Answer:
    headers = {name: value for name, value in output.headers if name.lower() not in _NOT_PASSED}
    return Answer(status=output.http_status or 200, headers=headers, body=output.body)


def _rendered(
    output: ProtocolOutput, document: str, version: str, *, limit: int, cut: bool
) -> ProtocolOutput:
    """Return the answer with the rendered document as its body, and itself beside it."""
    body = document.encode("utf-8", "replace")
    truncated = "time" if cut else None
    if 0 <= limit < len(body):
        body, truncated = body[:limit], "length"
    headers = tuple(pair for pair in output.headers if pair[0].lower() != "content-type")
    return replace(
        output,
        headers=(*headers, ("Content-Type", _TYPE)),
        response_head=_with_type(output.response_head),
        raw_body=body,
        body=body,
        content_type=_TYPE,
        truncated=truncated,
        unrendered=output,
        rendered_by=version,
    )


def _with_type(head: bytes) -> bytes:
    """Return the head with the type of the rendered document in place of the server's."""
    lines = [line.rstrip(b"\r") for line in head.rstrip(b"\r\n").split(b"\n")]
    kept = [line for line in lines if line.partition(b":")[0].strip().lower() != b"content-type"]
    return b"\r\n".join([*kept, b"Content-Type: " + _TYPE.encode(), b"", b""])
