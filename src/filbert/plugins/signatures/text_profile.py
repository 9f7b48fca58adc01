"""The signature `text-profile`: equal for texts that differ a little.

Guarantee: the same bytes as Nutch's `TextProfileSignature` (golden table `signatures`): the words
that come often, with their counts rounded down, and the MD5 of that list. With `sec_sort_lex` off,
tokens of equal count stand in the order in which the text has them (Java: in that of a hash map).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Self

from filbert.plugins.signatures.md5 import content_md5, text_md5

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.model.records import Page, Parse
    from filbert.settings import Settings
    from filbert.settings.signature import SignatureSettings

__all__ = ["TextProfileSignature"]


class TextProfileSignature:
    """A profile of the words of a text."""

    name = "text-profile"

    def __init__(self, settings: SignatureSettings) -> None:
        self._min_token_len = settings.min_token_len
        self._quant_rate = settings.quant_rate
        self._by_name = settings.sec_sort_lex

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the signature from `signature.*`."""
        del folder
        return cls(settings.signature)

    def calculate(self, page: Page, parse: Parse | None) -> bytes:
        """Return 16 bytes."""
        if parse is None or not parse.text:
            return content_md5(page)
        counts = Counter(token for token in _tokens(parse.text) if len(token) > self._min_token_len)
        quantum = self._quantum(max(counts.values(), default=0))
        kept = [(token, n // quantum * quantum) for token, n in counts.items() if n >= quantum]
        if self._by_name:
            kept.sort()
        kept.sort(key=lambda entry: -entry[1])
        profile = "\n".join(f"{token} {count}" for token, count in kept)
        return text_md5(profile)

    def _quantum(self, most: int) -> int:
        quantum = math.floor(most * self._quant_rate + 0.5)
        if quantum < 2:
            return 2 if most > 1 else 1
        return quantum


def _tokens(text: str) -> Iterator[str]:
    """Yield runs of letters and digits, each character in lower case.

    A character beyond U+FFFF ends a run: Java looks at its halves, which are no letters.
    """
    run: list[str] = []
    for char in text:
        if char <= "\uffff" and (char.isalpha() or char.isdecimal()):
            run.append(char.lower()[0])
        elif run:
            yield "".join(run)
            run = []
    if run:
        yield "".join(run)
