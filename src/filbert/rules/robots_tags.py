"""What a page says to robots about itself: `<meta name="robots">` and `X-Robots-Tag`.

Guarantee: total functions. A directive for every robot counts, one for another robot does not,
one for us does. Nutch reads the meta element alone.
Source: the Robots meta tag (HTML 4 appendix B.4), Google's X-Robots-Tag.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["NOTHING_SAID", "RobotsTags", "from_header", "from_meta", "said_to_us"]

_SPLIT = re.compile(r"[\s,;]+")
_AGENT = re.compile(r"\s*([A-Za-z][\w.-]*)\s*:\s*(.*)", re.DOTALL)
_WITH_VALUE = frozenset({
    "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """What a robot must not do with a page."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    unavailable_after: int | None = None  # epoch ms; from then on it is as noindex

    def __or__(self, other: RobotsTags) -> RobotsTags:
        """Return what either forbids; of two dates the earlier."""
        dates = [
            one.unavailable_after for one in (self, other) if one.unavailable_after is not None
        ]
        return RobotsTags(
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            self.noarchive or other.noarchive,
            min(dates, default=None),
        )

    def at(self, now: int) -> RobotsTags:
        """Return what holds at a time (epoch ms): a page past its date must not be indexed."""
        if self.unavailable_after is None or now < self.unavailable_after:
            return self
        return self | RobotsTags(noindex=True)


NOTHING_SAID = RobotsTags()


def from_meta(name: str, content: str, agents: Iterable[str]) -> RobotsTags:
    """Return what `<meta name= content=>` says, if it is for all robots or one of `agents`."""
    if name.strip().lower() not in {"robots", *(agent.lower() for agent in agents)}:
        return NOTHING_SAID
    return _directives(content)


def from_header(values: Iterable[str], agents: Iterable[str]) -> RobotsTags:
    """Return what X-Robots-Tag headers say: `noindex`, or `agent: noindex` for that agent."""
    said = NOTHING_SAID
    for text in said_to_us(values, agents):
        said |= _directives(text)
    return said


def said_to_us(values: Iterable[str], agents: Iterable[str]) -> Iterator[str]:
    """Yield the directives of X-Robots-Tag headers that are for every robot, or for us."""
    ours = {agent.lower() for agent in agents}
    for value in values:
        found = _AGENT.match(value)
        if found is None or found[1].lower() in _WITH_VALUE:
            yield value
        elif found[1].lower() in ours:
            yield found[2]


def _directives(text: str) -> RobotsTags:
    words = set(_SPLIT.split(text.lower()))
    everything = "none" in words
    return RobotsTags(
        noindex=everything or "noindex" in words,
        nofollow=everything or "nofollow" in words,
        noarchive="noarchive" in words,
        unavailable_after=_date(text) if "unavailable_after" in text.lower() else None,
    )


def _date(text: str) -> int | None:
    """Return the date after `unavailable_after:`, epoch ms; None: it is none that can be read.

    RFC 822, RFC 850 and ISO 8601 are written there; what follows a comma may be the rest of the
    date or another directive, so the longest that is a date is taken. Without a zone it is UTC.
    """
    rest = text[text.lower().index("unavailable_after") :].partition(":")[2]
    pieces = rest.split(",")
    for count in range(len(pieces), 0, -1):
        if (found := _instant(",".join(pieces[:count]).strip())) is not None:
            return found
    return None


def _instant(text: str) -> int | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        known = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return round(known.timestamp() * 1000)
    return None
