"""Rule files of URL plugins: lines that know where they came from.

Guarantee: each line carries its origin (`regex-urlfilter.txt:12`), so that a verdict can name the
rule that decided. Inline rules go before the file; without either, the built-in rules hold.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from filbert.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["RuleLine", "RuleText", "builtin_text", "read_rules"]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One line of rules, blanks at the end kept, and its place."""

    origin: str
    number: int
    text: str

    def __str__(self) -> str:
        """Return place and rule, as verdicts show it."""
        return f"{self.origin}:{self.number} {self.text.strip()}"


@dataclass(frozen=True, slots=True)
class RuleText:
    """The text of one source of rules."""

    origin: str
    text: str

    def lines(self) -> list[RuleLine]:
        """Return its lines, counted from 1."""
        return [
            RuleLine(self.origin, number, line)
            for number, line in enumerate(self.text.splitlines(), start=1)
        ]

    def fingerprint(self) -> str:
        """Return a hash of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_rules(
    *, setting: str, inline: str, file: str, folder: Path, builtin: tuple[str, str] | None
) -> list[RuleText]:
    """Return the rules in force, first those written inline.

    Args:
        setting: Name of the inline setting, the origin of its lines.
        inline: Rules written in the settings; may be empty.
        file: Path of a rule file, relative to `folder`; may be empty.
        folder: Where relative paths begin.
        builtin: Package and file name of the rules that hold when nothing else is given.

    Raises:
        UserError: The file cannot be read.
    """
    texts = [RuleText(setting, inline)] if inline else []
    if file:
        path = folder / file
        try:
            texts.append(RuleText(path.name, path.read_text(encoding="utf-8-sig")))
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read the rule file {path}: {error}") from None
    if not texts and builtin is not None:
        texts.append(RuleText(builtin[1], builtin_text(*builtin)))
    return texts


def builtin_text(package: str, name: str) -> str:
    """Return the text of rules that lie beside a plugin."""
    return (resources.files(package) / "rules" / name).read_text(encoding="utf-8")
