"""What a round does to the crawldb: Nutch's CrawlDbReducer as SQL.

Guarantee: pure functions from settings, plugins and `now` to queries over named views; the same
rows come out whatever the order of the input. What a status becomes is `rules/transitions.py`.
Source: Nutch `CrawlDbReducer`, `CrawlDbFilter`; where we differ: docs/from-nutch.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.model.schemas import CRAWLDB, DATUM_COLUMNS, ORIGINS, Column, TableSchema, Type
from filbert.model.statuses import FetchStatus, PageStatus
from filbert.plugins.contracts import SqlColumn
from filbert.rules.schedule import DAY_MS, gone_interval, refetch_interval
from filbert.rules.scoring import chained_score
from filbert.rules.sql import literal, render, stages
from filbert.rules.transitions import LINKED, TRANSITIONS, Act, case_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filbert.plugins.contracts import Schedule, Scoring
    from filbert.settings import Settings

__all__ = ["TOUCHED", "Derived", "UpdateRule", "given_rows_sql"]

TOUCHED = TableSchema(
    name="touched",
    key=("url",),
    columns=(
        CRAWLDB["url"],
        Column("event", Type.SMALLINT, "Fetch status, or LINKED.", nullable=False),
        Column("old_status", Type.SMALLINT, "PageStatus before; null: a new page."),
        Column("status", Type.SMALLINT, "PageStatus after.", nullable=False),
        *ORIGINS.select("origin", ("origin", "origin_url", "first_seen")).columns,
    ),
)
"""New and fetched pages of a round: what they were, what they are, who named them."""


@dataclass(frozen=True, slots=True)
class Derived:
    """One of the small tables that a round is brought down to: its query and its columns."""

    sql: str
    schema: TableSchema


_PLACE = tuple(CRAWLDB[name] for name in ("url", "bucket", "host", "domain"))
# Between the queries times stay epoch milliseconds.
_DATUM_COLUMNS = tuple(
    Column(name, Type.BIGINT if kind is Type.TIMESTAMP else kind, doc)
    for name, kind, doc in ((name, CRAWLDB[name].type, CRAWLDB[name].doc) for name in DATUM_COLUMNS)
)
_DATUM = ", ".join(DATUM_COLUMNS)
_SAID = """(
    select p.*, c.number as from_number
    from crawl_parse p
    left join captured c on c.url = p.from_url
    where p.to_db and (p.from_url is null or c.url is not null)
  ) said
  where true"""
_IS_LINK = "kind in ('outlink', 'redirect', 'refresh', 'adjust')"
_LINKS = f"{_SAID} and {_IS_LINK}"
_CARRIED = set(DATUM_COLUMNS) - {"score", "retries", "fetch_interval", "metadata_types"}
_LADEN = f"{_IS_LINK} and ({' or '.join(f'{name} is not null' for name in sorted(_CARRIED))})"
_SCHEDULED = ", ".join(
    sorted(
        {
            literal(event)
            for (event, _), by_old in TRANSITIONS.items()
            if any(transition.act is Act.SCHEDULED for transition in by_old.values())
        }
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRule:
    """One updatedb: the settings and plugins that decide, and the time that it happens.

    Attributes:
        settings: All settings.
        schedule: When pages are due again.
        scorings: What pages are worth, in order.
        now: Epoch milliseconds.
        buckets: Buckets of the crawldb.
    """

    settings: Settings
    schedule: Schedule
    scorings: Sequence[Scoring]
    now: int
    buckets: int

    def captured(self) -> Derived:
        """Number the pages captured. View: `crawl_fetch`, as it lies in the segments."""
        number = Column("number", Type.BIGINT, "From 1, by URL.", nullable=False)
        return _derived("captured", render("update_captured.sql"), (CRAWLDB["url"], number))

    def fetched(self) -> Derived:
        """Say what the captures say. Views: `crawl_fetch`, `crawl_parse`, `captured`."""
        sql = render(
            "update_fetched.sql",
            datum=_DATUM,
            said=_SAID,
            buckets=literal(self.buckets),
            fetch_success=literal(FetchStatus.FETCH_SUCCESS),
            scheduled=_SCHEDULED,
        )
        columns = (
            *_PLACE,
            Column("fetch_status", Type.SMALLINT, "FetchStatus.", nullable=False),
            Column("fetched_at", Type.BIGINT, "When the fetch ended."),
            *_DATUM_COLUMNS,
            Column("new_signature", Type.BINARY, "Fingerprint of what was fetched."),
            Column("inside", Type.STRING, "The page that the document lies in."),
            Column("redirect_from", Type.STRING, "The page that redirected to it at once."),
        )
        return _derived("fetched", sql, columns)

    def linked(self, *, crowded: bool = False, displaced: bool = False) -> Derived:
        """Say what the links say. Views: `crawl_parse`, `captured`.

        Args:
            crowded: Some page has more than `update.max_inlinks` links: those of best score are to
                be found. (It costs a pass over all links, and few rounds need it.)
            displaced: Segments disagree on the host or domain of some URL, since they were parsed
                with different suffix lists: one of them is taken.
        """
        limit = literal(self.settings.update.max_inlinks)
        crowd = render("update_crowded.sql", max_inlinks=limit, links=_LINKS, datum=_DATUM)
        sql = render(
            "update_linked.sql",
            crowded=f"{crowd}\n" if crowded else "",
            counted="counted" if crowded else _LINKS,
            keys="url" if displaced else "url, host, domain",
            place="min(host) as host, min(domain) as domain" if displaced else "host, domain",
            buckets=literal(self.buckets),
            aggregates="".join(f",\n  {c.sql} as {c.name}" for c in self._aggregates()),
        )
        columns = (
            *_PLACE,
            Column("inlinks", Type.BIGINT, "Links that count.", nullable=False),
            Column("best_score", Type.FLOAT, "The greatest of their scores."),
            Column("link_number", Type.BIGINT, "First page that links to it."),
            Column("redirect_number", Type.BIGINT, "First page that redirects to it."),
            Column("refresh_number", Type.BIGINT, "First page that refreshes to it."),
            *(Column(c.name, Type.DOUBLE, "Of its inlinks.") for c in self._aggregates()),
        )
        return _derived("linked", sql, columns)

    def laden_sql(self) -> str:
        """Count the links that carry more than a score. View: `crawl_parse`."""
        return f"select count(*) as links from crawl_parse where to_db and {_LADEN}"

    def best(self) -> Derived:
        """Find the best link where that matters. Views: `crawl_parse`, `captured`."""
        sql = render(
            "update_best.sql",
            links=_LINKS,
            laden=_LADEN,
            datum=_DATUM,
            b_datum=", ".join(f"b.{name}" for name in DATUM_COLUMNS),
            buckets=literal(self.buckets),
        )
        return _derived("best", sql, (*_PLACE[:2], *_DATUM_COLUMNS))

    def touched_sql(self) -> str:
        """Return the query that says what became of whom (`TOUCHED`).

        Views: those of `crawldb_sql`, and `captured`.
        """
        return render(
            "update_touched.sql",
            update=self._update_sql(seq=0, join="right"),
            now=literal(self.now),
            linked=literal(LINKED),
        )

    def crawldb_sql(self, *, seq: int) -> str:
        """Return the query that makes a bucket's new rows, of version `seq`.

        Views: `crawldb`, `fetched`, `linked` and `best`, all of that bucket.
        """
        return self._update_sql(seq=seq, join="full")

    def _update_sql(self, *, seq: int, join: str) -> str:
        update, schedule = self.settings.update, self.settings.schedule
        scoring, score = self._scoring()
        return render(
            "update.sql",
            join=join,
            not_purged=self._not_purged(),
            admitted="true" if update.additions_allowed else "o.url is not null",
            linked=literal(LINKED),
            fetch_success=literal(FetchStatus.FETCH_SUCCESS),
            fetch_notmodified=literal(FetchStatus.FETCH_NOTMODIFIED),
            fetch_retry=literal(FetchStatus.FETCH_RETRY),
            db_unfetched=literal(PageStatus.DB_UNFETCHED),
            scheduled=_SCHEDULED,
            schedule=stages("prepared", self.schedule.columns(), "scheduled"),
            act=case_sql(lambda transition: literal(str(transition.act))),
            status=case_sql(lambda t: "old_status" if t.status is None else literal(t.status)),
            scoring=scoring,
            score=score,
            linked_aggregates="".join(f",\n    l.{c.name}" for c in self._aggregates()),
            aggregates="".join(f",\n    r.{c.name}" for c in self._aggregates()),
            retry_max=literal(update.retry_max),
            now=literal(self.now),
            seq=literal(seq),
            day_ms=literal(DAY_MS),
            default_interval=literal(schedule.interval_default_s),
            max_interval=literal(schedule.interval_max_s),
            gone_interval=gone_interval("old_interval", schedule.interval_max_s),
            forced_interval=refetch_interval("next_interval", schedule.interval_max_s),
        )

    def _aggregates(self) -> list[SqlColumn]:
        return [column for scoring in self.scorings for column in scoring.link_aggregates()]

    def _not_purged(self) -> str:
        purged = []
        if self.settings.update.purge_404:
            purged.append(PageStatus.DB_GONE)
        if self.settings.update.purge_orphans:
            purged.append(PageStatus.DB_ORPHAN)
        statuses = ", ".join(literal(status) for status in purged)
        return f"status not in ({statuses})" if purged else "true"

    def _scoring(self) -> tuple[str, str]:
        """Return the stages that score a page, and the column that has the result."""
        first = chained_score(
            [scoring.initial() for scoring in self.scorings], "cast(fetched_score as double)"
        )
        start = (
            f"cast(case act when '{Act.KEPT}' then old_score when '{Act.FIRST}' then {first}"
            " else fetched_score end as double)"
        )
        columns = [SqlColumn("score_0", start)]
        for number, scoring in enumerate(self.scorings):
            sql = chained_score([scoring.update()], f"score_{number}")
            columns.append(SqlColumn(f"score_{number + 1}", sql))
        return stages("acting", columns, "scored"), columns[-1].name


def given_rows_sql(rows: TableSchema) -> str:
    """Return the query that gives a segment's rows the URLs that the URL chains make of them.

    Views: the rows, by the schema's name, and `verdicts`.
    """
    changed = {"url": "target", "host": "target_host", "domain": "target_domain"}
    columns = ",\n  ".join(
        f"case when judged is null then {name} else {changed[name]} end as {name}"
        if name in changed
        else name
        for name in rows.names
    )
    return render("update_given.sql", rows=rows.name, columns=columns)


def _derived(name: str, sql: str, columns: tuple[Column, ...]) -> Derived:
    return Derived(sql, TableSchema(name=name, key=("url",), columns=columns))
