"""Text as the index sees it: folded words, and pairs of characters where words have no spaces.

Guarantee: index and query go through the same functions, so what is written can be found. Case,
accents, width and Hebrew or Arabic points do not matter; vowel signs that make a word (Hindi,
Tamil) stay. Scripts that are written without spaces (Han, kana, Thai, Lao, Khmer, Burmese) and
Hangul, whose words grow endings, are cut into overlapping pairs, the last character of a run
standing for itself: a word of two or more characters is then a run of pairs, and a single
character a beginning of a term.
Source: Unicode NFKD and case folding (UAX #15), Lucene's `CJKBigramFilter`.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["Run", "bigrams", "fold", "pairs", "runs", "words_only"]

# Scripts without spaces between words, and Hangul; letters and marks only, no punctuation.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u109f\u1780-\u17d3"  # Burmese, Khmer
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_RUN = re.compile(f"[{_UNSPACED}]+")

# Marks that only colour a letter: Latin, Greek and Cyrillic accents, Hebrew and Arabic points.
_POINTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1-\u05c7\u064b-\u065f\u0670]")
# Letters that Unicode does not take apart, as a reader types them without their keyboard.
_LETTERS = {
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h",
}  # fmt: skip
_LETTER = re.compile(f"[{''.join(_LETTERS)}]")


def fold(text: str) -> str:
    """Return the text in the one spelling that is compared: no case, accents or widths."""
    if text.isascii():
        return text.lower()
    open_form = _POINTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    plain = _LETTER.sub(lambda match: _LETTERS[match[0]], open_form)
    return unicodedata.normalize("NFKC", plain)


class Run(str):
    """A run of characters of scripts that are indexed in pairs."""

    __slots__ = ()


def runs(folded: str) -> list[str]:
    """Cut folded text into what is between runs (plain `str`) and runs (`Run`), in order."""
    found: list[str] = []
    end = 0
    for match in _RUN.finditer(folded):
        if match.start() > end:
            found.append(folded[end : match.start()])
        found.append(Run(match.group()))
        end = match.end()
    if end < len(folded):
        found.append(folded[end:])
    return found


def words_only(folded: str) -> str:
    """Return folded text with each run replaced by a blank: what the word fields index."""
    return folded if folded.isascii() else _RUN.sub(" ", folded)


def pairs(run: str) -> list[str]:
    """Return the overlapping pairs of a run."""
    return [run[i : i + 2] for i in range(len(run) - 1)]


def bigrams(folded: str) -> str:
    """Return the terms of all runs, blank between: what the pair fields index; often empty."""
    if folded.isascii():
        return ""
    terms: list[str] = []
    for match in _RUN.finditer(folded):
        run = match.group()
        terms += pairs(run)
        terms.append(run[-1])
    return " ".join(terms)
