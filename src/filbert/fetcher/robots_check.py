"""Asking hosts for their robots.txt on the spot, to say what it means for URLs.

Guarantee: an origin is asked once, with the guard and the limits of a fetch; no two requests go to
a host closer than the delay, the redirects of a robots.txt included. A host that gives none is an
answer that says why, never an error.
Source: RFC 9309; Nutch `RobotRulesParser.main`.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from filbert.errors import UserError
from filbert.fetcher.robots_cache import RobotsCache
from filbert.model.records import FetchRequest, ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocol_factory import ProtocolFactory, mapping_from
from filbert.rules.robots_answer import RobotsMeaning, is_allowlisted, robots_meaning
from filbert.rules.robots_book import origin_of, robots_url
from filbert.rules.seeds import private_endpoint
from filbert.rules.this_machine import ThisMachine
from filbert.rules.urls import host_of, resolve, scheme_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from filbert.fetcher.robots_cache import RobotsEntry
    from filbert.model.clock import Clock
    from filbert.plugins.contracts import FetchProtocol
    from filbert.settings import Settings

__all__ = ["RobotsAnswer", "RobotsCheck", "answer_by_file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsAnswer:
    """What robots.txt says of a URL.

    Attributes:
        url: The URL.
        allowed: Whether a robot may fetch it; None: not yet, its host must be asked again.
        rule: The line that decides, with its number, or why there is none.
        group: The product token whose group was taken; empty: none is for us.
        robots_url: Where the file lies; empty: there is none to ask for.
        http_status: Of the answer; None: none came, or nothing was asked.
        crawl_delay_ms: What the file asks for; None: nothing.
        sitemaps: Those that it names.
        uses: What it says of the use of the page.
        protocol: The plugin that would fetch the URL; empty: there is none.
    """

    url: str
    allowed: bool | None
    rule: str
    group: str = ""
    robots_url: str = ""
    http_status: int | None = None
    crawl_delay_ms: int | None = None
    sitemaps: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    protocol: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """What is known of an origin: its rules, or why there are none; where they lie."""

    entry: RobotsEntry | None
    why: str
    url: str
    status: int | None


class RobotsCheck:
    """Asks, and answers. An async context manager.

    Args:
        settings: Agent names, meanings of statuses, delays.
        protocols: Those that may be asked.
        clock: What time it is.
        agents: Names to judge for; None: those of the settings. Requests keep the name of ours.
    """

    def __init__(
        self,
        settings: Settings,
        protocols: Iterable[FetchProtocol],
        *,
        clock: Clock,
        agents: Sequence[str] | None = None,
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._given = tuple(protocols)
        self._protocols = ProtocolFactory(())
        self._cache = RobotsCache(settings, _nothing, agents)
        self._found: dict[str, _Found] = {}
        self._asked: dict[str, float] = {}  # when each host's last request ended, in s
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open the protocols."""
        entered = [await self._stack.enter_async_context(one) for one in self._given]
        self._protocols = ProtocolFactory(entered, mapping_from(self._settings))
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close them."""
        await self._stack.aclose()

    async def answer(self, url: str) -> RobotsAnswer:
        """Return the answer to a URL.

        Raises:
            UserError: A robot without a name was to ask a host that is not this machine.
        """
        protocol = self._protocols.of(url)
        answer = await self._answer(url, protocol)
        return answer if protocol is None else replace(answer, protocol=protocol.name)

    async def _answer(self, url: str, protocol: FetchProtocol | None) -> RobotsAnswer:
        origin, host, scheme = origin_of(url), host_of(url), scheme_of(url)
        if protocol is None:
            why = f"no protocol fetches {scheme}: URLs" if scheme else "this is no absolute URL"
            return RobotsAnswer(url=url, allowed=None, rule=why)
        if not protocol.robots:
            return RobotsAnswer(url=url, allowed=True, rule=f"{scheme}: has no robots.txt")
        if not origin or not host:
            return RobotsAnswer(url=url, allowed=None, rule="this URL names no host")
        if is_allowlisted(host, self._settings.robots.allowlist):
            return RobotsAnswer(url=url, allowed=True, rule="robots.allowlist names the host")
        found = self._found.get(origin)
        allow = getattr(protocol, "allow_hosts", None)
        if allow is not None and (endpoint := private_endpoint(url)) is not None:
            allow([endpoint])  # the operator names it, as a seed does
        if found is None:
            found = self._found[origin] = await self._ask(origin, host)
        return _judged(url, found)

    async def _ask(self, origin: str, host: str) -> _Found:
        settings = self._settings
        if not settings.http.agent_name.strip() and not ThisMachine(settings.http.resolve).has(
            origin, host
        ):
            raise UserError(
                f"http.agent_name is not set, and {host} is not this machine",
                hint="Name your robot: -D http.agent_name=my-robot",
            )
        url = robots_url(origin)
        output = await self._request(url)
        for _ in range(settings.robots.redirect_max):
            target = self._target(url, output)
            if target is None:
                break
            url = target
            output = await self._request(url)
        entry = self._cache.learn(origin, url, output, self._clock.now_ms())
        why = "" if entry is not None and not entry.dead else self._why(origin, entry)
        return _Found(None if why else entry, why, url, output.http_status)

    def _why(self, origin: str, entry: RobotsEntry | None) -> str:
        return entry.dead if entry is not None else self._cache.failure(origin)

    def _target(self, url: str, output: ProtocolOutput) -> str | None:
        """Return where a robots.txt lies instead; None: here."""
        if robots_meaning(output, self._settings.robots) is not RobotsMeaning.FOLLOW:
            return None
        target = resolve(url, (output.location or b"").decode("utf-8", "replace").strip())
        return target if target and self._protocols.of(target) is not None else None

    async def _request(self, url: str) -> ProtocolOutput:
        loop = asyncio.get_running_loop()
        delay_s, host = self._settings.fetcher.server_delay_s, host_of(url)
        last = self._asked.get(host)
        if last is not None:
            await asyncio.sleep(max(0.0, last + delay_s - loop.time()))
        limit = self._settings.robots.size_limit
        request = FetchRequest(url=url, robots=True, content_limit=limit)
        try:
            protocol = self._protocols.of(url)
            assert protocol is not None, f"nobody fetches {url}"
            return await protocol.fetch(request)
        except Exception as error:  # noqa: BLE001 - a stranger's code must not end the command
            message = f"plugin_failed: {type(error).__name__}: {error}"
            return ProtocolOutput(status=ProtocolStatus.FAILED, message=message)
        finally:
            self._asked[host] = loop.time()


def answer_by_file(
    body: bytes, url: str, settings: Settings, agents: Sequence[str] | None = None
) -> RobotsAnswer:
    """Return what a robots.txt that is at hand says of a URL, to these robots."""
    cache = RobotsCache(settings, _nothing, agents)
    output = ProtocolOutput(status=ProtocolStatus.SUCCESS, http_status=200, body=body)
    entry = cache.learn(origin_of(url), robots_url(origin_of(url)), output, 0)
    return _judged(url, _Found(entry, "", "", None))


def _nothing(_origin: str) -> None:
    """Remember nothing."""


def _judged(url: str, found: _Found) -> RobotsAnswer:
    if found.entry is None:
        return RobotsAnswer(
            url=url,
            allowed=None,
            rule=found.why,
            robots_url=found.url,
            http_status=found.status,
        )
    rules, verdict = found.entry.rules, found.entry.judge(url)
    is_read = found.status is None or 200 <= found.status < 300
    return RobotsAnswer(
        url=url,
        allowed=verdict.allowed,
        rule=str(verdict) if is_read else f"HTTP {found.status} for robots.txt",
        group=rules.group,
        robots_url=found.url,
        http_status=found.status,
        crawl_delay_ms=rules.crawl_delay_ms,
        sitemaps=rules.sitemaps,
        uses=rules.uses(url),
    )
