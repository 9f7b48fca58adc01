"""The frozen records that page work passes on.

Guarantee: values only; nothing here opens, fetches or decides. Times are epoch milliseconds,
intervals seconds. A record's fields carry the names of the table columns they end in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from filbert.model.statuses import FetchStatus, ParseMajor, ParseMinor, ProtocolStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ArchivedCapture",
    "CrawlDatum",
    "Document",
    "FetchItem",
    "FetchRecord",
    "FetchRequest",
    "Inlink",
    "Link",
    "Page",
    "Parse",
    "ProtocolOutput",
    "RobotsRequest",
    "Verdict",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlDatum:
    """What travels with a URL from crawldb to fetch and back (Nutch: `CrawlDatum`)."""

    fetch_interval: int
    score: float
    retries: int = 0
    modified_time: int | None = None
    signature: bytes | None = None
    fixed_interval: float | None = None
    depth: int | None = None
    max_depth: int | None = None
    orphan_time: int | None = None
    content_type: str | None = None
    repr_url: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    metadata_types: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchItem:
    """One entry of a fetch list (Nutch: `FetchItem`; once `FetchListEntry`).

    `hop` counts the redirects followed at once to get here; `url` is the key, `raw_url` the
    bytes to ask for where they differ.
    """

    url: str
    host: str
    domain: str
    part: int
    position: int
    datum: CrawlDatum
    hop: int = 0
    raw_url: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """What a protocol plugin is asked to fetch."""

    url: str
    raw_url: bytes | None = None
    modified_time: int | None = None
    etag: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    content_limit: int | None = None  # bytes after decoding; None: the setting's
    delay_ms: int | None = None  # the queue's, if it must be asked twice; None: the setting's
    robots: bool = False  # the request is for a robots.txt


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedCapture:
    """Where an answer comes from that no host was asked for: a capture of an archive.

    `date_ms` is when it was captured, `record_id` its WARC-Record-ID; both empty for an answer
    that only says that the archive has none.
    """

    date_ms: int | None = None
    record_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolOutput:
    """What a protocol plugin gives back, whatever the server did (Nutch: `ProtocolOutput`).

    `request_head` and `response_head` are the verbatim bytes, `raw_body` the body as it came
    (content coding kept), `body` the decoded one. `location` is a redirect target as sent.
    """

    status: ProtocolStatus
    message: str = ""
    http_status: int | None = None
    request_head: bytes = b""
    response_head: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    raw_body: bytes = b""
    body: bytes = b""
    location: bytes | None = None
    content_type: str | None = None  # as declared
    ip: str | None = None
    protocol: str | None = None
    response_ms: int = 0
    truncated: str | None = None  # length, time or disconnect
    archived: ArchivedCapture | None = None  # None: a host was asked
    unrendered: ProtocolOutput | None = None  # what the server sent, where a browser made the body
    rendered_by: str = ""  # the browser that did

    def header(self, name: str) -> str | None:
        """Return the last value of header `name` (any case), or None."""
        wanted = name.lower()
        found = [value for key, value in self.headers if key.lower() == wanted]
        return found[-1] if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRecord:
    """One row of `crawl_fetch`: the end of one fetch, or why there was none."""

    url: str
    host: str
    domain: str
    hop: int
    part: int
    position: int
    status: FetchStatus
    fetch_time: int
    datum: CrawlDatum
    protocol_code: ProtocolStatus
    protocol_message: str = ""
    http_status: int | None = None
    reason: str | None = None
    robots_rule: str | None = None
    raw_url: bytes | None = None
    redirect_url: str | None = None
    redirect_verdict: str | None = None
    ip: str | None = None
    protocol: str | None = None
    response_ms: int | None = None
    truncated: str | None = None
    warc_file: str | None = None
    warc_offset: int | None = None
    warc_length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsRequest:
    """A request for a robots.txt: what its WARC record says of it, since it has no row."""

    url: str
    fetch_time: int
    raw_url: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A captured page as a parser sees it (Nutch: `Content`)."""

    url: str
    base_url: str
    body: bytes
    content_type: str  # detected
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # lower-case names
    fetch_time: int = 0
    truncated: str | None = None
    datum: CrawlDatum | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One outlink of a page (Nutch: `Outlink`): absolute URL and anchor text."""

    url: str
    anchor: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parse:
    """What a parser made of a page (Nutch: `Parse`, `ParseData`, `ParseText`).

    `links_dropped` counts links of the page that are not among `links`, by reason. `refresh` is a
    meta refresh or Refresh header: (absolute target, seconds). `url` names a document inside the
    page; None is the page itself.
    """

    major: ParseMajor = ParseMajor.SUCCESS
    minor: ParseMinor = ParseMinor.OK
    message: str = ""
    url: str | None = None
    title: str = ""
    text: str = ""
    main_text: str | None = None
    links: tuple[Link, ...] = ()
    links_dropped: Mapping[str, int] = field(default_factory=dict)
    charset: str | None = None
    language: str | None = None
    canonical_url: str | None = None
    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    refresh: tuple[str, int] | None = None
    metadata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inlink:
    """One link into a page (Nutch: `Inlink`)."""

    from_url: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document on its way into an index (Nutch: `NutchDocument`): field to values."""

    url: str
    fields: Mapping[str, tuple[str | int | float, ...]]
    boost: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchEvent:
    """Something that happened to a page, told to publishers (Nutch: `FetcherThreadEvent`).

    Attributes:
        kind: start (it is asked for), end (it was answered, or refused), report (it was parsed).
        url: The page's key.
        time: Epoch ms.
        facts: What else is known, as plain values: of an end `status`, `http_status`, `reason`;
            of a report `title`, `content_type`, `outlinks`.
    """

    kind: Literal["start", "end", "report"]
    url: str
    time: int
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a rule says of a URL, and by which line; `reason` is a name that can be counted."""

    accepted: bool
    reason: str = ""
    rule: str = ""
