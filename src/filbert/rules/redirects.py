"""What becomes of the target of a redirect: followed at once, left to the next round, or dropped.

Guarantee: every hop passes the URL filters, and the bytes that the server named are the bytes that
are asked for; the normal form is only the key (memorious#94, scrapy#2774). A chain ends at a target
that it has seen in both forms, so that a server that changes nothing but the spelling is obeyed
once and does not loop. A target is followed only by the part that owns its host.
Source: Nutch `FetcherThread.handleRedirect`, `queueRedirect` (spec D3.8); Location as browsers
read it (WHATWG URL).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from filbert.plugins.contracts import Scope
from filbert.rules.urls import choose_repr, place_of, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.model.records import FetchItem
    from filbert.plugins.url_chain import UrlChain
    from filbert.settings import Settings

__all__ = ["Redirect", "RedirectJudge", "RedirectPolicy", "RedirectVerdict", "spellings"]


class RedirectVerdict(StrEnum):
    """What became of a target; all but the first two drop it."""

    FOLLOWED = "followed"
    LINKED = "linked"
    NO_TARGET = "no_target"
    NO_URL = "no_url"
    TOO_LONG = "too_long"
    FILTERED = "filtered"
    SELF = "self"
    LOOP = "loop"
    EXTERNAL = "external"
    INTERNAL = "internal"
    EXCEEDED = "exceeded"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectPolicy:
    """The settings that decide."""

    follow_max: int = 0
    skip_exceeded: bool = False
    length_max: int = 4096
    ignore_internal: bool = False
    ignore_external: bool = False
    by_domain: bool = False

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the policy of a crawl's settings."""
        parse = settings.parse
        also = parse.ignore_also_redirects
        return cls(
            follow_max=settings.http.redirect_max,
            skip_exceeded=settings.http.redirect_max_exceeded_skip,
            length_max=parse.max_outlink_length,
            ignore_internal=also and parse.ignore_internal_links,
            ignore_external=also and parse.ignore_external_links,
            by_domain=parse.ignore_links_mode == "domain",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """A judged target.

    Attributes:
        verdict: What becomes of it.
        reason: More of why, such as the filter's; may be empty.
        url: The key; the target as sent if it is none.
        raw_url: The bytes to ask for, where they differ from the key.
        repr_url: Which end of the chain stands for all.
    """

    verdict: RedirectVerdict
    reason: str = ""
    url: str | None = None
    raw_url: bytes | None = None
    repr_url: str | None = None

    def __str__(self) -> str:
        """Return the verdict as `crawl_fetch.redirect_verdict` has it."""
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict.value


class RedirectJudge:
    """Judges the targets of a part.

    Args:
        policy: The settings.
        chain: Normalisers and filters.
        owns: Whether this part is the one that asks (host, domain).
    """

    def __init__(
        self, policy: RedirectPolicy, chain: UrlChain, owns: Callable[[str, str], bool]
    ) -> None:
        self._policy = policy
        self._chain = chain
        self._owns = owns

    def judge(
        self,
        item: FetchItem,
        location: bytes | None,
        *,
        temporary: bool,
        seen: frozenset[tuple[str, bytes]] = frozenset(),
    ) -> Redirect:
        """Judge the target of a redirect.

        Args:
            item: What was fetched.
            location: The target as the server sent it.
            temporary: 302, 303 and 307, against 301 and 308.
            seen: Both forms of every URL of the chain before this one.
        """
        if location is None:
            return Redirect(verdict=RedirectVerdict.NO_TARGET)
        sent = _text(location)
        asked = item.raw_url.decode("utf-8", "replace") if item.raw_url else item.url
        target = resolve(asked, sent)
        if target is None:
            return Redirect(verdict=RedirectVerdict.NO_URL, url=sent)
        target = target.partition("#")[0]
        if 0 <= self._policy.length_max < len(target):
            return Redirect(verdict=RedirectVerdict.TOO_LONG, url=target)
        found = self._chain.apply(target, Scope.FETCHER)
        if found.url is None:
            return Redirect(verdict=RedirectVerdict.FILTERED, reason=found.reason, url=target)
        raw_url = None if target == found.url else target.encode()
        forms = spellings(found.url, raw_url)
        verdict = self._in_scope(item, found.url) or self._next(item, forms, seen)
        return Redirect(
            verdict=verdict,
            url=found.url,
            raw_url=raw_url,
            repr_url=choose_repr(item.datum.repr_url or item.url, found.url, temporary=temporary),
        )

    def _in_scope(self, item: FetchItem, target: str) -> RedirectVerdict | None:
        """Apply `parse.ignore_…_links`; internal is by host in either mode, as in Nutch."""
        policy = self._policy
        host, domain = place_of(target)
        if policy.ignore_internal and host == item.host:
            return RedirectVerdict.INTERNAL
        same = domain == item.domain if policy.by_domain else host == item.host
        return RedirectVerdict.EXTERNAL if policy.ignore_external and not same else None

    def _next(
        self, item: FetchItem, forms: tuple[str, bytes], seen: frozenset[tuple[str, bytes]]
    ) -> RedirectVerdict:
        """Decide between following, linking and dropping a target that is wanted.

        A target with the key of its source can be followed, and never linked: the crawldb has it.
        """
        policy, is_self = self._policy, forms[0] == item.url
        if forms == spellings(item.url, item.raw_url):
            return RedirectVerdict.SELF
        if forms in seen:
            return RedirectVerdict.LOOP
        if policy.follow_max == 0 or not self._owns(*place_of(forms[0])):
            return RedirectVerdict.SELF if is_self else RedirectVerdict.LINKED
        if item.hop >= policy.follow_max:
            is_dropped = policy.skip_exceeded or is_self
            return RedirectVerdict.EXCEEDED if is_dropped else RedirectVerdict.LINKED
        return RedirectVerdict.FOLLOWED


def spellings(url: str, raw_url: bytes | None) -> tuple[str, bytes]:
    """Return both forms of a URL: its key, and the bytes that are asked for."""
    return url, url.encode("utf-8", "surrogatepass") if raw_url is None else raw_url


def _text(location: bytes) -> str:
    """Read a Location as browsers do: UTF-8, else Latin-1; blanks and quotes around it go."""
    try:
        text = location.decode("utf-8")
    except UnicodeDecodeError:
        text = location.decode("latin-1")
    return text.strip().strip("\"'").strip()
