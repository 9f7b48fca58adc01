"""Every table of a crawl folder: its columns, their types and their meaning.

Guarantee: a table on disk has exactly these columns in this order. Times are UTC timestamps in
files and epoch milliseconds (`bigint`) in SQL and in Python; intervals are seconds. Integers are
signed. `SCHEMA_VERSION` grows with every change that an older reader would misread.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "CRAWLDB",
    "CRAWL_FETCH",
    "CRAWL_GENERATE",
    "CRAWL_PARSE",
    "DATUM_COLUMNS",
    "HOSTDB",
    "LINKDB",
    "ORIGINS",
    "PARSE_DATA",
    "PARSE_TEXT",
    "SCHEMA_VERSION",
    "TABLES",
    "Column",
    "TableSchema",
    "Type",
]

SCHEMA_VERSION = 1


class Type(StrEnum):
    """Column types, by their SQL name where the engines share one."""

    STRING = "string"
    BINARY = "binary"
    BOOLEAN = "boolean"
    SMALLINT = "smallint"
    INT = "int"
    BIGINT = "bigint"
    FLOAT = "float"
    DOUBLE = "double"
    TIMESTAMP = "timestamp"  # in SQL and Python: bigint, epoch milliseconds
    STRING_MAP = "map<string,string>"
    STRING_LISTS = "map<string,array<string>>"
    STRING_LIST = "array<string>"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: name, type, meaning (with its unit), and whether it may be null."""

    name: str
    type: Type
    doc: str
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """One table: its name, key, columns, and the columns whose min and max go into the log."""

    name: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    stats: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        """Return the column called `name`; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def select(self, name: str, columns: tuple[str, ...]) -> TableSchema:
        """Return a schema called `name` with only `columns`, in that order."""
        return TableSchema(name=name, key=(), columns=tuple(self[c] for c in columns))


def _c(name: str, kind: Type, doc: str, *, required: bool = False) -> Column:
    return Column(name, kind, doc, nullable=not required)


_URL = _c("url", Type.STRING, "The page's key: its URL after the normalisers.", required=True)

# The part of a CrawlDatum that travels: crawldb -> crawl_generate -> crawl_fetch -> updatedb.
_DATUM = (
    _c("modified_time", Type.TIMESTAMP, "When the content last changed; null: unknown (Nutch: 0)."),
    _c("retries", Type.SMALLINT, "Failed fetches in a row.", required=True),
    _c("fetch_interval", Type.INT, "Seconds between two fetches.", required=True),
    _c("score", Type.FLOAT, "The page's score.", required=True),
    _c("signature", Type.BINARY, "Fingerprint of the content; null: none yet."),
    _c("fixed_interval", Type.FLOAT, "Seconds, if the seed fixed the interval (`fixedInterval`)."),
    _c("depth", Type.INT, "Links from a seed (scoring depth)."),
    _c("max_depth", Type.INT, "How deep links from this page may go (scoring depth)."),
    _c("orphan_time", Type.TIMESTAMP, "When an inlink was last seen (scoring orphan)."),
    _c("content_type", Type.STRING, "Detected media type of the last fetch (`Content-Type`)."),
    _c("repr_url", Type.STRING, "The URL that represents a redirect chain (`_repr_`)."),
    _c("metadata", Type.STRING_MAP, "All other metadata, as text."),
    _c("metadata_types", Type.STRING_MAP, "Writable class of imported metadata; null: all text."),
)
DATUM_COLUMNS = tuple(column.name for column in _DATUM)

# Where a page lies; computed in Python where a URL enters, since SQL knows no suffix list.
_PLACE = (
    _c("host", Type.STRING, "Lower-case host name of the URL.", required=True),
    _c("domain", Type.STRING, "Registered domain of the host, or the host.", required=True),
)

_PAGE = (
    _URL,
    _c(
        "bucket",
        Type.INT,
        "First 8 hex digits of md5(url) modulo the table's buckets.",
        required=True,
    ),
    *_PLACE,
    _c("status", Type.SMALLINT, "PageStatus: Nutch's code.", required=True),
    _c("fetch_time", Type.TIMESTAMP, "When the page is due next.", required=True),
    *_DATUM,
    _c(
        "generate_time",
        Type.TIMESTAMP,
        "When it was put into a segment not yet absorbed (`_ngt_`).",
    ),
    _c("seq", Type.BIGINT, "Table version that wrote the row.", required=True),
)

CRAWLDB = TableSchema(
    name="crawldb",
    key=("url",),
    columns=_PAGE,
    stats=("bucket", "host", "status", "score", "fetch_time", "seq"),
)

ORIGINS = TableSchema(
    name="origins",
    key=("url",),
    columns=(
        _URL,
        _c(
            "origin",
            Type.STRING,
            "seed, link, redirect, refresh, sitemap or import.",
            required=True,
        ),
        _c("origin_url", Type.STRING, "The page that named it first, or the seed file and line."),
        _c("first_seen", Type.TIMESTAMP, "When the crawldb first had it.", required=True),
    ),
)

CRAWL_GENERATE = TableSchema(
    name="crawl_generate",
    key=("url",),
    columns=(
        *_PAGE,
        _c("part", Type.INT, "The part of the fetch list; one part owns its hosts.", required=True),
        _c("position", Type.BIGINT, "Place in the part, from 0; fetch order.", required=True),
    ),
    stats=("part", "position"),
)

CRAWL_FETCH = TableSchema(
    name="crawl_fetch",
    key=("url", "hop"),
    columns=(
        _URL,
        *_PLACE,
        _c(
            "hop",
            Type.INT,
            "0: the URL of the fetch list; n: after n redirects followed at once.",
            required=True,
        ),
        _c("part", Type.INT, "Part of the fetch list.", required=True),
        _c("position", Type.BIGINT, "Position in the part.", required=True),
        _c("status", Type.SMALLINT, "FetchStatus: Nutch's code.", required=True),
        _c("fetch_time", Type.TIMESTAMP, "When the fetch ended.", required=True),
        *_DATUM,
        _c("protocol_code", Type.SMALLINT, "ProtocolStatus: Nutch's code.", required=True),
        _c("protocol_message", Type.STRING, "What the code does not say; the error in words."),
        _c("http_status", Type.INT, "Status of the reply; null: none came."),
        _c("reason", Type.STRING, "Named reason of what was not fetched, such as robots_denied."),
        _c("robots_rule", Type.STRING, "The robots.txt line that decided, with its number."),
        _c("raw_url", Type.BINARY, "The bytes asked for, where they differ from the key."),
        _c("redirect_url", Type.STRING, "Target of a redirect, resolved and normalised."),
        _c(
            "redirect_verdict",
            Type.STRING,
            "What became of the target: followed, linked, or why it was dropped.",
        ),
        _c("ip", Type.STRING, "Address of the server."),
        _c("protocol", Type.STRING, "Protocol and version of the reply, such as http/1.1."),
        _c("response_ms", Type.INT, "Milliseconds from request to last byte."),
        _c("truncated", Type.STRING, "length, time or disconnect, if the body was cut."),
        _c("warc_file", Type.STRING, "File name in the segment's content folder."),
        _c("warc_offset", Type.BIGINT, "Where the capture's record begins in that file."),
        _c("warc_length", Type.BIGINT, "Its length in the file, in bytes."),
    ),
    stats=("part", "status", "fetch_time"),
)

CRAWL_PARSE = TableSchema(
    name="crawl_parse",
    key=("url", "from_url", "ordinal"),
    columns=(
        _URL,
        *_PLACE,
        _c("from_url", Type.STRING, "The page that the row comes from."),
        _c("ordinal", Type.INT, "Place among the rows of that page.", required=True),
        _c(
            "kind",
            Type.STRING,
            "outlink, redirect, refresh, signature, parse_metadata, adjust, subdocument.",
            required=True,
        ),
        _c("to_db", Type.BOOLEAN, "updatedb reads the row.", required=True),
        _c("to_linkdb", Type.BOOLEAN, "invertlinks and webgraph read the row.", required=True),
        _c("anchor", Type.STRING, "Text of the link."),
        _c("fetch_time", Type.TIMESTAMP, "When the row was made.", required=True),
        *_DATUM,
    ),
    stats=("kind",),
)

PARSE_DATA = TableSchema(
    name="parse_data",
    key=("url",),
    columns=(
        _URL,
        _c("major", Type.SMALLINT, "ParseMajor: Nutch's code.", required=True),
        _c("minor", Type.SMALLINT, "ParseMinor: Nutch's code.", required=True),
        _c("parse_message", Type.STRING, "Why the parse failed; target of a refresh."),
        _c("parser", Type.STRING, "The parser plugin that did it."),
        _c("title", Type.STRING, "Title of the document."),
        _c("charset", Type.STRING, "Encoding used, WHATWG name in lower case."),
        _c("language", Type.STRING, "Declared or detected language, BCP 47."),
        _c("canonical_url", Type.STRING, "rel=canonical of the page, resolved."),
        _c(
            "robots_noindex",
            Type.BOOLEAN,
            "Meta robots or X-Robots-Tag say noindex.",
            required=True,
        ),
        _c("robots_nofollow", Type.BOOLEAN, "… say nofollow.", required=True),
        _c("robots_noarchive", Type.BOOLEAN, "… say noarchive.", required=True),
        _c("canonical", Type.BOOLEAN, "False for a document inside another.", required=True),
        _c("signature", Type.BINARY, "Fingerprint of the content."),
        _c("outlinks_found", Type.INT, "Links before filters and the limit.", required=True),
        _c("outlinks_kept", Type.INT, "Links kept.", required=True),
        _c("outlinks_dropped", Type.STRING_MAP, "Reason to number of links dropped."),
        _c("content_metadata", Type.STRING_LISTS, "Reply headers and fetch facts."),
        _c("parse_metadata", Type.STRING_LISTS, "What the parser and parse filters found."),
    ),
)

PARSE_TEXT = TableSchema(
    name="parse_text",
    key=("url",),
    columns=(
        _URL,
        _c("text", Type.STRING, "Visible text of the document.", required=True),
        _c("main_text", Type.STRING, "Its main content, where that was asked for."),
    ),
)

LINKDB = TableSchema(
    name="linkdb",
    key=("url", "from_url", "anchor"),
    columns=(
        _URL,
        _c("from_url", Type.STRING, "The page that links.", required=True),
        _c("anchor", Type.STRING, "Text of the link; may be empty.", required=True),
        _c("bucket", Type.INT, "Bucket of url, as in the crawldb.", required=True),
        _c("metadata", Type.STRING_MAP, "Metadata of the link."),
    ),
    stats=("bucket",),
)

HOSTDB = TableSchema(
    name="hostdb",
    key=("host",),
    columns=(
        _c("host", Type.STRING, "Queue key: host, domain or address, lower case.", required=True),
        _c("last_request_end", Type.TIMESTAMP, "End of the last request to it."),
        _c("delay_ms", Type.INT, "Delay in force at that time."),
        _c("backoff_until", Type.TIMESTAMP, "No request before this time."),
        _c("failures", Type.INT, "Exceptions in a row.", required=True),
        _c("robots_url", Type.STRING, "Where its robots.txt was asked for."),
        _c("robots_time", Type.TIMESTAMP, "When."),
        _c(
            "robots_status", Type.INT, "HTTP status of that request; one that failed leaves no row."
        ),
        _c("robots_body", Type.BINARY, "The bytes of the file, cut at the limit."),
    ),
)

TABLES = {
    table.name: table
    for table in (
        CRAWLDB,
        ORIGINS,
        LINKDB,
        HOSTDB,
        CRAWL_GENERATE,
        CRAWL_FETCH,
        CRAWL_PARSE,
        PARSE_DATA,
        PARSE_TEXT,
    )
}
