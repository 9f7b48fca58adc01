"""Which outlinks of a page are kept, and why the others are not.

Guarantee: every link of a page is kept or dropped under one named reason; links are taken in
order until the limit of *kept* ones is reached; duplicates stay, as in Nutch, since a page that
links twice gives twice.
Source: Nutch `ParseOutputFormat` (`filterNormalize`); golden table `outlink-filter`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from filbert.rules.url_parts import split
from filbert.rules.urls import Place, domain_of, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from filbert.model.records import Link
    from filbert.settings.parse import ParseSettings

__all__ = ["Kept", "OutlinkPolicy", "Outlinks", "judge_target", "select_outlinks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlinkPolicy:
    """What limits the links of a page; -1 is no limit."""

    max_links: int = 100
    max_length: int = 4096
    ignore_internal: bool = False
    ignore_external: bool = False
    mode: Literal["host", "domain"] = "host"

    @classmethod
    def from_settings(cls, settings: ParseSettings) -> OutlinkPolicy:
        """Return the policy of the settings."""
        return cls(
            max_links=settings.max_outlinks_per_page,
            max_length=settings.max_outlink_length,
            ignore_internal=settings.ignore_internal_links,
            ignore_external=settings.ignore_external_links,
            mode=settings.ignore_links_mode,
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """A link that is kept: its URL in normal form, and where that lies."""

    link: Link
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlinks:
    """What became of a page's links."""

    kept: tuple[Kept, ...]
    found: int
    dropped: Counter[str]


def select_outlinks(
    from_url: str,
    links: Sequence[Link],
    policy: OutlinkPolicy,
    chain: Callable[[str], tuple[str | None, str]],
) -> Outlinks:
    """Return the links of a page that are kept.

    Args:
        from_url: The page.
        links: Its links, absolute, in order.
        policy: The limits.
        chain: Normalisers and filters: URL → (URL or None, reason).
    """
    origin = place_of(from_url)
    kept: list[Kept] = []
    dropped: Counter[str] = Counter()
    for number, link in enumerate(links):
        if 0 <= policy.max_links <= len(kept):
            dropped["limit"] += len(links) - number
            break
        url, reason = judge_target(from_url, link.url, origin, policy, chain)
        if url is None:
            dropped[reason] += 1
        else:
            kept.append(Kept(link if url == link.url else replace(link, url=url), place_of(url)))
    return Outlinks(kept=tuple(kept), found=len(links), dropped=dropped)


def judge_target(
    from_url: str,
    url: str,
    origin: Place,
    policy: OutlinkPolicy,
    chain: Callable[[str], tuple[str | None, str]],
) -> tuple[str | None, str]:
    """Return the target of a link or redirect in normal form, or None and the reason.

    A link to the page itself is dropped as written, before normalisers, as in Nutch: one to
    `#top` of the page remains.
    """
    if url == from_url:
        return None, "self"
    if 0 <= policy.max_length < len(url):
        return None, "length"
    if (policy.ignore_external or policy.ignore_internal) and (
        reason := _ignored(url, origin, policy)
    ):
        return None, reason
    return chain(url)


def _ignored(url: str, origin: Place, policy: OutlinkPolicy) -> str:
    """Return why the rules on internal and external links drop a target; empty if they do not."""
    parts = split(url)
    if parts is None:
        return "malformed"
    host = parts.host.lower()
    internal = host == origin.host if policy.mode == "host" else domain_of(host) == origin.domain
    if policy.ignore_external and not internal:
        return "external"
    return "internal" if policy.ignore_internal and internal else ""
