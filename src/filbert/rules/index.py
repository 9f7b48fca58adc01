"""Which pages are in the index: the decisions, as a table, and their SQL.

Guarantee: each page of the segments gets exactly one verdict, `add` or `<action>_<reason>`, by the
first decision that holds; nothing is dropped without a reason that is counted. With `delete` the
index becomes true to the crawldb: what is gone, redirects or is a duplicate is deleted, also when
the page's own segment said something else.
Source: Nutch `IndexerMapReduce` (spec D10), `CleaningJob`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.model.schemas import Column, TableSchema, Type
from filbert.model.statuses import FetchStatus, PageStatus, ParseMajor
from filbert.rules.sql import literal, render

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CLEANED",
    "DOCUMENTS",
    "INDEXED",
    "INLINKS",
    "UNTRUE",
    "Decision",
    "IndexRules",
    "decisions",
    "documents_sql",
    "inlinks_sql",
    "undone_sql",
    "unknown_sql",
    "untrue_sql",
]

_MISSING = "k.major is null"

UNTRUE = {
    PageStatus.DB_GONE: "gone",
    PageStatus.DB_REDIR_TEMP: "redirect",
    PageStatus.DB_REDIR_PERM: "redirect",
    PageStatus.DB_DUPLICATE: "duplicate",
    PageStatus.DB_ORPHAN: "orphan",
}
"""Statuses in the crawldb of pages that have no place in the index, and the reason to count."""

CLEANED = (PageStatus.DB_GONE, PageStatus.DB_DUPLICATE)
"""Statuses whose documents `clean` deletes from every writer, as Nutch's does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRules:
    """What the settings say of indexing."""

    delete: bool = False  # gone, redirecting and duplicate pages are deleted
    delete_noindex: bool = False
    delete_failed_parse: bool = False
    skip_notmodified: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition over the page's columns, and the verdict if it is the first to hold."""

    verdict: str
    condition: str


def decisions(rules: IndexRules) -> list[Decision]:
    """Return the decisions in force, in order: hold them beside Nutch's `reduce`."""
    fetch, page = FetchStatus, PageStatus
    table = [
        (rules.delete_noindex, "delete_noindex", "k.noindex"),
        (
            rules.delete_failed_parse,
            "delete_parse_failed",
            (
                f"{_is('fetch', fetch.PARSE_FAILED)} or {_is('db', page.DB_PARSE_FAILED)}"
                f" or k.major = {int(ParseMajor.FAILED)}"
            ),
        ),
        (
            rules.delete,
            "delete_gone",
            f"{_is('fetch', fetch.FETCH_GONE)} or {_is('db', page.DB_GONE)}",
        ),
        (
            rules.delete,
            "delete_redirect",
            (
                f"{_is('fetch', fetch.FETCH_REDIR_TEMP, fetch.FETCH_REDIR_PERM)}"
                f" or {_is('db', page.DB_REDIR_TEMP, page.DB_REDIR_PERM)}"
            ),
        ),
        (rules.delete, "delete_orphan", _is("db", page.DB_ORPHAN)),
        (rules.delete, "delete_duplicate", _is("db", page.DB_DUPLICATE)),
        (True, "skip_not_fetched", f"k.fetch_status <> {int(fetch.FETCH_SUCCESS)}"),
        (True, "skip_not_parsed", _MISSING),
        (rules.skip_notmodified, "skip_not_modified", _is("db", page.DB_NOTMODIFIED)),
        (True, "skip_parse_failed", f"k.major <> {int(ParseMajor.SUCCESS)}"),
        (True, "skip_no_text", "k.text is null"),
    ]
    return [Decision(verdict, condition) for holds, verdict, condition in table if holds]


def _is(whose: str, *statuses: int) -> str:
    numbers = ", ".join(str(int(status)) for status in statuses)
    return f"coalesce(k.{whose}_status, 0) in ({numbers})"


def documents_sql(segments: Sequence[str], rules: IndexRules, chunks: int) -> str:
    """SQL: each page of `segments`, judged; the nth has the views `…_n`.

    A transient failure or an unchanged page (retry, notmodified) says nothing: an older record
    that does decides.
    """
    deciding = (
        FetchStatus.FETCH_SUCCESS,
        FetchStatus.FETCH_REDIR_TEMP,
        FetchStatus.FETCH_REDIR_PERM,
        FetchStatus.FETCH_GONE,
        FetchStatus.PARSE_FAILED,
    )
    numbered = list(enumerate(segments))
    return render(
        "index.sql",
        fetches="\n  union all\n".join(_fetches(n, name) for n, name in numbered),
        parses="\n  union all\n".join(_parses(n, name) for n, name in numbered),
        deciding=", ".join(str(int(status)) for status in deciding),
        decisions="\n".join(
            f"      when {one.condition} then {literal(one.verdict)}" for one in decisions(rules)
        ),
        chunks=literal(chunks),
    )


