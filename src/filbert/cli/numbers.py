"""Numbers of options: what fits into every table and query behind them, or wrong use.

Guarantee: no number that a person types overflows further down. Imports click alone.
"""

from __future__ import annotations

import math
from typing import Any

import click

__all__ = ["Finite", "Whole"]

_MOST = 2**31 - 1


class Whole(click.IntRange):
    """A whole number from `least` on, up to what 32 bits hold."""

    def __init__(self, least: int) -> None:
        super().__init__(min=least)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        number = super().convert(value, param, ctx)
        if number > _MOST:
            self.fail(f"{value} is more than {_MOST}", param, ctx)
        return number


class Finite(click.types.FloatParamType):
    """A number from -`most` to `most`: neither NaN nor infinite."""

    def __init__(self, most: float = 1e9) -> None:
        self._most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number) or abs(number) > self._most:
            self.fail(f"{value} is not between {-self._most:g} and {self._most:g}", param, ctx)
        return number
