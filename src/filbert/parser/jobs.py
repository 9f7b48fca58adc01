"""What goes to the guarded process and comes back.

Guarantee: plain values that pickle; nothing here opens or decides.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from filbert.model.statuses import ParseMinor
    from filbert.settings import Settings

__all__ = ["Failure", "PageRows", "ParseJob", "ParseOptions", "Row"]

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseOptions:
    """What a guarded process needs to know once.

    Attributes:
        settings: Settings of the crawl.
        folder: The crawl folder, where plugins look for their files.
    """

    settings: Settings
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseJob:
    """One captured page to be parsed.

    Attributes:
        url: The page's key.
        base_url: What was asked for: links are resolved against it.
        body: The decoded body.
        declared_type: Content-Type, as the server says.
        headers: Reply headers under lower-case names.
        fetch_time: When it was captured, epoch ms.
        truncated: length, time or disconnect, if the body was cut.
        score: The page's score, which its links share.
        known_type: The media type that the row of crawl_fetch has.
        uses: What robots.txt said of the use of the page, when it was captured.
    """

    url: str
    base_url: str
    body: bytes
    declared_type: str | None
    headers: Mapping[str, tuple[str, ...]]
    fetch_time: int
    truncated: str | None = None
    score: float = 0.0
    known_type: str | None = None
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRows:
    """The rows that one page became, by table, and what was counted."""

    parse_data: list[Row] = field(default_factory=list)
    parse_text: list[Row] = field(default_factory=list)
    crawl_parse: list[Row] = field(default_factory=list)
    counters: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a page was given up from outside: its process was killed, or never began."""

    minor: ParseMinor
    message: str
    counter: str
