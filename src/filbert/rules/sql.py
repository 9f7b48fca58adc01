"""From rules to SQL text: the .sql files beside the rules, their fragments, and literals.

Guarantee: `literal` is the only way a value enters SQL, and what it writes means the same value of
the same type on every engine. A fragment stands in the file as `{{name}}`; one that is missing or
not asked for is an error, never a silent blank.
"""

from __future__ import annotations

import math
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filbert.plugins.contracts import SqlColumn

__all__ = ["SqlValue", "literal", "render", "stages"]

SqlValue = str | int | float | bool | bytes | None

_FRAGMENT = re.compile(r"\{\{(\w+)\}\}")
_INT_MAX = 2**31 - 1
_BIGINT_MAX = 2**63 - 1
_SPECIAL = re.compile(r"([\x00-\x1f\\$])")


def render(name: str, **fragments: str) -> str:
    """Return the SQL file `name` of this folder with its fragments filled in.

    Raises:
        LookupError: The fragments are not exactly those that the file names.
    """
    text = _text(name)
    wanted = set(_FRAGMENT.findall(text))
    if wanted != set(fragments):
        wrong = ", ".join(sorted(wanted ^ set(fragments)))
        raise LookupError(f"{name}: fragments missing or not in the file: {wrong}")
    return _FRAGMENT.sub(lambda match: fragments[match[1]], text).strip()


@cache
def _text(name: str) -> str:
    return files("filbert.rules").joinpath(name).read_text(encoding="utf-8")


def literal(value: SqlValue) -> str:
    """Return `value` as SQL: text, whole number, double, truth value, bytes or null.

    Raises:
        ValueError: A number that is not finite, or beyond 64 bits.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _whole(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number for a query")
        return f"cast('{value!r}' as double)"
    if isinstance(value, bytes):
        return f"unhex('{value.hex()}')"
    return _quoted(value)


def _whole(value: int) -> str:
    if abs(value) > _BIGINT_MAX:
        raise ValueError(f"{value} is beyond 64 bits")
    if abs(value) > _INT_MAX:
        return f"cast('{value}' as bigint)"
    return str(value) if value >= 0 else f"({value})"


def _quoted(text: str) -> str:
    # To Spark a backslash is an escape and ${…} a variable: those characters go by their number.
    pieces = [
        f"chr({ord(piece)})" if _SPECIAL.fullmatch(piece) else "'" + piece.replace("'", "''") + "'"
        for piece in _SPECIAL.split(text)
        if piece
    ]
    if not pieces:
        return "''"
    return pieces[0] if len(pieces) == 1 else f"({' || '.join(pieces)})"


def stages(source: str, columns: Sequence[SqlColumn], result: str) -> str:
    """Return common table expressions that add columns to `source`, each seeing those before it.

    Args:
        source: The table expression to begin with.
        columns: What to add, in order; at least one.
        result: Name of the last table expression, which has them all.
    """
    names = [*(f"{result}_{number}" for number in range(1, len(columns))), result]
    made = []
    for name, column in zip(names, columns, strict=True):
        made.append(f"{name} as (select {source}.*, {column.sql} as {column.name} from {source})")
        source = name
    return ",\n".join(made)
