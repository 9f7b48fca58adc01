"""The synthetic web as a `FetchProtocol` in memory, and a capture log in memory.

Guarantee: what `synthetic_server` serves for real is given here at virtual time: each request takes
`latency_ms` (and the page's own slowness) on the loop's clock, and is logged with its instants, so
that politeness is asserted to the millisecond. A host that does not exist fails as DNS does.
"""

from __future__ import annotations

import asyncio
from email.utils import formatdate
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.rules.outcome import http_protocol_status
from filbert.testing.synthetic_server import Seen
from filbert.testing.synthetic_web import SyntheticWeb, WebSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.model.clock import Clock
    from filbert.model.hosts import HostState
    from filbert.model.records import FetchRecord, FetchRequest, RobotsRequest
    from filbert.settings import Settings
    from filbert.testing.synthetic_web import SyntheticReply

__all__ = ["FakeCaptures", "FakeProtocol"]


class FakeProtocol:
    """Fetches from a synthetic web.

    Args:
        web: The web.
        clock: The loop's time, for the log.
        latency_ms: What every request takes at least.
        replies: Replies that go before the web's, by URL; None: no answer comes at all.
    """

    name = "fake"
    schemes = frozenset({"http", "https"})
    robots = True

    def __init__(
        self,
        web: SyntheticWeb,
        clock: Clock,
        *,
        latency_ms: int = 100,
        replies: Mapping[str, SyntheticReply | None] | None = None,
    ) -> None:
        self.seen: list[Seen] = []
        self.requests: list[FetchRequest] = []
        self._web = web
        self._clock = clock
        self._latency_ms = latency_ms
        self._replies = dict(replies or {})

    @classmethod
    def from_settings(cls, _settings: Settings, _folder: Path) -> Self:
        """Make one of an ordinary web."""
        from filbert.testing.virtual_time import LoopClock

        return cls(SyntheticWeb(WebSpec()), LoopClock())

    async def __aenter__(self) -> Self:
        """Open nothing."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close nothing."""

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        """Answer from the web."""
        start = self._clock.now_ms()
        self.requests.append(request)
        url = request.raw_url.decode() if request.raw_url else request.url
        headers = _conditions(request)
        reply = self._replies[url] if url in self._replies else self._web.reply(url, headers)
        known = url in self._replies
        await asyncio.sleep((self._latency_ms + (reply.delay_ms if reply else 0)) / 1000)
        parts = urlsplit(url)
        self.seen.append(
            Seen(
                start_ms=start,
                end_ms=self._clock.now_ms(),
                host=parts.netloc,
                path=parts.path or "/",
                status=reply.status if reply else 0,
            )
        )
        if reply is None:
            return _silence(parts.hostname or "", known=known)
        return _output(reply, self._latency_ms + reply.delay_ms)


class FakeCaptures:
    """Keeps captures in memory, in the order in which they came."""

    def __init__(self) -> None:
        self.records: list[FetchRecord] = []
        self.links: list[Mapping[str, object]] = []
        self.outputs: list[ProtocolOutput | None] = []
        self.hosts: dict[str, HostState] = {}
        self.kept: list[tuple[RobotsRequest, ProtocolOutput]] = []

    def append(
        self,
        record: FetchRecord,
        output: ProtocolOutput | None = None,
        links: Sequence[Mapping[str, object]] = (),
    ) -> None:
        """Keep one capture, or one failure."""
        self.records.append(record)
        self.outputs.append(output)
        self.links.extend(links)

    def keep(self, asked: RobotsRequest, output: ProtocolOutput) -> None:
        """Keep an answer that has no row."""
        self.kept.append((asked, output))

    def note_host(self, state: HostState) -> None:
        """Keep the state of a host."""
        self.hosts[state.host] = state


def _conditions(request: FetchRequest) -> dict[str, str]:
    found = {}
    if request.etag:
        found["if-none-match"] = request.etag
    if request.modified_time:
        found["if-modified-since"] = formatdate(request.modified_time // 1000, usegmt=True)
    return found


def _silence(host: str, *, known: bool) -> ProtocolOutput:
    message = "connect_timeout: no answer" if known else f"dns_failed: {host}: no such host"
    return ProtocolOutput(status=ProtocolStatus.EXCEPTION, message=message)


def _output(reply: SyntheticReply, response_ms: int) -> ProtocolOutput:
    headers = dict(reply.headers)
    status = http_protocol_status(reply.status)
    location = headers.get("Location")
    return ProtocolOutput(
        status=status,
        message=f"http_{reply.status}: refused" if status is ProtocolStatus.EXCEPTION else "",
        http_status=reply.status,
        response_head=f"HTTP/1.1 {reply.status} X\r\n\r\n".encode(),
        headers=reply.headers,
        raw_body=reply.body,
        body=reply.body,
        location=location.encode() if location else None,
        content_type=headers.get("Content-Type"),
        ip="127.0.0.1",
        protocol="http/1.1",
        response_ms=response_ms,
    )
