"""The URL chains applied again to pages that are in the crawldb: dropped, moved, merged.

Guarantee: a key stands once afterwards. Source: Nutch `CrawlDbFilter`, `CrawlDbReducer`.
"""

from __future__ import annotations

from filbert.model.schemas import CRAWLDB, Column, TableSchema, Type
from filbert.rules.sql import literal, render

__all__ = ["MOVED", "moved", "reapplied"]

MOVED = TableSchema(
    name="moved",
    key=(),
    columns=(*CRAWLDB.columns, Column("came_from", Type.STRING, "The old URL.", nullable=False)),
    stats=("bucket",),
)
"""Pages under their new URLs."""

_GIVEN = frozenset({"url", "bucket", "host", "domain"})


def moved(buckets: int) -> str:
    """SQL: pages whose URL changed. Views: `crawldb` (all of it), `verdicts`."""
    others = ", ".join(f"page.{name} as {name}" for name in CRAWLDB.names if name not in _GIVEN)
    return render("reapply_moved.sql", buckets=literal(buckets), other_columns=others)


def reapplied(bucket: int) -> str:
    """SQL: one bucket afterwards. Views: `crawldb` (the bucket), `verdicts`, `moved`."""
    return render("reapply.sql", page_columns=", ".join(CRAWLDB.names), bucket=literal(bucket))
