"""The filter `suffix`: endings of URLs, from Nutch's `suffix-urlfilter.txt`.

Guarantee: `+` keeps all but the listed endings, `-` only the listed ones; the last such line
counts. A flag P (look at the path alone) or I (any case) on any of them holds for all. No rules,
no URLs.
Source: Nutch `SuffixURLFilter`; golden table `url-filters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from filbert.model.records import Verdict
from filbert.plugins.rule_files import RuleText, read_rules
from filbert.rules.url_parts import split

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.settings import Settings

__all__ = ["SuffixFilter"]


class SuffixFilter:
    """Keeps or drops URLs by how they end."""

    name = "suffix"

    def __init__(self, texts: Sequence[RuleText]) -> None:
        self._allow_others = False
        self._ignore_case = False
        self._path_only = False
        self._rules: dict[str, str] = {}
        for text in texts:
            self._read(text)
        if self._ignore_case:
            self._rules = {suffix.lower(): rule for suffix, rule in self._rules.items()}
        self._all = tuple(self._rules)
        self._fingerprint = " ".join(text.fingerprint() for text in texts)

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter from `urls.suffix_filter_*`."""
        return cls(
            read_rules(
                setting="urls.suffix_filter_rules",
                inline=settings.urls.suffix_filter_rules,
                file=settings.urls.suffix_filter_file,
                folder=folder,
                builtin=None,
            )
        )

    def fingerprint(self) -> str:
        """Return its version and a hash of its rules."""
        return f"1 {self._fingerprint}"

    def judge(self, url: str) -> Verdict:
        """Return whether the URL's ending is wanted, and the ending that decided."""
        tested = url
        if self._path_only:
            parts = split(url)
            tested = url if parts is None else parts.path
        if self._ignore_case:
            tested = tested.lower()
        listed = tested.endswith(self._all) if self._all else False
        rule = next((rule for end, rule in self._rules.items() if tested.endswith(end)), "")
        return Verdict(
            accepted=listed != self._allow_others,
            reason="suffix",
            rule=rule or "ends in none of the suffixes",
        )

    def _read(self, text: RuleText) -> None:
        for line in text.lines():
            entry = line.text.strip()
            if not entry or entry[0] == "#":
                continue
            if entry[0] in "+-":
                self._allow_others = entry[0] == "+"
                self._ignore_case |= "I" in entry[1:]
                self._path_only |= "P" in entry[1:]
            else:
                self._rules[entry] = str(line)
