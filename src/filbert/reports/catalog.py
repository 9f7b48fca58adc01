"""The views that people query: their columns, and what each means.

Guarantee: times are timestamps (UTC), codes are Nutch's names, fingerprints are hex text; every
column has its meaning from the table's schema. Pure text; `views.py` binds it to files.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from filbert.engine.duck import TYPES
from filbert.model.schemas import (
    CRAWL_FETCH,
    CRAWL_GENERATE,
    CRAWL_PARSE,
    CRAWLDB,
    HOSTDB,
    LINKDB,
    ORIGINS,
    PARSE_DATA,
    PARSE_TEXT,
    Column,
    TableSchema,
    Type,
)
from filbert.model.statuses import (
    FetchStatus,
    PageStatus,
    ParseMajor,
    ParseMinor,
    ProtocolStatus,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import IntEnum

__all__ = ["SEGMENT_VIEWS", "VIEWS", "View", "ViewColumn", "describe_views", "text_columns"]

_TYPES = {**TYPES, Type.TIMESTAMP: "timestamp"}
_NONE: Mapping[str, tuple[ViewColumn, ...]] = MappingProxyType({})
_SEGMENT = r"regexp_extract(filename, '/([^/]+)/[^/]+/[^/]+$', 1)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewColumn:
    """One column of a view.

    Attributes:
        name: Its name.
        sql: The expression over the table's files.
        type: Its SQL type.
        doc: What it means.
    """

    name: str
    sql: str
    type: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One view.

    Attributes:
        name: Its name.
        table: The table whose files it shows; a segment's table is shown over all segments.
        columns: Its columns, in order.
        doc: One line.
        where: A predicate over the table's columns.
        text_of: Another table of the segment whose columns are joined by url.
    """

    name: str
    table: TableSchema
    columns: tuple[ViewColumn, ...]
    doc: str
    where: str = ""
    text_of: TableSchema | None = None


def _plain(column: Column) -> ViewColumn:
    kind, sql = _TYPES[column.type], f'"{column.name}"'
    if column.type is Type.TIMESTAMP:
        sql = f"make_timestamp(epoch_us({sql}))"
    elif column.name == "signature":
        kind, sql = "varchar", f"lower(hex({sql}))"
    return ViewColumn(name=column.name, sql=sql, type=kind, doc=column.doc)


def _named(name: str, code: str, enum: type[IntEnum], doc: str) -> tuple[ViewColumn, ViewColumn]:
    """Return a code as its name, and the code itself beside it."""
    whens = " ".join(f"when {member.value} then '{member.name.lower()}'" for member in enum)
    named = f'case "{code}" {whens} else cast("{code}" as varchar) end'
    return (
        ViewColumn(name=name, sql=named, type="varchar", doc=doc),
        ViewColumn(name=f"{name}_code", sql=f'"{code}"', type="smallint", doc="The same, as code."),
    )


def _columns(
    schema: TableSchema,
    *,
    replaced: Mapping[str, tuple[ViewColumn, ...]] = _NONE,
    dropped: tuple[str, ...] = (),
    segment: bool = False,
) -> tuple[ViewColumn, ...]:
    shown: list[ViewColumn] = []
    for column in schema.columns:
        if column.name not in dropped:
            shown += replaced.get(column.name, (_plain(column),))
    if segment:
        shown.append(
            ViewColumn(name="segment", sql=_SEGMENT, type="varchar", doc="The segment's name.")
        )
    return tuple(shown)


_PAGE_STATUS = {"status": _named("status", "status", PageStatus, "Such as db_fetched.")}
_FETCH_STATUS = {
    "status": _named("status", "status", FetchStatus, "Such as fetch_success."),
    "protocol_code": _named(
        "protocol_status", "protocol_code", ProtocolStatus, "Such as notfound."
    ),
}
_PARSE_STATUS = {
    "major": _named("parse_status", "major", ParseMajor, "success or failed."),
    "minor": _named("parse_reason", "minor", ParseMinor, "Such as ok."),
}

_ALL = (
    View(
        name="crawldb",
        table=CRAWLDB,
        doc="Every URL known, one row each.",
        columns=_columns(
            CRAWLDB,
            replaced=_PAGE_STATUS,
            dropped=("bucket",),
        ),
    ),
    View(
        name="fetches",
        table=CRAWL_FETCH,
        doc="Every fetch of every segment: what came of it.",
        columns=_columns(
            CRAWL_FETCH,
            replaced=_FETCH_STATUS,
            segment=True,
        ),
    ),
    View(
        name="pages",
        table=PARSE_DATA,
        doc="Every parsed document of every segment, with its text.",
        columns=_columns(
            PARSE_DATA,
            replaced=_PARSE_STATUS,
            segment=True,
        ),
        text_of=PARSE_TEXT,
    ),
    View(
        name="links",
        table=CRAWL_PARSE,
        doc="Every kept link and redirect of every segment: from_url names url.",
        columns=_columns(
            CRAWL_PARSE, dropped=("signature", "retries", "orphan_time"), segment=True
        ),
        where="kind in ('outlink', 'redirect', 'refresh')",
    ),
    View(
        name="inlinks",
        table=LINKDB,
        doc="The linkdb: from_url links to url.",
        columns=_columns(LINKDB, dropped=("bucket",)),
    ),
    View(
        name="hosts",
        table=HOSTDB,
        doc="What politeness remembers of each host.",
        columns=_columns(HOSTDB),
    ),
    View(
        name="origins",
        table=ORIGINS,
        doc="How each URL came to be known.",
        columns=_columns(ORIGINS),
    ),
)
VIEWS = {view.name: view for view in _ALL}

SEGMENT_VIEWS = {
    schema.name: View(
        name=schema.name,
        table=schema,
        columns=_columns(schema, replaced=replaced),
        doc=f"The rows of {schema.name}, as they are.",
    )
    for schema, replaced in (
        (CRAWL_GENERATE, _PAGE_STATUS),
        (CRAWL_FETCH, _FETCH_STATUS),
        (CRAWL_PARSE, _NONE),
        (PARSE_DATA, _PARSE_STATUS),
        (PARSE_TEXT, _NONE),
    )
}
"""One segment's tables for `readseg`; not among the views of `filbert sql`."""


def text_columns(view: View) -> tuple[ViewColumn, ...]:
    """Return the columns that a view takes from the table that is joined to it."""
    if view.text_of is None:
        return ()
    return tuple(_plain(column) for column in view.text_of.columns if column.name != "url")


def describe_views() -> str:
    """Return all views with their columns and meanings, for the help."""
    lines = []
    for view in _ALL:
        lines.append(f"{view.name}: {view.doc}")
        lines += [
            f"  {column.name} ({column.type}): {column.doc}"
            for column in (*view.columns, *text_columns(view))
        ]
        lines.append("")
    return "\n".join(lines)
