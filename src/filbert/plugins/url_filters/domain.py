"""The filters `domain` and `domaindenylist`: suffixes, domains and hosts.

Guarantee: a URL is listed if its public suffix, its registered domain or its host stands in the
file. `domain` keeps what is listed, and all if the list is empty; `domaindenylist` drops it.
Source: Nutch `DomainURLFilter`, `DomainDenylistURLFilter`; golden table `url-filters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from filbert.model.records import Verdict
from filbert.plugins.rule_files import RuleText, read_rules
from filbert.rules.hosts_idn import to_ascii
from filbert.rules.url_parts import split
from filbert.rules.urls import place_of, suffix_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.settings import Settings

__all__ = ["DomainDenylistFilter", "DomainFilter"]


_NO_URL = Verdict(accepted=False, reason="domaindenylist", rule="no URL that a page has")


class _Listed:
    """What both share: the list, and the look-up."""

    name: str

    def __init__(self, texts: Sequence[RuleText]) -> None:
        lines = [line for text in texts for line in text.lines()]
        self._listed = {
            _key(entry.lower()): str(line)
            for line in lines
            if (entry := line.text.strip()) and not entry.startswith("#")
        }
        self._fingerprint = " ".join(text.fingerprint() for text in texts)

    def fingerprint(self) -> str:
        """Return its version and a hash of its rules."""
        return f"1 {self._fingerprint}"

    def _rule(self, url: str) -> str | None:
        place = place_of(url)
        for name in (suffix_of(place.host), place.domain, place.host):
            if (rule := self._listed.get(_key(name))) is not None:
                return rule
        return None


def _key(name: str) -> str:
    """Return one spelling for the Unicode and the ASCII form of a name."""
    return name if name.isascii() else to_ascii(name) or name


class DomainFilter(_Listed):
    """Keeps listed suffixes, domains and hosts; everything, if none is listed."""

    name = "domain"

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter from `urls.domain_filter_*`."""
        return cls(
            read_rules(
                setting="urls.domain_filter_rules",
                inline=settings.urls.domain_filter_rules,
                file=settings.urls.domain_filter_file,
                folder=folder,
                builtin=None,
            )
        )

    def judge(self, url: str) -> Verdict:
        """Return whether the URL is listed, and by which line."""
        if not self._listed:
            return Verdict(accepted=True, reason="domain", rule="the list is empty")
        rule = self._rule(url)
        return Verdict(accepted=rule is not None, reason="domain", rule=rule or "not listed")


class DomainDenylistFilter(_Listed):
    """Drops listed suffixes, domains and hosts."""

    name = "domaindenylist"

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter from `urls.domaindenylist_filter_*`."""
        return cls(
            read_rules(
                setting="urls.domaindenylist_filter_rules",
                inline=settings.urls.domaindenylist_filter_rules,
                file=settings.urls.domaindenylist_filter_file,
                folder=folder,
                builtin=None,
            )
        )

    def judge(self, url: str) -> Verdict:
        """Return whether the URL is free of the list, and the line that catches it."""
        if split(url) is None:
            return _NO_URL
        rule = self._rule(url)
        return Verdict(accepted=rule is None, reason="domaindenylist", rule=rule or "not listed")
