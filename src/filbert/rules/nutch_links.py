"""How the links of an imported segment find their sources again.

Guarantee: a pure query; every row of both sides is in the result once.
Source: Nutch 1.22 `parse.ParseOutputFormat`, which writes both in one go.
"""

from __future__ import annotations

from filbert.model.schemas import CRAWL_PARSE, Column, TableSchema, Type
from filbert.rules.sql import literal, render

__all__ = ["LINKED", "NAMED", "joined_links_sql"]

LINKED = TableSchema(
    name="linked",
    key=("number",),
    columns=(
        *(Column(c.name, c.type, c.doc) if c.name == "kind" else c for c in CRAWL_PARSE.columns),
        Column("number", Type.BIGINT, "Place in crawl_parse.", nullable=False),
    ),
)
"""Rows of crawl_parse as Nutch has them: a target and its datum."""

NAMED = TableSchema(
    name="named",
    key=("from_url", "ordinal"),
    columns=(
        *CRAWL_PARSE.select("place", ("url", "host", "domain")).columns,
        Column("from_url", Type.STRING, "The page that links.", nullable=False),
        Column("page", Type.BIGINT, "Place of that page in parse_data.", nullable=False),
        Column("ordinal", Type.INT, "Place of the link on the page.", nullable=False),
        Column("anchor", Type.STRING, "Text of the link."),
        Column("link_metadata", Type.STRING_MAP, "Metadata of the link itself."),
    ),
)
"""Links of parse_data: a target, its source and its anchor."""


def joined_links_sql(interval_s: int) -> str:
    """Return the query that joins both. Views: `linked`, `named`.

    Args:
        interval_s: The interval of a link without a datum, which updatedb does not read.
    """
    return render("nutch_links.sql", interval=literal(interval_s))
