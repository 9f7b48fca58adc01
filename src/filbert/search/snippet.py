"""The part of a page's text that shows why it was found.

Guarantee: a snippet is at most `length` characters and the two ellipses, cut between words where
the text has blanks; its marks are exact places in it, in order, not overlapping. Text goes out as
it was in the page: `html` escapes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from filbert.search.schema import stem_words, word_spans
from filbert.search.text import fold

if TYPE_CHECKING:
    from filbert.search.compile import Marks

__all__ = ["Snippet", "make_snippet", "mark"]

_TEXT_LIMIT = 300_000  # characters of a page that are looked at
_BLANKS = re.compile(r"\s+")
_NO_BEGINNING = " .,;:!?)]}–—…、。"
_NO_END = " ,;:–—、"
_CUT_SLACK = 20  # characters given up at most to cut between words


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text and the places in it that match, as (begin, end)."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def cut(self, length: int) -> Snippet:
        """Return the beginning, at most `length` characters and an ellipsis, cut between words."""
        if len(self.text) <= length:
            return self
        head = self.text[: _between_words(self.text, 0, length)[1]].rstrip(_NO_END)
        places = [(begin, min(end, len(head))) for begin, end in self.marks if begin < len(head)]
        return Snippet(head + "…", tuple(places))

    def html(self, open_tag: str = "<b>", close_tag: str = "</b>") -> str:
        """Return the text escaped for HTML, with the marks between tags."""
        parts: list[str] = []
        end = 0
        for begin, stop in self.marks:
            parts += [escape(self.text[end:begin]), open_tag, escape(self.text[begin:stop])]
            parts.append(close_tag)
            end = stop
        parts.append(escape(self.text[end:]))
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class _Match:
    begin: int
    end: int
    term: str


def mark(text: str, marks: Marks) -> Snippet:
    """Return a whole text, such as a title, with its matches marked."""
    text = _BLANKS.sub(" ", text).strip()
    return Snippet(text, _merge(_matches(text, marks)))


def make_snippet(text: str, marks: Marks, length: int, *, title: str = "") -> Snippet:
    """Return the part of a text that has most of what was looked for, the earliest if equal.

    A title that the text begins with is left out: it is shown already.
    """
    text = _BLANKS.sub(" ", text[:_TEXT_LIMIT]).strip()
    text = text.removeprefix(_BLANKS.sub(" ", title).strip()).lstrip()
    matches = _matches(text, marks)
    begin = _best_begin(matches, length)
    begin, end = _between_words(text, begin, length)
    head = "…" if begin > 0 else ""
    tail = "…" if end < len(text) else ""
    inside = [match for match in matches if match.begin >= begin and match.end <= end]
    shift = len(head) - begin
    places = tuple((first + shift, last + shift) for first, last in _merge(inside))
    return Snippet(head + text[begin:end] + tail, places)


def _matches(text: str, marks: Marks) -> list[_Match]:
    found = _word_matches(text, marks) if marks.words or marks.stems else []
    if marks.runs and not text.isascii():
        found += _run_matches(text, marks.runs)
    return sorted(found, key=lambda match: (match.begin, match.end))


def _word_matches(text: str, marks: Marks) -> list[_Match]:
    found: list[_Match] = []
    known: dict[str, str] = {}
    for word, begin, end in word_spans(text):
        term = known.get(word)
        if term is None:
            term = known[word] = _marked_term(word, marks)
        if term:
            found.append(_Match(begin, end, term))
    return found


def _marked_term(word: str, marks: Marks) -> str:
    """Return the term that the word stands for, "" for none."""
    folded = fold(word)
    if folded in marks.words:
        return folded
    stems = stem_words(folded) if marks.stems else []
    return stems[0] if stems and stems[0] in marks.stems else ""


@lru_cache(maxsize=20_000)
def _fold_one(character: str) -> str:
    return fold(character)


def _run_matches(text: str, wanted: tuple[str, ...]) -> list[_Match]:
    folded: list[str] = []
    origin: list[int] = []
    for index, character in enumerate(text):
        for piece in _fold_one(character):
            folded.append(piece)
            origin.append(index)
    line = "".join(folded)
    return [
        _Match(origin[place.start()], origin[place.end() - 1] + 1, run)
        for run in wanted
        for place in re.finditer(re.escape(run), line)
    ]


def _best_begin(matches: list[_Match], length: int) -> int:
    """Return where a window of `length` begins that has most different terms, then most matches."""
    best, best_value, first = 0, (0, 0), 0
    counts: dict[str, int] = {}
    for match in matches:
        counts[match.term] = counts.get(match.term, 0) + 1
        while matches[first].begin + length * 3 // 4 < match.end and matches[first] is not match:
            dropped = matches[first].term
            counts[dropped] -= 1
            if not counts[dropped]:
                del counts[dropped]
            first += 1
        value = (len(counts), sum(counts.values()))
        if value > best_value:
            best, best_value = matches[first].begin, value
    return max(0, best - length // 8)


def _between_words(text: str, begin: int, length: int) -> tuple[int, int]:
    begin = max(0, min(begin, len(text) - length))
    if begin > 0:
        blank = text.find(" ", begin - 1, begin + _CUT_SLACK)
        begin = blank + 1 if blank >= 0 else begin
        begin += len(text[begin : begin + _CUT_SLACK]) - len(
            text[begin : begin + _CUT_SLACK].lstrip(_NO_BEGINNING)
        )
    end = min(len(text), begin + length)
    if end < len(text):
        blank = text.rfind(" ", end - _CUT_SLACK, end + 1)
        end = blank if blank > begin else end
    return begin, end


def _merge(matches: list[_Match]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for match in matches:
        if merged and match.begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], match.end))
        else:
            merged.append((match.begin, match.end))
    return tuple(merged)
