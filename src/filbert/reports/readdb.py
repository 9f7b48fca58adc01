"""`filbert readdb`: rows of the crawldb: one, the best, or all that match.

Guarantee: only reads. Values that users give enter SQL as literals, but for `expr`, which is SQL
and is checked to be one expression.
Source: Nutch's `CrawlDbReader` (-url, -topN, -dump).
"""

from __future__ import annotations

import contextlib
import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from filbert.engine.duck import quoted
from filbert.errors import UserError
from filbert.model.statuses import PageStatus
from filbert.reports.sql import Rows, answer, one_query
from filbert.reports.views import open_views

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder

__all__ = ["Selection", "checked_regex", "dump", "dump_parquet", "find", "top"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which rows of the crawldb; all conditions hold together.

    Attributes:
        regex: The whole URL matches (RE2).
        status: Name of the status, such as db_fetched; case does not matter.
        retry: Retries are this or more; None: any.
        expr: An SQL condition over the view's columns.
        sample: Share of rows, 0 to 1; which ones is decided by the URL alone.
    """

    regex: str = ""
    status: str = ""
    retry: int | None = None
    expr: str = ""
    sample: float | None = None

    def where(self) -> str:
        """Return the SQL condition.

        Raises:
            UserError: A value is none of the right ones.
        """
        parts = []
        if self.regex:
            parts.append(f"regexp_full_match(url, {quoted(checked_regex(self.regex))})")
        if self.status:
            parts.append(f"status = {quoted(_checked_status(self.status))}")
        if self.retry is not None:
            parts.append(f"retries >= {self.retry:d}")
        if self.sample is not None:
            # The last 32 bits of a hash of the URL: the same rows each time, in any order.
            parts.append(f"(hash(url) & 4294967295) < {self.sample * 2**32:.0f}")
        if self.expr:
            one_query(f"select 1 where ({self.expr}\n)")
            parts.append(f"({self.expr}\n)")
        return " and ".join(parts) or "true"


def find(crawl: CrawlFolder, url: str, settings: EngineSettings) -> dict[str, Any] | None:
    """Return the crawldb's row of a URL, or None."""
    with open_views(crawl, settings, names=["crawldb"], url=url) as connection:
        found = answer(connection, f"select * from crawldb where url = {quoted(url)}", settings)
        return next(found.rows, None)


def top(
    crawl: CrawlFolder, count: int, settings: EngineSettings, *, min_score: float | None = None
) -> list[dict[str, Any]]:
    """Return the `count` pages of the highest score, of those that have `min_score` or more."""
    least = "true" if min_score is None else f"score >= {min_score!r}"
    sql = (
        f"select score, url, status from crawldb where {least} and not isnan(score) "
        f"order by score desc, url limit {count:d}"
    )
    with open_views(crawl, settings, names=["crawldb"]) as connection:
        return list(answer(connection, sql, settings).rows)


@contextlib.contextmanager
def dump(crawl: CrawlFolder, selection: Selection, settings: EngineSettings) -> Iterator[Rows]:
    """Open the stream of all rows that match."""
    sql = f"select * from crawldb where {selection.where()}"
    with open_views(crawl, settings, names=["crawldb"]) as connection:
        yield answer(connection, sql, settings)


def dump_parquet(
    crawl: CrawlFolder, selection: Selection, settings: EngineSettings, output: Path
) -> int:
    """Write all rows that match into one Parquet file and return their number."""
    fresh = output.with_name(f".{output.name}.new")
    copy = (
        f"copy (select * from crawldb where {selection.where()}) to "
        f"{quoted(str(fresh.absolute()))} (format parquet, compression zstd)"
    )
    try:
        with open_views(crawl, settings, names=["crawldb"], output=fresh) as connection:
            rows = list(answer(connection, copy, settings).rows)
        fresh.replace(output)
    finally:
        fresh.unlink(missing_ok=True)
    return int(rows[0]["Count"])


def _checked_status(name: str) -> str:
    labels = [status.label for status in PageStatus]
    if name.lower() in labels:
        return name.lower()
    near = difflib.get_close_matches(name.lower(), labels, n=1, cutoff=0.4)
    raise UserError(
        f"there is no status {name!r}",
        hint=f"did you mean {near[0]}?" if near else f"right are: {', '.join(labels)}",
    )


def checked_regex(pattern: str) -> str:
    """Return the pattern if it is one; a UserError says what is wrong with it."""
    try:
        duckdb.execute("select regexp_full_match('', ?)", [pattern]).fetchone()
    except duckdb.Error as error:
        reason = str(error).removeprefix("Invalid Input Error: ")
        raise UserError(
            f"the pattern {pattern!r} is wrong: {reason}",
            hint="patterns are RE2's and must match the whole URL, such as: https?://[^/]+/a/.*",
        ) from error
    return pattern
