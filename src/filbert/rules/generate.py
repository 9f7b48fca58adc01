"""Which pages to fetch next, into how many segments, as SQL.

Guarantee: the choice is exactly Nutch's for pages of different scores; of equal scores the URL
decides, so that it is the same on every engine and run. Each page that is not chosen is counted
under the first reason that holds, in Nutch's order. The floor on the sort value is for speed: it
changes no result.
Source: Nutch `Generator` (SelectorMapper, SelectorReducer), `AbstractFetchSchedule.shouldFetch`.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.model.schemas import CRAWLDB, Column, TableSchema, Type
from filbert.model.statuses import PageStatus
from filbert.rules.expression import where
from filbert.rules.schedule import DAY_MS, real, refetch_interval
from filbert.rules.scoring import chained_score
from filbert.rules.sql import literal, render

if TYPE_CHECKING:
    from filbert.settings.generate import GenerateSettings

__all__ = ["CANDIDATES", "CHOSEN", "PARTS", "Selection"]

_PLACE = CRAWLDB.select("place", ("url", "host", "domain")).columns
_KEY = Column("count_key", Type.STRING, "What max_count counts by.", nullable=False)
_SORT = Column("sort_value", Type.FLOAT, "Generate's sort value.", nullable=False)

CANDIDATES = TableSchema(name="candidates", key=("url",), columns=(*_PLACE, _SORT))
"""Pages that may be chosen, above the floor."""

RANKED = TableSchema(name="ranked", key=("url",), columns=(*_PLACE, _KEY, _SORT))
"""Candidates that the filters let pass, for the sequential pass: best first."""

CHOSEN = TableSchema(
    name="chosen",
    key=("url",),
    columns=(*_PLACE, _KEY, Column("segment", Type.INT, "From 1; 0: over max_count.")),
)
"""Pages and their segments."""

PARTS = TableSchema(
    name="parts",
    key=("part_key",),
    columns=(
        Column("part_key", Type.STRING, "Host or domain.", nullable=False),
        Column("part", Type.INT, "Its part.", nullable=False),
    ),
)
"""Which part a host or domain goes to."""

_BEST_FIRST = "sort_value desc, url"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is asked of one run of generate.

    Attributes:
        settings: Settings of generate, options of the command applied.
        max_interval_s: schedule.interval_max_s.
        sort: The scoring plugins' sort expressions, in order.
        now: Epoch ms; what is due is judged at `now` plus `add_days`.
        add_days: Days by which the clock is put forward.
    """

    settings: GenerateSettings
    max_interval_s: int
    sort: tuple[str, ...]
    now: int
    add_days: float = 0.0

    @property
    def due_at(self) -> int:
        """The time at which pages are judged due, epoch ms."""
        return self.now + round(self.add_days * DAY_MS)

    @property
    def limit(self) -> int | None:
        """URLs in all segments together; None: no limit."""
        if self.settings.top_n < 0:
            return None
        return self.settings.top_n * self.settings.max_num_segments

    @property
    def is_sequential(self) -> bool:
        """Whether segments that fill up move hosts on, which only one pass in order can tell."""
        capped = self.settings.max_count > 0 and self.settings.max_num_segments > 1
        return capped and self.settings.top_n >= 0

    def counts(self) -> str:
        """SQL: pages by reason (`due`: may be chosen), and when the first is due. View crawldb."""
        return (
            "select coalesce(rejected, 'due') as reason, count(*) as pages,"
            f" min(fetch_time) as first_due from ({self._judged('fetch_time')}) judged"
            " group by coalesce(rejected, 'due')"
        )

    def floor(self, among: int) -> str:
        """SQL: the least sort value of the best `among` pages. View crawldb."""
        return (
            "select min(sort_value) as floor from (select sort_value from"
            f" ({self._judged('fetch_interval')}) judged where rejected is null"
            f" order by sort_value desc limit {literal(among)}) best"
        )

    def candidates(self, floor: float | None) -> str:
        """SQL: pages that may be chosen and are not below the floor. View crawldb."""
        above = "" if floor is None else f" and sort_value >= {real(floor)}"
        judged = self._judged("url, host, domain")
        return (
            f"select url, host, domain, sort_value from ({judged}) judged"
            f" where rejected is null{above}"
        )

    def ranked(self) -> str:
        """SQL: candidates that the filters let pass. Views candidates, verdicts."""
        return render("generate_candidates.sql", count_key=self.settings.count_mode)

    def choice(self) -> str:
        """SQL: pages and their segments, where no sequential pass is needed.

        Views: candidates, verdicts.
        """
        assert not self.is_sequential
        top_n, cap = self.settings.top_n, self.settings.max_count
        limit, segments = self.limit, self.settings.max_num_segments
        count_rank, is_kept, kept_place, segment, fits = "1", "true", "1", "1", "true"
        if cap > 0:
            count_rank = f"row_number() over (partition by count_key order by {_BEST_FIRST})"
            is_kept = f"count_rank <= {literal(cap * segments)}"
            segment = f"cast(int_div(count_rank - 1, {literal(cap)}) + 1 as int)"
        if limit is not None:
            kept_place = (
                f"sum(case when {is_kept} then 1 else 0 end) over (order by {_BEST_FIRST}"
                " rows between unbounded preceding and current row)"
            )
            segment = f"cast(int_div(kept_place - 1, {literal(max(top_n, 1))}) + 1 as int)"
            full = literal(limit)
            fits = f"(is_kept and kept_place <= {full}) or (not is_kept and kept_place < {full})"
        return render(
            "generate_choice.sql",
            candidates=self.ranked(),
            count_rank=count_rank,
            is_kept=is_kept,
            kept_place=kept_place,
            segment=segment,
            fits=fits,
        )

    def segment(self, number: int, *, parts: bool) -> str:
        """SQL: the fetch list of segment `number`. Views crawldb, chosen and, if asked, parts."""
        mode = "domain" if self.settings.partition_mode == "domain" else "host"
        return render(
            "generate_segment.sql",
            page_columns=", ".join(_without("generate_time")),
            due_columns=", ".join(f"due_page.{name} as {name}" for name in CRAWLDB.names),
            generated=literal(self.now),
            due_pages=self._due(),
            segment=literal(number),
            part="parts.part" if parts else "0",
            parts=f"join parts on parts.part_key = chosen.{mode}" if parts else "",
        )

    def mark(self, seq: int) -> str:
        """SQL: one bucket with the chosen pages marked. Views crawldb, chosen."""
        return render(
            "generate_mark.sql",
            other_columns=", ".join(f"page.{n} as {n}" for n in _without("generate_time", "seq")),
            generated=literal(self.now),
            seq=literal(seq),
        )

    def _due(self) -> str:
        return render(
            "generate_due.sql",
            other_columns=", ".join(_without("fetch_time", "fetch_interval")),
            now=literal(self.due_at),
            max_interval_ms=literal(self.max_interval_s * 1000),
            clamped_interval=refetch_interval("fetch_interval", self.max_interval_s),
        )

    def _judged(self, columns: str) -> str:
        settings = self.settings
        return render(
            "generate_judged.sql",
            columns=columns,
            page_columns=", ".join(CRAWLDB.names),
            due_pages=self._due(),
            sort_value=chained_score(self.sort, real(1.0)),
            now=literal(self.due_at),
            gen_delay=literal(settings.gen_delay_ms),
            expr=where(settings.expr),
            wrong_status=_wrong_status(settings.restrict_status),
            low_score="false"
            if settings.min_score is None
            else f"sort_value < {real(settings.min_score)}",
            long_interval="false"
            if settings.min_interval_s < 0
            else f"fetch_interval > {literal(settings.min_interval_s)}",
        )


def _without(*left_out: str) -> tuple[str, ...]:
    return tuple(name for name in CRAWLDB.names if name not in left_out)


def _wrong_status(label: str) -> str:
    if not label:
        return "false"
    known = {status.label: status for status in PageStatus}
    if label.lower() not in known:
        near = get_close_matches(label.lower(), known, n=1)
        raise UserError(
            f"generate.restrict_status: there is no status {label!r}",
            hint=f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}.",
        )
    return f"status <> {literal(known[label.lower()])}"
