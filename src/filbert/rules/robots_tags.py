"""What a page says to robots about itself: `<meta name="robots">` and `X-Robots-Tag`.

Guarantee: total functions. A directive for every robot counts, one for another robot does not,
one for us does. Nutch reads the meta element alone.
Source: the Robots meta tag (HTML 4 appendix B.4), Google's X-Robots-Tag.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NOTHING_SAID", "RobotsTags", "from_header", "from_meta"]

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

    def __or__(self, other: RobotsTags) -> RobotsTags:
        """Return what either forbids."""
        return RobotsTags(
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            self.noarchive or other.noarchive,
        )


NOTHING_SAID = RobotsTags()


def from_meta(name: str, content: str, agents: Iterable[str]) -> RobotsTags:
    """Return what `<meta name= content=>` says, if it is for all robots or one of `agents`."""
    if name.strip().lower() not in {"robots", *(agent.lower() for agent in agents)}:
        return NOTHING_SAID
    return _directives(content)


def from_header(values: Iterable[str], agents: Iterable[str]) -> RobotsTags:
    """Return what X-Robots-Tag headers say: `noindex`, or `agent: noindex` for that agent."""
    ours = {agent.lower() for agent in agents}
    said = NOTHING_SAID
    for value in values:
        found = _AGENT.match(value)
        if found is None or found[1].lower() in _WITH_VALUE:
            said |= _directives(value)
        elif found[1].lower() in ours:
            said |= _directives(found[2])
    return said


def _directives(text: str) -> RobotsTags:
    words = set(_SPLIT.split(text.lower()))
    everything = "none" in words
    return RobotsTags(
        noindex=everything or "noindex" in words,
        nofollow=everything or "nofollow" in words,
        noarchive="noarchive" in words,
    )
