"""A number with its noun: `1 page`, `2 pages`. Guarantee: total; thousands are set apart."""

from __future__ import annotations

__all__ = ["count_of"]


def count_of(number: int, noun: str, plural: str = "") -> str:
    """Return the number and the noun, in the plural but for 1.

    Args:
        number: How many.
        noun: What, in the singular.
        plural: The plural; empty: the noun with an s.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
