"""`filbert readlinkdb`: who links to a page.

Guarantee: only reads; values that users give enter SQL as literals.
Source: Nutch's `LinkDbReader` (whose -regex never worked; this one does).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from filbert.engine.duck import quoted
from filbert.reports.readdb import checked_regex
from filbert.reports.sql import Rows, answer
from filbert.reports.views import open_views

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder

__all__ = ["dump_links", "inlinks"]


def inlinks(crawl: CrawlFolder, url: str, settings: EngineSettings) -> list[dict[str, Any]]:
    """Return the links to a URL: from_url, anchor, metadata; none if there is no information."""
    sql = (
        f"select from_url, anchor, metadata from inlinks where url = {quoted(url)} "
        "order by from_url, anchor"
    )
    with open_views(crawl, settings, names=["inlinks"], url=url) as connection:
        return list(answer(connection, sql, settings).rows)


@contextlib.contextmanager
def dump_links(crawl: CrawlFolder, settings: EngineSettings, *, regex: str = "") -> Iterator[Rows]:
    """Open the stream of all links whose target matches `regex` as a whole (RE2), by target."""
    where = f"regexp_full_match(url, {quoted(checked_regex(regex))})" if regex else "true"
    sql = f"select * from inlinks where {where} order by url, from_url, anchor"
    with open_views(crawl, settings, names=["inlinks"]) as connection:
        yield answer(connection, sql, settings)
