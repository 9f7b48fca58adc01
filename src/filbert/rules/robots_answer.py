"""What the answer to a request for robots.txt means.

Guarantee: a table, held beside RFC 9309 section 2.3.1 and Nutch's `HttpRobotRulesParser`:

| answer | RFC 9309 | Nutch | here |
|---|---|---|---|
| 200 … 299 | parse | parse 200, others allow all | parse |
| 3xx | follow, 5 at least | follow, then allow all | follow, then allow all |
| 403 | may fetch all | `http.robots.403.allow` | `robots.allow_403` |
| 429 | (4xx) | defer, if that is on | defer, if that is on |
| other 4xx | may fetch all | allow all | allow all |
| 5xx | fetch nothing | defer, if that is on | defer, if that is on |
| no address, or forbidden | fetch nothing | allow all, not kept | the page fails, unasked |
| none: other cause | fetch nothing | allow all, not kept | defer, if that is on |
| 2xx that broke off | (unreachable) | allow all, not kept | defer, if that is on |

A host without an address, or one that the guard refuses, cannot be deferred with profit: its pages
are recorded as failed without a request, so that updatedb retries and in the end gives them up.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from filbert.model.statuses import ProtocolStatus

if TYPE_CHECKING:
    from filbert.model.records import ProtocolOutput
    from filbert.settings.robots import RobotsSettings

__all__ = ["RobotsMeaning", "is_allowlisted", "robots_meaning"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_DEAD = frozenset({"dns_failed", "address_refused", "malformed_url"})


class RobotsMeaning(StrEnum):
    """What is to be done with a host after one answer."""

    PARSE = "parse"
    FOLLOW = "follow"
    ALLOW = "allow"
    FORBID = "forbid"
    DEFER = "defer"
    DEAD = "dead"


def robots_meaning(output: ProtocolOutput, settings: RobotsSettings) -> RobotsMeaning:
    """Return what an answer means; a redirect without a target allows all, as in Nutch."""
    status = output.http_status
    if status is None:
        return _without_answer(output, settings)
    if status >= 500 or status == 429 or _broke_off(output):
        return RobotsMeaning.DEFER if settings.defer_5xx else RobotsMeaning.ALLOW
    if 200 <= status < 300:
        return RobotsMeaning.PARSE
    if status in _REDIRECTS:
        return RobotsMeaning.FOLLOW if (output.location or b"").strip() else RobotsMeaning.ALLOW
    if status == 403 and not settings.allow_403:
        return RobotsMeaning.FORBID
    return RobotsMeaning.ALLOW


def _broke_off(output: ProtocolOutput) -> bool:
    """Say whether a file lost its end, which may forbid us."""
    status = output.http_status or 0
    return 200 <= status < 300 and output.truncated in {"time", "disconnect"}


def is_allowlisted(host: str, allowlist: tuple[str, ...]) -> bool:
    """Say whether a host, or a domain above it, is one whose robots.txt may be ignored."""
    name = host.lower()
    return any(name == one or name.endswith(f".{one}") for one in map(str.lower, allowlist))


def _without_answer(output: ProtocolOutput, settings: RobotsSettings) -> RobotsMeaning:
    if output.status is ProtocolStatus.NOTFOUND:
        return RobotsMeaning.ALLOW  # a protocol without HTTP statuses found no such file
    if output.message.partition(":")[0] in _DEAD:
        return RobotsMeaning.DEAD
    return RobotsMeaning.DEFER if settings.defer_5xx else RobotsMeaning.ALLOW
