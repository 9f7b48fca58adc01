"""One spelling for index and query."""

from __future__ import annotations

import pytest

from filbert.search.schema import split_words
from filbert.search.text import Run, bigrams, fold, runs, words_only


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hazel", "hazel"),
        ("Über CAFÉ", "uber cafe"),
        ("Straße", "strasse"),
        ("Łódź Ørsted Æsir", "lodz orsted aesir"),
        ("Ｐｙｔｈｏｎ", "python"),
        ("ﾘｽ", "リス"),
        ("が", "が"),
        ("Ά έ", "α ε"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("हिन्दी", "हिन्दी"),
        ("한글", "한글"),
        ("Việt", "viet"),
    ],
)
def test_fold(text: str, expected: str) -> None:
    """Case, accents, points and width go; vowel signs and voiced kana stay."""
    got = fold(text)
    assert got == expected


def test_runs() -> None:
    """Text is cut where it changes between words and runs; nothing is lost."""
    got = runs("python入門 x")
    assert (got, isinstance(got[1], Run)) == (["python", "入門", " x"], True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ""),
        ("今日は", "今日 日は は"),
        ("a木b天気", "木 天気 気"),
        ("・、。", ""),
    ],
)
def test_bigrams(text: str, expected: str) -> None:
    """A run gives its pairs, then its last character; punctuation gives nothing."""
    got = bigrams(text)
    assert got == expected


def test_words_only() -> None:
    """The word fields do not hold runs, and words beside them stay words."""
    got = split_words(words_only("python入門book"))
    assert got == ["python", "book"]