_FETCH_COLUMNS = "score, modified_time, repr_url, content_type, metadata"


def _fetches(number: int, segment: str) -> str:
    """A segment's fetches, and the documents inside documents, which were fetched with them."""
    columns = f"{literal(segment)} as segment, url, host, fetch_time, {_FETCH_COLUMNS}"
    inside = int(FetchStatus.FETCH_SUCCESS)
    return (
        f"  select {columns}, status, hop, part, position from fetch_{number}\n"
        f"  union all\n"
        f"  select {columns}, cast({inside} as smallint) as status, 0 as hop, 0 as part,"
        f" cast(ordinal as bigint) as position\n"
        f"  from rows_{number} where kind = 'subdocument'"
    )


def _parses(number: int, segment: str) -> str:
    columns = (
        "d.url, d.major, d.robots_noindex, d.robots_noarchive, d.signature, d.title, d.language,"
        " d.charset, d.content_metadata, d.parse_metadata, t.text"
    )
    return (
        f"  select {literal(segment)} as segment, {columns}\n"
        f"  from data_{number} d left join text_{number} t on t.url = d.url"
    )


def inlinks_sql() -> str:
    """SQL: the links to the documents that are added. Views: `documents`, `linkdb`."""
    return render("index_inlinks.sql")


def untrue_sql(statuses: Sequence[PageStatus] = tuple(UNTRUE)) -> str:
    """SQL: pages that may not be in the index, less those in `documents`. Views: + `crawldb`."""
    reasons = "\n".join(f"    when {int(one)} then {literal(UNTRUE[one])}" for one in statuses)
    numbers = ", ".join(str(int(one)) for one in statuses)
    return render("index_untrue.sql", reasons=reasons, statuses=numbers)


def undone_sql() -> str:
    """SQL: pages that only segments undone by a rollback had. Views: `undone`, as `untrue_sql`."""
    fetched = (PageStatus.DB_FETCHED, PageStatus.DB_NOTMODIFIED)
    return render("index_undone.sql", fetched=", ".join(str(int(one)) for one in fetched))


def unknown_sql() -> str:
    """SQL: pages in the index that the crawldb does not know. Views: `indexed`, `crawldb`."""
    return render("index_unknown.sql")


def _c(name: str, kind: Type, doc: str, *, required: bool = False) -> Column:
    return Column(name, kind, doc, nullable=not required)


_URL = _c("url", Type.STRING, "The page's key.", required=True)
_CHUNK = _c("chunk", Type.INT, "The part of the page work that makes it.", required=True)

DOCUMENTS = TableSchema(
    name="documents",
    key=("url",),
    columns=(
        _CHUNK,
        _URL,
        _c("segment", Type.STRING, "Where the deciding record lies.", required=True),
        _c("verdict", Type.STRING, "add, or action and reason.", required=True),
        _c("fetch_time", Type.TIMESTAMP, "When it was fetched.", required=True),
        _c("modified_time", Type.TIMESTAMP, "When it last changed."),
        _c("score", Type.FLOAT, "The page's score."),
        _c("signature", Type.BINARY, "Fingerprint of the content."),
        _c("repr_url", Type.STRING, "The URL that stands for a redirect chain."),
        _c("content_type", Type.STRING, "Detected media type."),
        _c("metadata", Type.STRING_MAP, "Metadata of the crawldb."),
        _c("host", Type.STRING, "Host of the URL.", required=True),
        _c("title", Type.STRING, "Title."),
        _c("language", Type.STRING, "Language."),
        _c("charset", Type.STRING, "Encoding."),
        _c("noarchive", Type.BOOLEAN, "The page says noarchive.", required=True),
        _c("content_metadata", Type.STRING_LISTS, "Reply headers and fetch facts."),
        _c("parse_metadata", Type.STRING_LISTS, "What the parser found."),
        _c("text", Type.STRING, "Visible text."),
    ),
)

INLINKS = TableSchema(
    name="inlinks",
    key=("url", "from_url", "anchor"),
    columns=(
        _CHUNK,
        _URL,
        _c("from_url", Type.STRING, "The page that links.", required=True),
        _c("anchor", Type.STRING, "Text of the link.", required=True),
    ),
)

INDEXED = TableSchema(name="indexed", key=("url",), columns=(_URL,))
