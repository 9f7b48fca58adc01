"""The filter `prefix`: wanted beginnings of URLs, from Nutch's `prefix-urlfilter.txt`.

Guarantee: a URL is kept if it begins with one of the lines, compared as text; no lines, no URLs.
Source: Nutch `PrefixURLFilter`; golden table `url-filters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from filbert.model.records import Verdict
from filbert.plugins.rule_files import RuleText, read_rules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.settings import Settings

__all__ = ["PrefixFilter"]

_REJECTED = Verdict(accepted=False, reason="prefix", rule="begins with none of the prefixes")


class PrefixFilter:
    """Keeps URLs that begin with a listed prefix."""

    name = "prefix"

    def __init__(self, texts: Sequence[RuleText]) -> None:
        lines = [line for text in texts for line in text.lines()]
        self._prefixes = {
            line.text: Verdict(accepted=True, reason="prefix", rule=str(line))
            for line in lines
            if line.text and line.text[0] not in " #"
        }
        self._all = tuple(self._prefixes)
        self._fingerprint = " ".join(text.fingerprint() for text in texts)

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter from `urls.prefix_filter_*`."""
        return cls(
            read_rules(
                setting="urls.prefix_filter_rules",
                inline=settings.urls.prefix_filter_rules,
                file=settings.urls.prefix_filter_file,
                folder=folder,
                builtin=None,
            )
        )

    def fingerprint(self) -> str:
        """Return its version and a hash of its rules."""
        return f"1 {self._fingerprint}"

    def judge(self, url: str) -> Verdict:
        """Return the verdict of the first prefix that the URL begins with."""
        if not url.startswith(self._all):
            return _REJECTED
        return next(verdict for prefix, verdict in self._prefixes.items() if url.startswith(prefix))
