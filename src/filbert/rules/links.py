"""Who links to whom, as SQL: from the parsed links of segments to the linkdb.

Guarantee: a link stands once, by (url, from_url, anchor); a page that was parsed again is known by
its newest links only, in whatever order segments are absorbed; of more than `links.max_inlinks`
those of least (from_url, anchor) stay, so that the same segments give the same linkdb.
Source: Nutch `LinkDb`, `LinkDbMerger`; that old links of a page go is our decision
(docs/from-nutch.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.model.schemas import CRAWL_PARSE, LINKDB, Column, TableSchema, Type
from filbert.rules.sql import literal, render

if TYPE_CHECKING:
    from collections.abc import Collection

    from filbert.settings.links import LinksSettings

__all__ = ["LINKS", "NEWEST", "PARSED", "again", "links", "merge", "newest", "parsed"]

_SEGMENT = Column("segment", Type.INT, "Order of the segment by its name, from 1.", nullable=False)

LINKS = TableSchema(
    name="links",
    key=(),
    columns=(
        *LINKDB.columns,
        Column("page", Type.STRING, "The linking page's key in the segment.", nullable=False),
        _SEGMENT,
        CRAWL_PARSE["ordinal"],
    ),
    stats=("bucket",),
)
"""Links of new segments."""

PARSED = TableSchema(name="parsed", key=(), columns=(LINKDB["url"], _SEGMENT))
"""Pages and the segments that they were parsed in."""

NEWEST = TableSchema(name="newest", key=("url",), columns=(LINKDB["url"], _SEGMENT))
"""Pages and the newest of those segments."""

# Keys are normal URLs: scheme://[user@]host[:port]/…
_FROM_HOST = (
    "lower(regexp_extract(link.from_url,"
    " '^[^:/?#]+://(?:[^/?#@]*@)?([^:/?#@]*|[^/?#@]*])(?::[0-9]*)?(?:[/?#]|' || chr(36) || ')', 1))"
)


def links(settings: LinksSettings, *, segment: int, buckets: int) -> str:
    """SQL: the links of one segment. Views: `crawl_parse`, `verdicts`."""
    wanted = ["true"]
    if settings.ignore_internal:
        wanted.append("host <> '' and host <> from_host")
    elif settings.ignore_external:
        wanted.append("host = from_host")
    return render(
        "links.sql",
        max_anchor_length=literal(settings.max_anchor_length),
        buckets=literal(buckets),
        segment=literal(segment),
        from_host=_FROM_HOST,
        wanted=" and ".join(wanted),
    )


def again(buckets: int) -> str:
    """SQL: the linkdb's links as links of segment 0. Views: `linkdb`, `verdicts`."""
    return render("links_again.sql", buckets=literal(buckets))


def parsed(segment: int) -> str:
    """SQL: the pages that a segment parsed. View: `parse_data`."""
    return f"select url, {literal(segment)} as segment from parse_data where major = 1"


def newest() -> str:
    """SQL: each page's newest segment. View: `parsed`."""
    return render("links_newest.sql")


def merge(
    settings: LinksSettings, *, bucket: int, fresh: Collection[int], keep_old: bool = True
) -> str:
    """SQL: one bucket of the linkdb afterwards. Views: `linkdb`, `links`, `newest`.

    Args:
        settings: How many inlinks are kept.
        bucket: Which.
        fresh: Numbers of the segments that are being absorbed.
        keep_old: False: the linkdb's rows come among the `links`, as of segment 0.
    """
    numbers = ", ".join(literal(number) for number in sorted(fresh))
    parsed_again = f"select url from newest where segment in ({numbers})"
    return render(
        "links_merge.sql",
        bucket=literal(bucket),
        kept=f"old.from_url not in ({parsed_again})" if keep_old else "false",
        max_inlinks=literal(settings.max_inlinks),
    )
