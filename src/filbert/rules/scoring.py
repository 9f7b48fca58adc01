"""The chain of scoring plugins as one SQL expression.

Guarantee: each plugin reads as `score_in` what the one before it gave; the chain ends in float32,
as scores are stored, and within its range. Source: Nutch `ScoringFilters`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["chained_score"]

_FLOAT_MAX = "3.4028234e38"
_SCORE_IN = re.compile(r"\bscore_in\b")


def chained_score(expressions: Iterable[str], start: str) -> str:
    """Return the SQL of a chain of expressions over `score_in`, the first one's being `start`."""
    value = start
    for expression in expressions:
        inner = f"({value})"
        value = _SCORE_IN.sub(lambda _, inner=inner: inner, expression)  # type: ignore[misc]
    return _float32(value)


def _float32(value: str) -> str:
    """Cast to a float of 32 bits; what is beyond one stays at its end, and null stays null."""
    most, least = (f"cast('{sign}{_FLOAT_MAX}' as double)" for sign in ("", "-"))
    kept = f"when ({value}) > {most} then {most} when ({value}) < {least} then {least}"
    return f"cast(case {kept} else {value} end as float)"
