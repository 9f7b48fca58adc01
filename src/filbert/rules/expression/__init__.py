"""Expressions over pages, as Nutch's users write them (JEXL): text → tree → SQL.

Guarantee: nothing is ever evaluated here; an expression becomes a SQL predicate whose every value
went through `rules.sql.literal`, or a `UserError` that points at the column of the fault.
Source: Nutch's `JexlUtil` and `CrawlDatum.execute`.
"""

from __future__ import annotations

from filbert.rules.expression.parse import parse
from filbert.rules.expression.render import predicate

__all__ = ["parse", "predicate", "where"]


def where(text: str) -> str:
    """Return expression `text` as a SQL predicate over the columns of a crawldb row.

    Null and whatever cannot be computed count as false, as in Nutch. Blank text: `true`.

    Raises:
        UserError: The expression is wrong; says where.
    """
    return predicate(text, parse(text)) if text.strip() else "true"
