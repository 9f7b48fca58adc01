"""Words for a person: times, spans of time, statuses.

Guarantee: total functions; times are UTC to the second; a span has at most two units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from filbert.model.clock import iso
from filbert.model.statuses import FetchStatus, PageStatus, ParseMinor, ProtocolStatus
from filbert.rules.plural import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "by_rule",
    "cut_by",
    "distance",
    "fetch_label",
    "listed",
    "minor_label",
    "page_label",
    "page_meaning",
    "protocol_label",
    "redirect_fate",
    "short_hash",
    "span",
    "was_asked",
    "when",
]

_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))

_MEANING = {
    PageStatus.DB_UNFETCHED: "it is known and has not been fetched yet",
    PageStatus.DB_FETCHED: "it was fetched",
    PageStatus.DB_GONE: "it does not exist, may not be fetched, or failed too often",
    PageStatus.DB_REDIR_TEMP: "it redirects elsewhere for now",
    PageStatus.DB_REDIR_PERM: "it has moved for good",
    PageStatus.DB_NOTMODIFIED: "it was fetched, and the last visit found it unchanged",
    PageStatus.DB_DUPLICATE: "it is a duplicate of another page",
    PageStatus.DB_ORPHAN: "no page links to it any more",
    PageStatus.DB_PARSE_FAILED: "it was fetched and could not be parsed",
}


_CUTS = {
    "length": "the {scheme}.content_limit of that fetch cut the rest off",
    "time": "the http.time_limit_s of that fetch cut the rest off",
    "disconnect": "the server broke off (http.partial_truncated keeps what came)",
}

_NOT_ASKED = frozenset({"address_refused", "dns_failed", "malformed_url"})

_FATES = {
    "followed": "followed at once",
    "linked": "left to the next round",
    "no_target": "dropped: no target was named",
    "no_url": "dropped: the target is no URL",
    "too_long": "dropped: the target is too long",
    "filtered": "dropped by the URL filters",
    "self": "dropped: it leads to itself",
    "loop": "dropped: it leads in a circle",
    "external": "dropped: it leads to another host",
    "internal": "dropped: it stays on the host",
    "exceeded": "dropped: too many redirects in a row",
    "duplicate": "followed already in this fetch, from another page",
}


def when(ms: int | None) -> str:
    """Return a time as `2026-12-01 00:10:02`."""
    return "an unknown time" if ms is None else iso(ms)[:19].replace("T", " ")


def span(ms: int) -> str:
    """Return a length of time in words, such as `2 days 3 hours`."""
    left = abs(ms) // 1000
    parts = []
    for name, seconds in _UNITS:
        number, left = divmod(left, seconds)
        if number:
            parts.append(count_of(number, name))
        if len(parts) == 2 or (parts and not number):
            break
    return " ".join(parts) or "less than a second"


def distance(ms: int, now: int) -> str:
    """Return how far a time is from now: `in 2 days`, `3 minutes ago`."""
    return f"in {span(ms - now)}" if ms > now else f"{span(now - ms)} ago"


def listed(texts: Iterable[str], more: int = 0) -> str:
    """Return texts as `a, b and 3 more`."""
    parts = [*texts, *([f"{more:,} more"] if more > 0 else [])]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def page_label(code: Any) -> str:
    """Return Nutch's name of a status in the crawldb."""
    return PageStatus(code).label if code in set(PageStatus) else f"status {code}"


def redirect_fate(verdict: Any) -> str:
    """Return what became of the target of a redirect."""
    return _FATES.get(str(verdict), str(verdict or "not followed"))


def page_meaning(code: Any) -> str:
    """Return what a status in the crawldb means."""
    return _MEANING[PageStatus(code)] if code in set(PageStatus) else "the status is unknown"


def fetch_label(code: Any) -> str:
    """Return Nutch's name of what came of a fetch."""
    return FetchStatus(code).label if code in set(FetchStatus) else f"status {code}"


def protocol_label(code: Any) -> str:
    """Return Nutch's name of how an exchange ended."""
    return ProtocolStatus(code).label if code in set(ProtocolStatus) else f"code {code}"


def minor_label(code: Any) -> str:
    """Return why, or with what, a parse ended."""
    known = code in set(ParseMinor)
    return ParseMinor(code).name.lower().replace("_", " ") if known else f"code {code}"


def short_hash(value: bytes | None) -> str:
    """Return the first digits of a fingerprint; `none` where there is none."""
    return value.hex()[:12] if value else "none"


def by_rule(rule: str) -> str:
    """Return ` by …`, or nothing if no rule is named; a rule is marked off from the sentence."""
    return f" by `{rule}`" if rule else ""


def cut_by(reason: str, url: str) -> str:
    """Return why the body of a URL was cut, and by which setting.

    Args:
        reason: As crawl_fetch has it: length, time, disconnect.
        url: The URL.
    """
    scheme = "file" if url.startswith("file:") else "http"
    return _CUTS.get(reason, reason).format(scheme=scheme)


def was_asked(fetch: Mapping[str, Any]) -> bool:
    """Say whether a row of crawl_fetch tells of a request: a page may be refused before one."""
    if fetch["http_status"] is not None:
        return True
    is_denied = fetch["protocol_code"] == ProtocolStatus.ROBOTS_DENIED
    return not is_denied and fetch["reason"] not in _NOT_ASKED
