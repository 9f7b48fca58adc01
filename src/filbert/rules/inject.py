"""Seeds into the crawldb: what is new, what is replaced, what is added to.

Guarantee: the last seed of a URL wins; without `overwrite` and `update` a page that is there stays
as it is, so that the same seeds injected again change nothing. As in Nutch, `update` takes a
score or interval only where it differs from the setting's.
Source: Nutch `Injector.InjectReducer`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.model.schemas import CRAWLDB, Column, TableSchema, Type
from filbert.model.statuses import PageStatus
from filbert.rules.schedule import real
from filbert.rules.scoring import chained_score
from filbert.rules.sql import literal, render

if TYPE_CHECKING:
    from filbert.settings import Settings

__all__ = ["SEEDS", "Injection"]

SEEDS = TableSchema(
    name="seeds",
    key=(),
    columns=(
        *CRAWLDB.select("page", ("url", "bucket", "host", "domain")).columns,
        Column("score", Type.FLOAT, "From the line; null: the setting's."),
        Column("fetch_interval", Type.INT, "Seconds, from the line; null: the setting's."),
        *CRAWLDB.select("page", ("fixed_interval", "depth", "max_depth", "metadata")).columns,
        Column("origin", Type.STRING, "File and line.", nullable=False),
        Column("ordinal", Type.BIGINT, "Order of the lines; the last one wins.", nullable=False),
    ),
    stats=("bucket",),
)
"""The view that the queries read: a row for every seed line that was accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One injection: settings, the time (epoch ms) and the version that its rows will be of.

    `injected` are the scoring plugins' expressions, in order.
    """

    settings: Settings
    injected: tuple[str, ...]
    now: int
    seq: int

    def merge(self) -> str:
        """SQL: the rows of one bucket afterwards. Views: `crawldb`, `seeds`."""
        return render(
            "inject.sql",
            unfetched=literal(PageStatus.DB_UNFETCHED),
            now=literal(self.now),
            seq=literal(self.seq),
            default_interval=literal(self.settings.schedule.interval_default_s),
            default_score=real(self.settings.inject.score),
            overwrite=literal(self.settings.inject.overwrite),
            update=literal(self.settings.inject.update),
            page_columns=", ".join(CRAWLDB.names),
            kept=self._kept(),
            last_seeds=self._last_seeds(),
        )

    def count(self) -> str:
        """SQL: one row: unique_seeds, new_pages, merged, changed. Views: `crawldb`, `seeds`."""
        return render(
            "inject_count.sql",
            changed=self._changed(),
            kept=self._kept(),
            last_seeds=self._last_seeds(),
        )

    def origins(self) -> str:
        """SQL: the rows that `origins` lacks. Views: `seeds`, `origins`."""
        return render("inject_origins.sql", now=literal(self.now))

    def purged(self) -> str:
        """SQL: one row: how many pages the purge takes. View: `crawldb`."""
        return f"select count(*) as purged from crawldb where not ({self._kept()})"

    def _kept(self) -> str:
        if not self.settings.update.purge_404:
            return "true"
        return f"status <> {literal(PageStatus.DB_GONE)}"

    def _last_seeds(self) -> str:
        return render(
            "inject_seeds.sql",
            score=chained_score(self.injected, "score_in"),
            default_score=real(self.settings.inject.score),
            default_interval=literal(self.settings.schedule.interval_default_s),
        )

    def _changed(self) -> str:
        inject = self.settings.inject
        new = "seed.url is not null and old.url is null"
        both = "seed.url is not null and old.url is not null"
        if inject.overwrite:
            return "seed.url is not null"
        if not inject.update:
            return new
        interval = literal(self.settings.schedule.interval_default_s)
        added = "cast(map_overlay(old.metadata, seed.metadata) as string)"
        differs = (
            f"(seed.score <> {real(inject.score)} and seed.score <> old.score)"
            f" or (seed.fetch_interval <> {interval} and seed.fetch_interval <> old.fetch_interval)"
            " or seed.fixed_interval <> coalesce(old.fixed_interval, cast('-1' as float))"
            " or seed.max_depth <> coalesce(old.max_depth, -1)"
            f" or {added} <> coalesce(cast(old.metadata as string), '')"
        )
        return f"({new}) or ({both} and ({differs}))"
