"""The robots.txt of each origin: what was answered, the rules read out of it, until when it holds.

Guarantee: bounded memory: rules that were not used for long are read again from what is remembered
of the origin (journal, hostdb), and asked for again only when they are too old. An entry answers
without waiting.
Source: Nutch `HttpRobotRulesParser`; RFC 9309 section 2.4.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.model.hosts import HostState
from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.rules.plural import count_of
from filbert.rules.robots import RobotsRules, parse_robots
from filbert.rules.robots_answer import RobotsMeaning, robots_meaning
from filbert.rules.robots_book import robots_url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from filbert.rules.robots import RobotsVerdict
    from filbert.settings import Settings

__all__ = ["RobotsCache", "RobotsEntry"]

_MOST_ENTRIES = 20_000
_DEAD_FOR_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsEntry:
    """What holds for an origin.

    Attributes:
        rules: What it allows.
        until: When it must be asked again, epoch ms.
        dead: Why the host cannot be asked at all; empty: it can.
        sitemaps, crawl_delay_ms: As the file says.
    """

    rules: RobotsRules
    until: int
    dead: str = ""

    @property
    def crawl_delay_ms(self) -> int | None:
        """The delay that the file asks for, in ms."""
        return self.rules.crawl_delay_ms

    def judge(self, url: str) -> RobotsVerdict:
        """Return the verdict on a URL."""
        return self.rules.judge(url)


class RobotsCache:
    """The entries of a part.

    Args:
        settings: Agent names, what statuses mean, how long an answer is believed.
        remembered: What is known of an origin from earlier.
        agents: Names to judge for; None: those of the settings.
    """

    def __init__(
        self,
        settings: Settings,
        remembered: Callable[[str], HostState | None],
        agents: Sequence[str] | None = None,
    ) -> None:
        self._robots = settings.robots
        self._agents = agents or settings.http.robot_names()
        self._remembered = remembered
        self._entries: OrderedDict[str, RobotsEntry] = OrderedDict()
        self._has_uses = False
        self._failures: OrderedDict[str, tuple[str, int]] = OrderedDict()  # words, tries

    def get(self, origin: str, now: int) -> RobotsEntry | None:
        """Return the entry of an origin; None if it must be asked."""
        entry = self.latest(origin)
        return None if entry is None or now >= entry.until else entry

    def latest(self, origin: str) -> RobotsEntry | None:
        """Return the last known entry of an origin, however old; None if there is none."""
        entry = self._entries.get(origin)
        if entry is None and (state := self._remembered(origin)) is not None:
            entry = self._recalled(origin, state)
        if entry is not None:
            self._keep(origin, entry)
        return entry

    def learn(self, origin: str, url: str, output: ProtocolOutput, now: int) -> RobotsEntry | None:
        """Take an answer (the last of a chain); return None if the host must be deferred.

        A host that answers, and sends us on for its robots.txt to one that cannot be asked, is not
        dead itself: its file is out of reach for now.

        Args:
            origin: Whose robots.txt.
            url: Where the answer came from.
            output: The answer.
            now: The time.
        """
        meaning = robots_meaning(output, self._robots)
        led_on = url != robots_url(origin)
        if meaning is RobotsMeaning.DEFER or (meaning is RobotsMeaning.DEAD and led_on):
            self._failed(origin, f"{_words(output)}, from {url}" if led_on else _words(output))
            return None
        self._failures.pop(origin, None)
        if meaning is RobotsMeaning.DEAD:
            rules = RobotsRules.forbid_all()
            entry = RobotsEntry(rules=rules, until=now + _DEAD_FOR_MS, dead=output.message)
        else:
            rules = self._rules(meaning, output.body, origin)
            entry = RobotsEntry(rules=rules, until=now + self._robots.cache_s * 1000)
        self._keep(origin, entry)
        return entry

    def uses(self, origin: str, url: str) -> tuple[str, ...]:
        """Return what the robots.txt of an origin says of the use of a page."""
        if not self._has_uses:
            return ()
        entry = self.latest(origin)
        return () if entry is None else entry.rules.uses(url)

    def failure(self, origin: str) -> str:
        """Return why the robots.txt of an origin could not be had, in words; empty: it was."""
        why, tries = self._failures.get(origin, ("", 0))
        times = count_of(tries, "try", "tries")
        return f"robots.txt of {origin} could not be had: {why} ({times})" if why else ""

    def share(self, origin: str, entry: RobotsEntry) -> None:
        """Let an origin have the entry of another, to whose robots.txt it redirected."""
        self._keep(origin, entry)

    def state(self, origin: str, url: str, output: ProtocolOutput, now: int) -> HostState:
        """Return what is to be remembered of an answer; a body only if rules are read from it."""
        is_file = robots_meaning(output, self._robots) is RobotsMeaning.PARSE
        return HostState(
            host=origin,
            robots_url=url,
            robots_time=now,
            robots_status=output.http_status,
            robots_body=output.body[: self._robots.size_limit] if is_file else None,
        )

    def _failed(self, origin: str, why: str) -> None:
        self._failures[origin] = (why, self._failures.get(origin, ("", 0))[1] + 1)
        if len(self._failures) > _MOST_ENTRIES:
            self._failures.popitem(last=False)

    def _recalled(self, origin: str, state: HostState) -> RobotsEntry | None:
        if state.robots_time is None or state.robots_status is None:
            return None
        output = ProtocolOutput(
            status=ProtocolStatus.SUCCESS,
            http_status=state.robots_status,
            body=state.robots_body or b"",
        )
        meaning = robots_meaning(output, self._robots)
        if meaning is RobotsMeaning.DEFER:
            return None
        rules = self._rules(meaning, output.body, origin)
        return RobotsEntry(rules=rules, until=state.robots_time + self._robots.cache_s * 1000)

    def _rules(self, meaning: RobotsMeaning, body: bytes, origin: str) -> RobotsRules:
        # Wherever the file lies, it speaks of the origin that was asked (RFC 9309, 2.3.1.2).
        url = robots_url(origin)
        if meaning is RobotsMeaning.FORBID:
            return RobotsRules.forbid_all()
        if meaning is not RobotsMeaning.PARSE:
            return RobotsRules.allow_all()
        rules = parse_robots(body, self._agents, url=url, size_limit=self._robots.size_limit)
        self._has_uses = self._has_uses or rules.has_uses
        return rules

    def _keep(self, origin: str, entry: RobotsEntry) -> None:
        self._entries[origin] = entry
        self._entries.move_to_end(origin)
        while len(self._entries) > _MOST_ENTRIES:
            self._entries.popitem(last=False)


def _words(output: ProtocolOutput) -> str:
    if output.http_status is not None and not output.truncated:
        return f"HTTP {output.http_status}"
    code, _, words = output.message.partition(": ")
    return words.partition(" (")[0] or code or output.status.label
