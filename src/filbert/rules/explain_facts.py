"""All that a crawl folder knows of one URL, as values; and what can be said of it, as statements.

Guarantee: nothing is judged here; `rules.explain` does that. Rows have the columns of their
tables, times in epoch milliseconds; a row of a segment has its `segment` besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filbert.plugins.url_chain import ChainVerdict

__all__ = [
    "Facts",
    "HostFacts",
    "IndexFacts",
    "LinkFacts",
    "Part",
    "RobotsFacts",
    "Row",
    "Statement",
    "VersionFacts",
]

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFacts:
    """The row of the URL in one version of the crawldb; None: it had none."""

    version: int
    time: int
    step: str
    segments: tuple[str, ...]
    row: Row | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsFacts:
    """The robots.txt that is stored for the origin, and its verdict now.

    `read`: the file holds rules that were read; else `meaning` says what its answer meant.
    """

    origin: str
    url: str
    time: int | None
    http_status: int | None
    meaning: str
    read: bool
    allowed: bool
    rule: str
    line: int = 0  # of the rule, in the file; 0: no line decided
    group: str = ""
    expired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """What is known of the host."""

    host: str
    pages: int = 0
    by_status: Mapping[int, int] = field(default_factory=dict)
    near: tuple[str, ...] = ()  # known URLs that look most like the one asked for
    politeness: Row | None = None  # the row of hostdb


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFacts:
    """Links of the page: how many, and the first few rows."""

    inlinks: int = 0
    inlink_rows: tuple[Row, ...] = ()  # linkdb
    mentions: int = 0
    mention_rows: tuple[Row, ...] = ()  # crawl_parse rows that name it, oldest first
    outlinks: int = 0
    outlink_rows: tuple[Row, ...] = ()  # crawl_parse rows of it, newest segment


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFacts:
    """What the embedded index says."""

    exists: bool = False
    document: Mapping[str, list[Any]] | None = None
    segments: frozenset[str] = frozenset()  # absorbed
    version: int = -1  # crawldb version it is true to


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything, for `rules.explain.explain`.

    Attributes:
        asked: The URL as the user gave it.
        key: The key that it is, or would be, stored under; None: no plugin lets it in.
        verdict: What the chain says now.
        broken: Why the plugins that the settings name cannot be asked; empty: they were.
        under_way: Captures so far, by segments whose fetch has not ended.
        due_reason: generate's reason not to choose it now; "" if it would; None: not known.
        settings: The few settings that the words need.
    """

    asked: str
    now: int
    verdict: ChainVerdict
    no_url: str = ""  # why no crawl can have it
    broken: str = ""
    under_way: Mapping[str, int] = field(default_factory=dict)
    key: str | None = None
    page: Row | None = None
    origin: Row | None = None
    versions: tuple[VersionFacts, ...] = ()
    generated: tuple[Row, ...] = ()
    left_due: tuple[Row, ...] = ()  # of fetch lists: segment, reason, meaning
    fetched: tuple[Row, ...] = ()
    redirects_here: tuple[Row, ...] = ()
    parsed: tuple[Row, ...] = ()
    links: LinkFacts = LinkFacts()
    robots: RobotsFacts | None = None
    robots_failure: str = ""  # why the newest fetch that asked for it could not have it
    host: HostFacts = HostFacts(host="")
    index: IndexFacts = IndexFacts()
    twin: str = ""  # of a duplicate: the page that stays
    ignores_internal: bool = False  # links.ignore_internal
    generate_filters: bool = True  # generate.filter
    due_reason: str | None = None
    lock_until: int | None = None
    open_segments: tuple[str, ...] = ()  # generated, not yet absorbed by updatedb
    min_score: float | None = None
    sort_value: float | None = None


class Part(StrEnum):
    """The parts of an explanation, in order."""

    ANSWER = "answer"
    RULES = "rules"
    HISTORY = "history"
    NEXT = "next"
    LINKS = "links"
    INDEX = "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that is known: in words, with notes below it, and as values."""

    part: Part
    kind: str
    text: str
    time: int | None = None
    notes: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
