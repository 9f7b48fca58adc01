"""Signs of a crawler trap that a URL bears itself: what no site needs, and traps grow.

Guarantee: pure, total, linear in the URL. A sign has a name that can be counted and evidence that a
person can check. What is no sign by itself (many pages of one shape) is not judged here.
Source: the traps that users of crawlers report (calendars to the year 7749, `//` growth, facets,
paths that repeat); Nutch's default rule against `/a/…/a/…/a/`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl

from filbert.rules.url_parts import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filbert.settings.traps import TrapsSettings

__all__ = ["TrapLimits", "TrapSign", "trap_sign"]

_LONGEST_PERIOD = 4
_YEAR = re.compile(r"(?<!\d)([1-9]\d{3})(?:[/_-](?:0?[1-9]|1[0-2])(?!\d)|$)")
_DATE_WORDS = re.compile(r"calendar|kalender|calendrier|event|agenda|month|archive|date|year|day")
_DATE_NAMES = frozenset({"year", "y", "yyyy", "date", "month", "m", "day", "d", "start", "from"})
_SHOWN = 80


class TrapSign(NamedTuple):
    """What is wrong with a URL: a name, and the evidence."""

    name: str
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapLimits:
    """What an ordinary site keeps within; see `settings/traps.py`."""

    repeats: int
    empty_segments: int
    depth: int
    parameters: int
    same_parameter: int
    first_year: int
    last_year: int

    @classmethod
    def from_settings(cls, settings: TrapsSettings) -> TrapLimits:
        """Return the limits of a crawl's settings."""
        return cls(
            repeats=settings.repeats,
            empty_segments=settings.empty_segments,
            depth=settings.depth,
            parameters=settings.parameters,
            same_parameter=settings.same_parameter,
            first_year=settings.first_year,
            last_year=settings.last_year,
        )


def trap_sign(url: str, limits: TrapLimits) -> TrapSign | None:
    """Return the first sign of a trap that a URL bears; None: none."""
    parts = split(url)
    if parts is None:
        return None
    segments = parts.path.split("/")[1:]
    return (
        _empty(segments, limits)
        or _repeating([one for one in segments if one], limits)
        or _deep(segments, limits)
        or _parameters(parts.query or "", limits)
        or _far_date(parts.path, parts.query or "", limits)
    )


def _empty(segments: Sequence[str], limits: TrapLimits) -> TrapSign | None:
    count = segments[:-1].count("")
    if count < limits.empty_segments:
        return None
    return TrapSign("empty_segments", f"{count} empty segments (`//`) in the path")


def _repeating(segments: Sequence[str], limits: TrapLimits) -> TrapSign | None:
    """Find the shortest run of segments that comes again and again, one behind the other."""
    for period in range(1, _LONGEST_PERIOD + 1):
        same = 0
        for place in range(period, len(segments)):
            same = same + 1 if segments[place] == segments[place - period] else 0
            times = same // period + 1
            if times >= limits.repeats:
                run = "/".join(segments[place - period + 1 : place + 1])
                return TrapSign("repeating_path", f"/{run[:_SHOWN]} comes {times} times in a row")
    return None


def _deep(segments: Sequence[str], limits: TrapLimits) -> TrapSign | None:
    if len(segments) <= limits.depth:
        return None
    return TrapSign("deep_path", f"{len(segments)} segments in the path")


def _parameters(query: str, limits: TrapLimits) -> TrapSign | None:
    if query.count("&") + 1 < min(limits.parameters, limits.same_parameter):
        return None
    names = Counter(name for name, _ in parse_qsl(query, keep_blank_values=True))
    if names.total() > limits.parameters:
        return TrapSign("many_parameters", f"{names.total()} parameters")
    name, times = max(names.items(), key=lambda one: one[1], default=("", 0))
    if times > limits.same_parameter:
        return TrapSign("many_parameters", f"{name[:_SHOWN]} stands {times} times in the query")
    return None


def _far_date(path: str, query: str, limits: TrapLimits) -> TrapSign | None:
    """Find a date that nobody writes about, where the URL speaks of dates."""
    found = [int(year) for year in _YEAR.findall(path) if _DATE_WORDS.search(path.lower())]
    for name, value in parse_qsl(query):
        if name.lower() in _DATE_NAMES or _DATE_WORDS.search(name.lower()):
            found += [int(year) for year in _YEAR.findall(value)]
    far = [year for year in found if not limits.first_year <= year <= limits.last_year]
    return TrapSign("far_date", f"a date in the year {far[0]}") if far else None
