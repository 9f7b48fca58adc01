"""The normaliser `regex`: substitutions from Nutch's `regex-normalize.xml`, read unchanged.

Guarantee: patterns mean what they mean in Java, or the file is refused with the number of the
rule. (Nutch skips a broken rule with a line in its log, so that URLs get other keys unseen.)
Source: Nutch `RegexURLNormalizer`, golden table `normalizer-regex`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from xml.parsers import expat

from filbert.errors import UserError
from filbert.plugins.rule_files import RuleText, read_rules
from filbert.rules.java_regex import JavaRegexError, compile_java, replacement

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from filbert.plugins.contracts import Scope
    from filbert.settings import Settings

__all__ = ["RegexNormalizer", "Substitution", "parse_substitutions"]


@dataclass(frozen=True, slots=True)
class Substitution:
    """One rule: what is looked for, what it becomes, and where the rule stands."""

    origin: str
    pattern: re.Pattern[str]
    replace: Callable[[re.Match[str]], str]


class RegexNormalizer:
    """Applies every substitution once, in the order of the file."""

    name = "regex"

    def __init__(self, texts: Sequence[RuleText]) -> None:
        self._rules = [rule for text in texts for rule in parse_substitutions(text)]
        self._fingerprint = " ".join(text.fingerprint() for text in texts)

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the normaliser from `urls.regex_normalize_*`."""
        return cls(
            read_rules(
                setting="urls.regex_normalize_rules",
                inline=settings.urls.regex_normalize_rules,
                file=settings.urls.regex_normalize_file,
                folder=folder,
                builtin=(__package__ or "", "regex-normalize.xml"),
            )
        )

    def fingerprint(self) -> str:
        """Return its version and a hash of its rules."""
        return f"1 {self._fingerprint}"

    def normalize(self, url: str, scope: Scope) -> str | None:
        """Return the URL after all substitutions, the same in every scope."""
        del scope
        for rule in self._rules:
            url = rule.pattern.sub(rule.replace, url)
        return url


def parse_substitutions(text: RuleText) -> list[Substitution]:
    """Return the rules of a `regex-normalize.xml`.

    Raises:
        UserError: It is no XML, or a rule cannot be read.
    """
    reader = _Reader()
    try:
        reader.parse(text.text)
    except expat.ExpatError as error:
        raise UserError(
            f"{text.origin}: {error}", hint="It must be a regex-normalize.xml."
        ) from None
    rules = []
    for line, pattern, substitution in reader.found:
        origin = f"{text.origin}:{line}"
        try:
            compiled = compile_java(pattern)
            rules.append(Substitution(origin, compiled, replacement(substitution, compiled)))
        except JavaRegexError as error:
            raise UserError(f"{origin}: the rule {pattern!r} cannot be used: {error}") from None
    return rules


class _Reader:
    """Collects (line, pattern, substitution) of each `<regex>`."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str, str]] = []
        self._parts: dict[str, str] = {}
        self._element = ""
        self._line = 0

    def parse(self, text: str) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda name, _: self._start(name, parser.CurrentLineNumber)
        parser.CharacterDataHandler = self._characters
        parser.EndElementHandler = self._end
        parser.Parse(text.lstrip(), True)  # noqa: FBT003

    def _start(self, name: str, line: int) -> None:
        self._element = name
        if name == "regex":
            self._parts, self._line = {}, line

    def _characters(self, text: str) -> None:
        if self._element in {"pattern", "substitution"}:
            self._parts[self._element] = self._parts.get(self._element, "") + text

    def _end(self, name: str) -> None:
        self._element = ""
        if name == "regex" and "pattern" in self._parts:
            self.found.append(
                (self._line, self._parts["pattern"], self._parts.get("substitution", ""))
            )
