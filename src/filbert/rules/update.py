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

__all__ = ["TOUCHED", "UpdateRule", "given_rows_sql"]

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

_DATUM = ", ".join(DATUM_COLUMNS)
_SAID = (
    "crawl_parse where to_db and (from_url is null or from_url in (select c.url from captured c))"
)
_LINKS = f"{_SAID} and kind in ('outlink', 'redirect', 'refresh', 'adjust')"
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

    def fetched_schema(self) -> TableSchema:
        """Return the columns of what captures say; times stay epoch milliseconds."""
        names = {column.name for column in self._aggregates()}
        without = {"bucket", "inlinks", "refresh_from", *names}
        columns = tuple(c for c in self.round_schema().columns if c.name not in without)
        return TableSchema(name="fetched", key=("url",), columns=columns)

    def fetched_sql(self) -> str:
        """Return the query that says what the captures of a round say."""
        return render(
            "update_fetched.sql",
            datum=_DATUM,
            said=_SAID,
            fetch_success=literal(FetchStatus.FETCH_SUCCESS),
            scheduled=_SCHEDULED,
        )

    def round_schema(self) -> TableSchema:
        """Return the columns of the round's small side; its times stay epoch milliseconds."""
        datum = tuple(
            Column(c.name, Type.BIGINT if c.type is Type.TIMESTAMP else c.type, c.doc)
            for c in (CRAWLDB[name] for name in DATUM_COLUMNS)
        )
        columns = (
            *(CRAWLDB[name] for name in ("url", "bucket", "host", "domain")),
            Column("fetch_status", Type.SMALLINT, "FetchStatus; null: linked, not fetched."),
            Column("fetched_at", Type.BIGINT, "When the fetch ended."),
            *datum,
            Column("new_signature", Type.BINARY, "Fingerprint of what was fetched."),
            Column("inlinks", Type.BIGINT, "Links to the page that count.", nullable=False),
            Column("link_from", Type.STRING, "First page that links to it."),
            Column("redirect_from", Type.STRING, "First page that redirects to it."),
            Column("refresh_from", Type.STRING, "First page that refreshes to it."),
            *(Column(c.name, Type.DOUBLE, "Of its inlinks.") for c in self._aggregates()),
        )
        return TableSchema(name="round", key=("url",), columns=columns)

    def round_sql(self, *, crowded: bool) -> str:
        """Return the query that says what a round says of each page that it touched.

        Args:
            crowded: Some page has more than `update.max_inlinks` links: those of best score are to
                be found. (It costs a pass over all links, and few rounds need it.)
        """
        limit = literal(self.settings.update.max_inlinks)
        fragments = {"links": _LINKS, "datum": _DATUM}
        crowd = render("update_crowded.sql", max_inlinks=limit, **fragments) if crowded else ""
        return render(
            "update_round.sql",
            **fragments,
            crowded=f"{crowd}\n" if crowded else "",
            counted="counted" if crowded else _LINKS,
            buckets=literal(self.buckets),
            aggregates="".join(f",\n    {c.sql} as {c.name}" for c in self._aggregates()),
            aggregate_columns="".join(f",\n  l.{c.name}" for c in self._aggregates()),
        )

    def touched_sql(self) -> str:
        """Return the query over the same views that says what became of whom (`TOUCHED`)."""
        return render(
            "update_touched.sql",
            update=self._update_sql(seq=0, join="right"),
            now=literal(self.now),
            linked=literal(LINKED),
        )

    def crawldb_sql(self, *, seq: int) -> str:
        """Return the query that makes a bucket's new rows, of version `seq`.

        Views: `crawldb` and `round`, both of that bucket.
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
