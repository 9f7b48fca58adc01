"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from filbert.rules.plural import count_of


@pytest.mark.parametrize(
    ("number", "noun", "plural", "expected"),
    [
        (0, "page", "", "0 pages"),
        (1, "page", "", "1 page"),
        (2_000, "page", "", "2,000 pages"),
        (1, "try", "tries", "1 try"),
        (3, "try", "tries", "3 tries"),
    ],
)
def test_count_of(number: int, noun: str, plural: str, expected: str) -> None:
    """One is singular, all else plural; thousands are set apart."""
    assert count_of(number, noun, plural) == expected
