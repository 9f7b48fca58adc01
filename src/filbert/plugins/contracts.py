"""Every extension point on one page: one Protocol each.

What plugins take and give (`Verdict`, `Page`, `Parse`, `Document` …) is imported from here too.
Guarantee: the built-ins implement exactly these, and enter by the same door as a stranger's
package: an entry point in the group `filbert.<point>` or a module file named in the setting
`plugins.files`. A plugin class is made by `cls.from_settings(settings, folder)`, where `folder`
is the folder that relative rule files are looked up in. Every plugin has a `name`; one that is
part of a URL chain also has `fingerprint()`: equal fingerprints mean equal verdicts, None means
that it cannot tell (the crawldb then asks it again each time).
Source: Nutch's extension points (`URLFilter`, `URLNormalizer`, `Protocol`, `Parser`,
`HtmlParseFilter`, `ScoringFilter`, `FetchSchedule`, `Signature`, `IndexingFilter`, `IndexWriter`,
`NutchPublisher`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from filbert.model.records import (
    ArchivedCapture,
    Document,
    FetchEvent,
    FetchRequest,
    Inlink,
    Link,
    Page,
    Parse,
    ProtocolOutput,
    Verdict,
)
from filbert.model.statuses import ParseMajor, ParseMinor, ProtocolStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.settings import Settings

__all__ = [
    "ArchivedCapture",
    "Document",
    "FetchEvent",
    "FetchProtocol",
    "FetchRequest",
    "IndexFilter",
    "IndexInput",
    "IndexWriter",
    "Inlink",
    "Link",
    "Page",
    "Parse",
    "ParseFilter",
    "ParseMajor",
    "ParseMinor",
    "Parser",
    "Plugin",
    "ProtocolOutput",
    "ProtocolStatus",
    "Publisher",
    "RememberingWriter",
    "Schedule",
    "Scope",
    "Scoring",
    "Signature",
    "SqlColumn",
    "UrlFilter",
    "UrlNormalizer",
    "Verdict",
]


class Scope(StrEnum):
    """Where a URL is when the chains see it (Nutch: `URLNormalizers.SCOPE_*`).

    Nutch's `partition` is none: fetch lists are partitioned by host or domain, not by a chain.
    """

    DEFAULT = "default"
    INJECT = "inject"
    FETCHER = "fetcher"
    OUTLINK = "outlink"
    CRAWLDB = "crawldb"
    GENERATE_HOST_COUNT = "generate_host_count"
    LINKDB = "linkdb"
    INDEXER = "indexer"


class Plugin(Protocol):
    """What all plugins share."""

    name: str

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the plugin; UserError if its settings or rule files are wrong."""
        ...


class UrlNormalizer(Plugin, Protocol):
    """Brings spellings of one page to one key. Group `filbert.url_normalizers`."""

    def normalize(self, url: str, scope: Scope) -> str | None:
        """Return the URL in normal form; None if it is no URL at all."""
        ...

    def fingerprint(self) -> str | None:
        """Return a text that is equal only when all verdicts are equal."""
        ...


class UrlFilter(Plugin, Protocol):
    """Says which URLs belong to the crawl. Group `filbert.url_filters`."""

    def judge(self, url: str) -> Verdict:
        """Return the verdict on a normalised URL, with the rule that decided."""
        ...

    def fingerprint(self) -> str | None:
        """Return a text that is equal only when all verdicts are equal."""
        ...


class FetchProtocol(Plugin, Protocol):
    """Fetches URLs of some schemes. Group `filbert.protocols`.

    An async context manager: entered once per part, inside its event loop. `fetch` never raises
    for what a server does: that is a ProtocolOutput. One that says `only_mapped = True` fetches
    what the settings map to it, and is never chosen for its schemes alone. `longer_s`, if it has
    one, is how many seconds a fetch of its may take beyond the limits of a request.
    """

    schemes: frozenset[str]
    robots: bool  # False: the scheme has no robots.txt, all is allowed

    async def __aenter__(self) -> Self:
        """Open what the part needs."""
        ...

    async def __aexit__(self, *exc: object) -> None:
        """Close it."""
        ...

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        """Fetch one URL; no redirect is followed."""
        ...


class Publisher(Plugin, Protocol):
    """Is told what happens to pages (Nutch: `NutchPublisher`). Group `filbert.publishers`.

    A context manager: entered once per part. `publish` is called inside the loop of a fetch, so it
    must be quick: hand what takes time to a thread. An exception is counted, and nothing stops.
    """

    def __enter__(self) -> Self:
        """Open what the part needs."""
        ...

    def __exit__(self, *exc: object) -> None:
        """Close it; what was told has gone out."""
        ...

    def publish(self, event: FetchEvent) -> None:
        """Take an event."""
        ...


class Parser(Plugin, Protocol):
    """Reads documents of some content types. Group `filbert.parsers`."""

    @property
    def content_types(self) -> tuple[str, ...]:
        """Media types that it reads, or patterns such as `text/*`."""
        ...

    def parse(self, page: Page) -> Sequence[Parse]:
        """Return the page's parse, and those of the documents inside it."""
        ...


