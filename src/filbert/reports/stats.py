"""`filbert readdb --stats`: the crawldb in figures.

Guarantee: Nutch's figures under Nutch's names and in its order; quantiles are exact.
Source: Nutch's `CrawlDbReader.processStatJob`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from filbert.model.statuses import PageStatus
from filbert.reports.views import open_views

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder

__all__ = ["Figure", "crawldb_stats"]

# Nutch's db.stats.score.quantiles.
_QUANTILES = (
    *(0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5),
    *(0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure: its name, its value for programs, and as people read it."""

    name: str
    value: int | float | str
    text: str


def crawldb_stats(
    crawl: CrawlFolder, settings: EngineSettings, *, by_host: bool = False
) -> list[Figure]:
    """Return the figures of the newest crawldb.

    Args:
        crawl: The crawl folder.
        settings: Memory and threads.
        by_host: Under each status, how many pages of each host.
    """
    with open_views(crawl, settings, names=["crawldb"]) as connection:
        figures = [_count("TOTAL urls", _one(connection, "select count(*) from crawldb")[0])]
        if figures[0].value:
            figures += _intervals(connection)
            figures += _times(connection)
            figures += _retries(connection)
            figures += _scores(connection)
            figures += _statuses(connection, by_host=by_host)
    return figures


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(sql).fetchone()
    assert row is not None
    return row


def _count(name: str, value: int) -> Figure:
    return Figure(name=name, value=value, text=str(value))


def _intervals(connection: duckdb.DuckDBPyConnection) -> Iterator[Figure]:
    found = _one(
        connection,
        "select min(fetch_interval), max(fetch_interval), avg(fetch_interval) from crawldb",
    )
    for name, seconds in zip(("shortest", "longest", "avg"), found, strict=True):
        rounded = timedelta(seconds=int(seconds))
        hours, rest = divmod(rounded.seconds, 3600)
        text = f"{rounded.days} days, {hours:02d}:{rest // 60:02d}:{rest % 60:02d}"
        yield Figure(name=f"{name} fetch interval", value=int(seconds), text=text)


def _times(connection: duckdb.DuckDBPyConnection) -> Iterator[Figure]:
    found = _one(
        connection, "select min(fetch_time), max(fetch_time), avg(fetch_time) from crawldb"
    )
    names = ("earliest fetch time", "latest fetch time", "avg of fetch times")
    for name, time in zip(names, found, strict=True):
        assert isinstance(time, datetime)
        text = time.isoformat(sep=" ", timespec="minutes")
        yield Figure(name=name, value=time.isoformat(timespec="minutes") + "Z", text=text)


def _retries(connection: duckdb.DuckDBPyConnection) -> Iterator[Figure]:
    sql = "select retries, count(*) from crawldb group by retries order by retries"
    for retries, count in connection.execute(sql).fetchall():
        yield _count(f"retry {retries}", count)


def _scores(connection: duckdb.DuckDBPyConnection) -> Iterator[Figure]:
    listed = ", ".join(str(q) for q in _QUANTILES)
    nan, *bounds, quantiles = _one(
        connection,
        "select count(*) filter (isnan(score)), min(s), avg(cast(s as double)), max(s), "
        f"quantile_disc(s, [{listed}]) "
        "from (select score, case when isnan(score) then null else score end as s from crawldb)",
    )
    if nan:
        yield _count("score == NaN", nan)
    for quantile, value in zip(_QUANTILES, quantiles or (), strict=False):
        yield Figure(name=f"score quantile {quantile}", value=value, text=f"{value:.6g}")
    for name, value in zip(("min score", "avg score", "max score"), bounds, strict=True):
        if value is not None:
            yield Figure(name=name, value=value, text=f"{value:.6g}")


def _statuses(connection: duckdb.DuckDBPyConnection, *, by_host: bool) -> Iterator[Figure]:
    host = "host" if by_host else "null"
    sql = (
        f"select status_code, {host}, count(*) from crawldb "
        "group by all order by status_code, 3 desc, 2"
    )
    rows = connection.execute(sql).fetchall()
    for code in dict.fromkeys(row[0] for row in rows):
        mine = [(name, count) for status, name, count in rows if status == code]
        yield _count(f"status {code} ({_label(code)})", sum(count for _, count in mine))
        if by_host:
            for name, count in mine:
                yield _count(f"   {name}", count)


def _label(code: int) -> str:
    return PageStatus(code).label if code in set(PageStatus) else "unknown"
