"""Does what the queues decide: asks for a page or a robots.txt, keeps the answer, frees the slot.

Guarantee: whatever a server or a protocol plugin does becomes a record; only a disk that fails
leaves a worker as an error. A capture is kept before its slot is free. No page is asked for without
the verdict of its robots.txt. Every request has an end: beyond the protocol's own limits stands
one here, for the whole.
Source: Nutch `FetcherThread`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from filbert.fetcher.capture import ETAG, RobotsSaid, fetch_record, redirect_row, target_item
from filbert.model.records import FetchRequest, ProtocolOutput, RobotsRequest
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.publishing import Publishing
from filbert.rules.fetch_actions import AskRobots, Fetch
from filbert.rules.host_queue import Outcome
from filbert.rules.outcome import politeness_outcome, retry_after_ms
from filbert.rules.recent_targets import RecentTargets
from filbert.rules.redirects import RedirectVerdict, spellings
from filbert.rules.robots_answer import RobotsMeaning, is_allowlisted, robots_meaning
from filbert.rules.robots_book import origin_of
from filbert.rules.urls import host_of, resolve, scheme_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from filbert.fetcher.alarm import LoopTime
    from filbert.fetcher.keys import QueueKeys
    from filbert.fetcher.request_log import RequestLog
    from filbert.fetcher.robots_cache import RobotsCache, RobotsEntry
    from filbert.fetcher.tally import Tally
    from filbert.model.hosts import HostState
    from filbert.model.records import FetchItem, FetchRecord
    from filbert.plugins.contracts import Signature
    from filbert.plugins.protocol_factory import ProtocolFactory
    from filbert.plugins.url_chain import UrlChain
    from filbert.rules.politeness import HostQueues
    from filbert.rules.redirects import Redirect, RedirectJudge
    from filbert.settings import Settings

__all__ = ["Captures", "FetcherThread", "Hands"]

_WHOLE_LIMIT_S = 600.0  # of a request, where the settings have none
_GRACE_S = 30.0  # beyond the protocol's own limit


class Captures(Protocol):
    """What keeps captures (`store.captures.CaptureLog`)."""

    def append(
        self,
        record: FetchRecord,
        output: ProtocolOutput | None = None,
        links: Sequence[Mapping[str, object]] = (),
    ) -> None:
        """Keep one capture, or one failure."""
        ...

    def keep(self, asked: RobotsRequest, output: ProtocolOutput) -> None:
        """Keep an answer that has no row: that of a robots.txt."""
        ...

    def note_host(self, state: HostState) -> None:
        """Keep the state of a host."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """What all workers of a part share.

    `may_ask` says whether a URL of a host may be asked for: without a name, only this machine may.
    """

    settings: Settings
    time: LoopTime
    queues: HostQueues
    robots: RobotsCache
    captures: Captures
    protocols: ProtocolFactory
    redirects: RedirectJudge
    keys: QueueKeys
    tally: Tally
    signature: Signature | None = None
    chain: UrlChain | None = None
    may_ask: Callable[[str, str], bool] = lambda _url, _host: True
    log: RequestLog | None = None
    publishing: Publishing = field(default_factory=lambda: Publishing((), Counter()))


class FetcherThread:
    """Does one action after the other; stateless but for the redirect chains under way.

    Args:
        hands: What the workers of the part share.
    """

    def __init__(self, hands: Hands) -> None:
        self._hands = hands
        self._chains: dict[int, frozenset[tuple[str, bytes]]] = {}
        chosen = hands.settings.fetcher
        self._recent = RecentTargets(chosen.redirect_dedup_s * 1000, chosen.redirect_dedup_size)
        limit = hands.settings.http.time_limit_s
        self._limit_s = (limit if limit > 0 else _WHOLE_LIMIT_S) + _GRACE_S

    def forget(self, position: int) -> None:
        """Forget the redirect chain of a position that was dropped."""
        self._chains.pop(position, None)

    def origin(self, url: str) -> str:
        """Return whose robots.txt decides on a URL; empty: none does."""
        protocol = self._hands.protocols.of(url)
        if protocol is None or not protocol.robots:
            return ""
        allowlist = self._hands.settings.robots.allowlist
        return "" if allowlist and is_allowlisted(host_of(url), allowlist) else origin_of(url)

    def offer(self, item: FetchItem, key: str) -> None:
        """Take an item into the queue of `key`, with what is remembered of its robots.txt."""
        hands = self._hands
        now = hands.time.now_ms()
        origin = self.origin(item.url)
        if origin and not hands.queues.robots.has(origin):
            entry = hands.robots.get(origin, now)
            if entry is not None:
                hands.queues.robots.enter(origin, key)
                hands.queues.robots_known(
                    origin, now, until=entry.until, crawl_delay_ms=entry.crawl_delay_ms
                )
        address = hands.keys.address(item.host)
        hands.queues.offer(item, key, now, origin=origin, address=address)

    async def do(self, action: Fetch | AskRobots) -> None:
        """Do one action, to the end.

        Raises:
            DataError: The disk is full or fails.
        """
        if isinstance(action, AskRobots):
            await self._ask_robots(action)
        else:
            await self._fetch(action)

    # ------------------------------------------------------------------ pages

    async def _fetch(self, action: Fetch) -> None:
        item, key = action.item, action.key
        refused, rule = self._refusal(item)
        if refused is not None:
            self._refuse(item, key, refused, rule)
            return
        self._hands.publishing.tell("start", item.url, self._hands.time.now_ms())
        output = await self._ask(item.url, self._request(item, key))
        redirect = None
        if output.status in {ProtocolStatus.MOVED, ProtocolStatus.TEMP_MOVED}:
            redirect = self._judge(item, output)
        next_key = ""
        if redirect is not None and redirect.verdict is RedirectVerdict.FOLLOWED:
            assert redirect.url is not None
            next_key = await self._hands.keys.key_of(redirect.url)
        self._keep(item, key, output, redirect)
        if next_key and redirect is not None:
            self._chains[item.position] = self._seen(item)
            self.offer(target_item(item, redirect), next_key)
        else:
            self._chains.pop(item.position, None)

    def _refusal(self, item: FetchItem) -> tuple[ProtocolOutput | None, str]:
        """Return why an item is not asked for, and by which line of robots.txt; None: it is."""
        if self._hands.protocols.of(item.url) is None:
            message = f"no_protocol: no plugin fetches {scheme_of(item.url) or 'this'}: URLs"
            return ProtocolOutput(status=ProtocolStatus.PROTO_NOT_FOUND, message=message), ""
        origin = self.origin(item.url)
        return self._refusal_by_robots(item, origin) if origin else (None, "")

    def _refusal_by_robots(self, item: FetchItem, origin: str) -> tuple[ProtocolOutput | None, str]:
        hands = self._hands
        entry = hands.robots.latest(origin)
        if entry is None:
            message = f"robots_unknown: nothing is known of the robots.txt of {origin}"
            return ProtocolOutput(status=ProtocolStatus.WOULDBLOCK, message=message), ""
        if entry.dead:
            return ProtocolOutput(status=ProtocolStatus.EXCEPTION, message=entry.dead), ""
        if hands.queues.policy.is_too_long(entry.crawl_delay_ms):
            message = f"crawl_delay: robots.txt asks for {entry.crawl_delay_ms} ms"
            return ProtocolOutput(status=ProtocolStatus.ROBOTS_DENIED, message=message), ""
        asked = item.raw_url.decode("utf-8", "replace") if item.raw_url else item.url
        verdict = entry.judge(asked)
        if verdict.allowed:
            return None, ""
        message = f"robots_denied: {verdict}"
        denied = ProtocolOutput(status=ProtocolStatus.ROBOTS_DENIED, message=message)
        return denied, str(verdict)

    def _request(self, item: FetchItem, key: str) -> FetchRequest:
        queue = self._hands.queues.queue(key)
        datum = item.datum
        known = self._hands.settings.http.if_modified_since and item.hop == 0
        return FetchRequest(
            url=item.url,
            raw_url=item.raw_url,
            modified_time=datum.modified_time if known else None,
            etag=(datum.metadata.get(ETAG) or None) if known else None,
            metadata=datum.metadata,
            delay_ms=queue.effective_delay() if queue else None,
        )

    def _judge(self, item: FetchItem, output: ProtocolOutput) -> Redirect:
        redirect = self._hands.redirects.judge(
            item,
            output.location,
            temporary=output.status is ProtocolStatus.TEMP_MOVED,
            seen=self._seen(item),
        )
        if redirect.verdict is RedirectVerdict.FOLLOWED and redirect.url is not None:
            target = spellings(redirect.url, redirect.raw_url)
            if self._recent.repeats(target, self._hands.time.now_ms()):
                return replace(redirect, verdict=RedirectVerdict.DUPLICATE)
        return redirect

    def _seen(self, item: FetchItem) -> frozenset[tuple[str, bytes]]:
        """Return both forms of every URL of an item's chain, its own included."""
        before = self._chains.get(item.position, frozenset())
        return before | {spellings(item.url, item.raw_url)}

    def _refuse(self, item: FetchItem, key: str, output: ProtocolOutput, rule: str) -> None:
        """Keep why an item was not asked for; then free the slot."""
        now = self._hands.time.now_ms()
        record = fetch_record(item, output, now, robots=RobotsSaid(rule))
        self._hands.captures.append(record)
        self._hands.tally.captured(record, output, now)
        self._tell_end(record, now)
        self._say(key, item.url, output, now)
        self._hands.queues.finished(key, now, Outcome.NOT_ASKED)
        self._chains.pop(item.position, None)

    def _keep(
        self, item: FetchItem, key: str, output: ProtocolOutput, redirect: Redirect | None
    ) -> None:
        """Keep an answer; then free the slot."""
        hands = self._hands
        now = hands.time.now_ms()
        said = RobotsSaid(uses=hands.robots.uses(self.origin(item.url), item.url))
        record = fetch_record(
            item, output, now, redirect=redirect, robots=said, signature=hands.signature
        )
        links: tuple[Mapping[str, object], ...] = ()
        if redirect is not None and redirect.verdict is RedirectVerdict.LINKED:
            links = (redirect_row(item, redirect, now),)
        hands.captures.append(record, output, links)
        hands.tally.captured(record, output, now)
        self._tell_end(record, now)
        self._say(key, item.url, output, now)
        hands.queues.finished(
            key, now, politeness_outcome(output), retry_after_ms=retry_after_ms(output, now)
        )

    def _tell_end(self, record: FetchRecord, now: int) -> None:
        publishing = self._hands.publishing
        if publishing:
            publishing.tell(
                "end",
                record.url,
                now,
                status=record.status.label,
                http_status=record.http_status,
                reason=record.reason,
            )

    def _say(self, key: str, url: str, output: ProtocolOutput, now: int) -> None:
        if self._hands.log is not None:
            self._hands.log.say(key, url, output, now)

    # ------------------------------------------------------------------ robots.txt

    async def _ask_robots(self, action: AskRobots) -> None:
        errand, key, hands = action.errand, action.key, self._hands
        queue = hands.queues.queue(key)
        request = FetchRequest(
            url=errand.url,
            robots=True,
            content_limit=hands.settings.robots.size_limit,
            delay_ms=queue.effective_delay() if queue else None,
        )
        output = await self._ask(errand.url, request)
        meaning = robots_meaning(output, hands.settings.robots)
        target = self._robots_target(action, output) if meaning is RobotsMeaning.FOLLOW else None
        target_key = await hands.keys.key_of(target) if target else ""
        now = hands.time.now_ms()
        if hands.settings.robots.store:
            hands.captures.keep(RobotsRequest(url=errand.url, fetch_time=now), output)
        unasked = meaning is RobotsMeaning.DEAD or output.archived is not None
        outcome = Outcome.NOT_ASKED if unasked else Outcome.ASKED
        hands.queues.finished(key, now, outcome, retry_after_ms=retry_after_ms(output, now))
        hands.tally.robots(meaning.value)
        self._say(key, errand.url, output, now)
        if target is not None:
            self._follow_robots(action, target, target_key, now)
            return
        entry = hands.robots.learn(errand.origin, errand.url, output, now)
        if entry is None:
            hands.queues.robots_deferred(errand.origin, now)
            return
        if not entry.dead:
            hands.captures.note_host(hands.robots.state(errand.origin, errand.url, output, now))
        self._robots_known(errand.origin, entry, now)

    def _robots_target(self, action: AskRobots, output: ProtocolOutput) -> str | None:
        """Return where a robots.txt lies instead; None: too far, or nowhere, which allows all."""
        errand = action.errand
        if errand.hop >= self._hands.settings.robots.redirect_max or output.location is None:
            return None
        target = resolve(errand.url, output.location.decode("utf-8", "replace").strip())
        if target is None or self._hands.protocols.of(target) is None:
            return None
        if not self._hands.may_ask(target, host_of(target)):
            return None
        return target.partition("#")[0]

    def _follow_robots(self, action: AskRobots, target: str, key: str, now: int) -> None:
        """Take what is known of the target's own robots.txt, or queue the request for it."""
        errand, hands = action.errand, self._hands
        other = origin_of(target)
        if target == f"{other}/robots.txt" and other != errand.origin:
            entry = hands.robots.get(other, now)
            if entry is not None and not entry.dead:
                hands.robots.share(errand.origin, entry)
                self._robots_known(errand.origin, entry, now)
                return
        further = errand._replace(url=target, hop=errand.hop + 1)
        address = hands.keys.address(host_of(target))
        hands.queues.robots_redirected(further, key, now, address=address)

    def _robots_known(self, origin: str, entry: RobotsEntry, now: int) -> None:
        self._hands.queues.robots_known(
            origin, now, until=entry.until, crawl_delay_ms=entry.crawl_delay_ms
        )

    # ------------------------------------------------------------------ the exchange

    async def _ask(self, url: str, request: FetchRequest) -> ProtocolOutput:
        """Ask a protocol; whatever goes wrong inside it is an output that says so."""
        protocol = self._hands.protocols.of(url)
        assert protocol is not None, f"nobody fetches {url}"
        limit_s = self._limit_s + float(getattr(protocol, "longer_s", 0.0))
        try:
            async with asyncio.timeout(limit_s):
                return await protocol.fetch(request)
        except TimeoutError:
            message = f"hung: protocol {protocol.name} did not end within {limit_s:g} s"
            return ProtocolOutput(status=ProtocolStatus.EXCEPTION, message=message)
        except Exception as error:  # noqa: BLE001 - a stranger's code must not end the part
            message = f"plugin_failed: protocol {protocol.name}: {type(error).__name__}: {error}"
            return ProtocolOutput(status=ProtocolStatus.FAILED, message=message)
