"""What is known of the robots.txt of each origin: unknown, asked, known, deferred, given up.

Guarantee: an origin is asked once at a time; deferrals are bounded in number and by the deadline
of the fetch. Times are epoch milliseconds; no I/O.
Source: RFC 9309 sections 2.3 and 2.4; Nutch `http.robots.503.defer.visits*` (its slot leak and
endless deferral at the time limit, NUTCH-2573, are not copied).
"""

from __future__ import annotations

import heapq
import re
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from filbert.rules.host_queue import RobotsErrand

if TYPE_CHECKING:
    from filbert.rules.host_queue import PolitenessPolicy

__all__ = ["OriginState", "RobotsBook", "origin_of", "robots_url"]

_AUTHORITY_END = re.compile(r"[/?#]")
_DEFAULT_PORTS = {"http": ":80", "https": ":443", "ftp": ":21"}


class OriginState(StrEnum):
    """How far we are with an origin's robots.txt."""

    UNKNOWN = "unknown"
    ASKED = "asked"
    KNOWN = "known"
    DEFERRED = "deferred"
    GIVEN_UP = "given_up"


class _Origin:
    __slots__ = ("deferrals", "key", "state", "until")

    def __init__(self, key: str) -> None:
        self.key = key
        self.state = OriginState.UNKNOWN
        self.until = 0
        self.deferrals = 0


class RobotsBook:
    """The states of all origins of a part.

    Args:
        policy: Deferral, and the deadline.
    """

    def __init__(self, policy: PolitenessPolicy) -> None:
        self._policy = policy
        self._origins: dict[str, _Origin] = {}
        self._deferred: list[tuple[int, str]] = []  # a heap: until, origin

    def state(self, origin: str, now: int) -> OriginState:
        """Return the state of an origin; known verdicts that are too old are unknown."""
        entry = self._origins.get(origin)
        if entry is None:
            return OriginState.UNKNOWN
        if entry.state is OriginState.KNOWN and now >= entry.until:
            return OriginState.UNKNOWN
        return entry.state

    def key_of(self, origin: str) -> str:
        """Return the queue of an origin."""
        return self._origins[origin].key

    def has(self, origin: str) -> bool:
        """Say whether anything was ever noted of an origin."""
        return origin in self._origins

    def enter(self, origin: str, key: str) -> None:
        """Note the queue of an origin, before what is remembered of it is noted."""
        self._entry(origin, key)

    def asked(self, origin: str, key: str) -> RobotsErrand:
        """Note that an origin is being asked; return what to ask for."""
        self._entry(origin, key).state = OriginState.ASKED
        return RobotsErrand(origin, robots_url(origin))

    def known(self, origin: str, *, until: int) -> str:
        """Note that the verdicts are known until `until`; return the key of the queue."""
        entry = self._origins[origin]
        entry.state, entry.until, entry.deferrals = OriginState.KNOWN, until, 0
        return entry.key

    def deferred(self, origin: str, now: int) -> int | None:
        """Note a failure to learn; return when to ask again, or None: it is to be given up."""
        entry = self._origins[origin]
        entry.deferrals += 1
        until = now + self._policy.defer_delay_ms
        deadline = self._policy.deadline
        if entry.deferrals > self._policy.defer_retries or (deadline and until >= deadline):
            return None
        entry.state, entry.until = OriginState.DEFERRED, until
        heapq.heappush(self._deferred, (until, origin))
        return until

    def due(self, now: int) -> list[RobotsErrand]:
        """Return what may be asked again, deferral being over; it is unknown until asked."""
        errands = []
        while (until := self.next_time()) is not None and until <= now:
            origin = heapq.heappop(self._deferred)[1]
            self._origins[origin].state = OriginState.UNKNOWN
            errands.append(RobotsErrand(origin, robots_url(origin)))
        return errands

    def next_time(self) -> int | None:
        """Return when the next deferral is over; None: nothing is deferred."""
        while self._deferred:
            until, origin = self._deferred[0]
            entry = self._origins[origin]
            if entry.state is OriginState.DEFERRED and entry.until == until:
                return until
            heapq.heappop(self._deferred)
        return None

    def take_deferred(self) -> list[str]:
        """Return the origins that are deferred, and forget when they are due."""
        origins = sorted({origin for _, origin in self._deferred})
        self._deferred.clear()
        return [one for one in origins if self._origins[one].state is OriginState.DEFERRED]

    def give_up(self, origin: str) -> str:
        """Note that an origin is not asked again in this fetch; return the key of its queue."""
        entry = self._origins[origin]
        entry.state = OriginState.GIVEN_UP
        return entry.key

    def _entry(self, origin: str, key: str) -> _Origin:
        entry = self._origins.get(origin)
        if entry is None:
            entry = self._origins[origin] = _Origin(key)
        return entry


@lru_cache(maxsize=4096)
def _known_origin(scheme: str, authority: str) -> str:
    scheme, authority = scheme.lower(), authority.rpartition("@")[2].lower()
    return f"{scheme}://{authority.removesuffix(_DEFAULT_PORTS.get(scheme, ':'))}"


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL, lower case, a default port left out; or empty."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return ""
    return _known_origin(scheme, _AUTHORITY_END.split(rest, maxsplit=1)[0])


def robots_url(origin: str) -> str:
    """Return where the robots.txt of an origin lies."""
    return f"{origin}/robots.txt"
