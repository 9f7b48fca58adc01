"""The methods of texts that expressions may call: Java's `String`, as SQL.

Guarantee: each means the same on every engine. Regular expressions are those that every engine
has; one that needs more (look-around, back-references) is refused where it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.rules.expression.tokens import fault
from filbert.rules.expression.tree import Constant
from filbert.rules.expression.typed import BOOL, TEXT, WHOLE, Kind
from filbert.rules.sql import literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.rules.expression.tree import Node

__all__ = ["METHODS", "Method", "full_match"]


@dataclass(frozen=True, slots=True)
class Method:
    """One method: how many arguments, what it gives, its SQL; `numbers`: arguments are numbers."""

    arguments: tuple[int, ...]
    returns: Kind
    sql: Callable[..., str]
    numbers: bool = False


METHODS: dict[str, Method] = {
    "startsWith": Method((1,), BOOL, lambda s, p: f"(substr({s}, 1, length({p})) = {p})"),
    "endsWith": Method((1,), BOOL, lambda s, p: f"(right({s}, length({p})) = {p})"),
    "contains": Method((1,), BOOL, lambda s, p: f"(instr({s}, {p}) > 0)"),
    "equals": Method((1,), BOOL, lambda s, p: f"({s} = {p})"),
    "equalsIgnoreCase": Method((1,), BOOL, lambda s, p: f"(lower({s}) = lower({p}))"),
    "matches": Method((1,), BOOL, lambda s, p: f"({s} = {p})"),
    "isEmpty": Method((0,), BOOL, lambda s: f"({s} = '')"),
    "empty": Method((0,), BOOL, lambda s: f"(coalesce({s}, '') = '')"),
    "length": Method((0,), WHOLE, lambda s: f"cast(length({s}) as bigint)"),
    "size": Method((0,), WHOLE, lambda s: f"cast(length({s}) as bigint)"),
    "indexOf": Method((1,), WHOLE, lambda s, p: f"cast(instr({s}, {p}) - 1 as bigint)"),
    "toLowerCase": Method((0,), TEXT, lambda s: f"lower({s})"),
    "toUpperCase": Method((0,), TEXT, lambda s: f"upper({s})"),
    "trim": Method((0,), TEXT, lambda s: f"trim({s})"),
    "concat": Method((1,), TEXT, lambda s, p: f"({s} || {p})"),
    "replace": Method((2,), TEXT, lambda s, old, new: f"replace({s}, {old}, {new})"),
    "substring": Method(
        (1, 2),
        TEXT,
        lambda s, a, b=None: _part(s, a, b),
        numbers=True,
    ),
}
"""Name → method; `matches` is rendered by `full_match`."""

_BEYOND = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9kGZRX]|\(\?(?:[=!>]|<[=!])|[*+?}]\+)")
_SENTINEL = "\x01"


def _part(subject: str, begin: str, end: str | None) -> str:
    """Return the SQL of `substring`; null where Java would throw: outside of the text."""
    last = f"length({subject})" if end is None else f"({end})"
    upper = "" if end is None else f" and ({end}) <= length({subject})"
    return (
        f"(case when ({begin}) between 0 and {last}{upper}"
        f" then substr({subject}, cast({begin} as int) + 1, cast({last} - ({begin}) as int)) end)"
    )


def full_match(text: str, subject: str, pattern: Node) -> str:
    """Return SQL that says whether the whole of `subject` matches the constant `pattern`.

    Raises:
        UserError: The pattern is no constant text, is broken, or is beyond the shared dialect.
    """
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        raise fault(text, pattern.column, "a regular expression must be a text in quotes")
    found = pattern.value
    if _BEYOND.search(found):
        raise fault(
            text,
            pattern.column,
            "look-around, back-references and possessive counts are not known here",
            hint="Combine two simpler tests with && or ||.",
        )
    try:
        re.compile(found)
    except re.error as error:
        raise fault(text, pattern.column, f"broken regular expression: {error}") from None
    # The engines share no full match; with a mark at the end, what is left of a match is nothing.
    whole = literal(f"^(?:{found}){_SENTINEL}$")
    return f"(regexp_replace({subject} || {literal(_SENTINEL)}, {whole}, '') = '')"
