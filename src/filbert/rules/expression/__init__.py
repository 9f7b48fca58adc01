"""Expressions over pages, as Nutch's users write them (JEXL): text → tree → SQL.

Guarantee: nothing is ever evaluated here; an expression becomes a SQL predicate whose every value
went through `rules.sql.literal`, or a `UserError` that points at the column of the fault.
Source: Nutch's `JexlUtil` and `CrawlDatum.execute`.
"""

from __future__ import annotations

from difflib import get_close_matches

from filbert.rules.expression.columns import VARIABLES
from filbert.rules.expression.parse import parse
from filbert.rules.expression.render import predicate
from filbert.rules.expression.tree import names_in

__all__ = ["parse", "predicate", "slips", "where"]

_NEAR = 0.75


def where(text: str) -> str:
    """Return expression `text` as a SQL predicate over the columns of a crawldb row.

    Null and whatever cannot be computed count as false, as in Nutch. Blank text: `true`.

    Raises:
        UserError: The expression is wrong; says where.
    """
    return predicate(text, parse(text)) if text.strip() else "true"


def slips(text: str) -> dict[str, str]:
    """Return names that count as metadata though they look like a variable mistyped: name → it.

    Raises:
        UserError: The expression is wrong; says where.
    """
    used = {one.name for one in names_in(parse(text))} if text.strip() else set()
    near = {
        name: get_close_matches(name, VARIABLES, n=1, cutoff=_NEAR)
        for name in sorted(used - set(VARIABLES))
    }
    return {name: found[0] for name, found in near.items() if found}