class ParseFilter(Plugin, Protocol):
    """Adds to, or changes, a parse (Nutch: `HtmlParseFilter`). Group `filbert.parse_filters`."""

    def filter(self, page: Page, parse: Parse) -> Parse:
        """Return the parse, changed or not."""
        ...


class Signature(Plugin, Protocol):
    """Fingerprint of a document's content. Group `filbert.signatures`."""

    def calculate(self, page: Page, parse: Parse | None) -> bytes:
        """Return the fingerprint, at most 256 bytes."""
        ...


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """A named SQL expression over documented input columns; later ones may use earlier ones."""

    name: str
    sql: str


class Schedule(Plugin, Protocol):
    """When a page is due again, as SQL (Nutch: `FetchSchedule`). Group `filbert.schedules`.

    `columns` may read, besides earlier ones: `prev_fetch_time`, `prev_modified_time`,
    `fetched_at` (bigint ms), `fetched_modified` (bigint ms or null), `old_interval`,
    `fixed_interval`, `page_content_type`, `page_host`, `modified_state` (0 unknown, 1 modified,
    2 not modified). It must give `next_fetch_time`, `next_interval`, `next_modified_time`.
    """

    def columns(self) -> Sequence[SqlColumn]:
        """Return the ordered list of columns."""
        ...


class Scoring(Plugin, Protocol):
    """Scores of pages (Nutch: `ScoringFilter`). Group `filbert.scorings`; several make a chain.

    The SQL hooks read named columns and the chained value `score_in`; `link_aggregates` are
    aggregates over the rows of `crawl_parse` that link to a page this round.
    """

    def link_aggregates(self) -> Sequence[SqlColumn]:
        """Return aggregates (sum, min, max) over inlinks, e.g. `inlink_score`."""
        ...

    def injected(self) -> str:
        """SQL: the score of a seed; reads `score_in`."""
        ...

    def initial(self) -> str:
        """SQL: the score of a page when first seen through a link; reads `score_in`."""
        ...

    def update(self) -> str:
        """SQL: the score after updatedb; reads `score_in`, `old_score`, the aggregates."""
        ...

    def sort(self) -> str:
        """SQL: generate's sort value; reads `score_in` (1.0 at first) and crawldb columns."""
        ...

    def distribute(
        self, page_score: float, from_url: str, links: Sequence[Link], found: int
    ) -> Sequence[float]:
        """Return each kept link's share of the page's score; `found` is before filtering."""
        ...

    def index_score(self, document: Document, db_score: float | None, init: float) -> float:
        """Return the document's boost."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexInput:
    """All that is known of a page when its document is made; an index filter reads it."""

    url: str
    segment: str
    title: str
    text: str
    content_metadata: Mapping[str, tuple[str, ...]]
    parse_metadata: Mapping[str, tuple[str, ...]]
    metadata: Mapping[str, str]
    content_type: str | None
    language: str | None
    charset: str | None
    signature: bytes | None
    noarchive: bool
    repr_url: str | None
    fetch_time: int
    modified_time: int | None
    score: float
    host: str
    inlinks: tuple[Inlink, ...] = ()
    outlinks: tuple[Link, ...] = ()


class IndexFilter(Plugin, Protocol):
    """Adds fields to a document, or drops it (Nutch: `IndexingFilter`). `filbert.index_filters`."""

    def filter(self, document: Document, page: IndexInput) -> Document | None:
        """Return the document with fields added; None drops it."""
        ...


class IndexWriter(Plugin, Protocol):
    """Writes documents to an index. Group `filbert.index_writers`. A context manager.

    Leaving it by an exception must leave the index as it was at the last commit.
    """

    def __enter__(self) -> Self:
        """Open the index for writing."""
        ...

    def __exit__(self, *exc: object) -> None:
        """Close it; nothing uncommitted stays."""
        ...

    def write(self, document: Document) -> None:
        """Add the document, or replace the one of the same URL."""
        ...

    def delete(self, url: str) -> None:
        """Delete the document of `url`; nothing happens if there is none."""
        ...

    def commit(self) -> None:
        """Make all that was written and deleted visible and durable."""
        ...


@runtime_checkable
class RememberingWriter(IndexWriter, Protocol):
    """An index writer whose index remembers, in the same commit, what it has absorbed.

    The index step then does nothing twice, and keeps the index true to the crawldb.
    """

    def clear(self) -> None:
        """Start from an empty index; called before entering. The old one stays until `commit`."""
        ...

    def memory(self) -> Mapping[str, str]:
        """Return what was remembered at the last commit."""
        ...

    def remember(self, memory: Mapping[str, str]) -> None:
        """Have `memory` take the place of what was remembered, with the next commit."""
        ...

    def holds(self, url: str) -> bool:
        """Say whether the last commit has a document of `url`."""
        ...
