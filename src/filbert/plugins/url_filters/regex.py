"""The filter `regex`: rules from Nutch's `regex-urlfilter.txt`, read unchanged.

Guarantee: the first rule found in the URL decides, none found rejects, and the verdict names the
line. Patterns mean what they mean in Java, or the file is refused with the number of the line.
Source: Nutch `RegexURLFilterBase`, `RegexURLFilter`; golden table `url-filters`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from filbert.errors import UserError
from filbert.model.records import Verdict
from filbert.plugins.rule_files import RuleLine, RuleText, read_rules
from filbert.rules.java_regex import JavaRegexError, compile_java
from filbert.rules.urls import place_of

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.settings import Settings

__all__ = ["RegexFilter", "RegexRule", "parse_rules"]

_NO_RULE = Verdict(accepted=False, reason="regex", rule="no rule found in the URL")


@dataclass(frozen=True, slots=True)
class RegexRule:
    """One rule; `scope` is the host or domain that it holds for, empty for all."""

    pattern: re.Pattern[str]
    scope: str
    verdict: Verdict


class RegexFilter:
    """Keeps what the first matching `+` rule says, drops what a `-` rule says."""

    name = "regex"

    def __init__(self, texts: Sequence[RuleText]) -> None:
        self._rules = [rule for text in texts for rule in parse_rules(text)]
        self._scoped = any(rule.scope for rule in self._rules)
        self._fingerprint = " ".join(text.fingerprint() for text in texts)

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter from `urls.regex_filter_*`."""
        return cls(
            read_rules(
                setting="urls.regex_filter_rules",
                inline=settings.urls.regex_filter_rules,
                file=settings.urls.regex_filter_file,
                folder=folder,
                builtin=(__package__ or "", "regex-urlfilter.txt"),
            )
        )

    def fingerprint(self) -> str:
        """Return its version and a hash of its rules."""
        return f"1 {self._fingerprint}"

    def judge(self, url: str) -> Verdict:
        """Return the verdict of the first rule that is found in the URL."""
        place = place_of(url) if self._scoped else ()
        for rule in self._rules:
            if (not rule.scope or rule.scope in place) and rule.pattern.search(url):
                return rule.verdict
        return _NO_RULE


def parse_rules(text: RuleText) -> list[RegexRule]:
    """Return the rules of a `regex-urlfilter.txt`.

    Raises:
        UserError: A line is no rule, or its expression cannot be used.
    """
    rules = []
    scope = ""
    for line in text.lines():
        first = line.text[:1]
        if first in {"", " ", "#", "\t"}:
            continue
        if first == ">":
            scope = line.text[1:].strip().lower()
        elif first == "<":
            scope = ""
        else:
            rules.append(_rule(line, scope))
    return rules


def _rule(line: RuleLine, scope: str) -> RegexRule:
    sign, expression = line.text[0], line.text[1:].rstrip("\r\n")
    if sign not in "+-":
        raise UserError(
            f"{line.origin}:{line.number}: {line.text!r} is no rule",
            hint="A rule begins with + or -, a comment with #; > and < open and close a host.",
        )
    try:
        pattern = compile_java(expression)
    except JavaRegexError as error:
        raise UserError(
            f"{line.origin}:{line.number}: {expression!r} cannot be used: {error}"
        ) from None
    verdict = Verdict(accepted=sign == "+", reason="regex", rule=str(line))
    return RegexRule(pattern, scope, verdict)
