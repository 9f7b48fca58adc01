"""The chain of scoring plugins as one SQL expression.

Guarantee: each plugin reads as `score_in` what the one before it gave; the chain ends in float32,
as scores are stored. Source: Nutch `ScoringFilters`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["chained_score"]

_SCORE_IN = re.compile(r"\bscore_in\b")


def chained_score(expressions: Iterable[str], start: str) -> str:
    """Return the SQL of a chain of expressions over `score_in`, the first one's being `start`."""
    value = start
    for expression in expressions:
        inner = f"({value})"
        value = _SCORE_IN.sub(lambda _, inner=inner: inner, expression)  # type: ignore[misc]
    return f"cast({value} as float)"
