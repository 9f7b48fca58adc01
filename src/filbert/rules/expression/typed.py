"""SQL text with the kind of value it gives."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

__all__ = ["BIGINT_MAX", "BOOL", "DECIMAL", "NULL", "TEXT", "WHOLE", "Kind", "Typed"]


class Kind(Enum):
    """Kinds of values in an expression; the value is the word for people."""

    BOOL = "truth value"
    WHOLE = "whole number"
    DECIMAL = "number"
    TEXT = "text"
    NULL = "null"

    @property
    def is_number(self) -> bool:
        """Whether it can be calculated with."""
        return self in {Kind.WHOLE, Kind.DECIMAL}

    @property
    def word(self) -> str:
        """What people call it."""
        return self.value


BOOL, WHOLE, DECIMAL, TEXT, NULL = Kind.BOOL, Kind.WHOLE, Kind.DECIMAL, Kind.TEXT, Kind.NULL


BIGINT_MAX = 2**63 - 1


class Typed(NamedTuple):
    """A piece of SQL, its kind, and for a whole number the most that it can be, either sign."""

    sql: str
    kind: Kind
    most: int = 2**31 - 1

    @property
    def as_double(self) -> str:
        """The SQL of a number as a double."""
        return f"cast({self.sql} as double)" if self.kind is Kind.WHOLE else self.sql
