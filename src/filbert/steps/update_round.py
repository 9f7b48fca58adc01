"""One round on its way into the crawldb: aggregated once, then joined bucket by bucket.

Guarantee: nothing of the crawldb is committed here; memory does not grow with the crawldb, since
a bucket is the unit of work. A bucket that nothing touches is not rewritten.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from filbert.engine.base import Collect, Files, Query, WriteFiles
from filbert.model.schemas import CRAWL_FETCH, CRAWL_PARSE
from filbert.model.statuses import FetchStatus, PageStatus
from filbert.rules.transitions import LINKED
from filbert.rules.update import TOUCHED, given_rows_sql
from filbert.steps.buckets import rewritten
from filbert.steps.reapply import cleaned_buckets
from filbert.steps.url_chain import judged
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.engine.base import Written, WrittenFile
    from filbert.model.schemas import TableSchema
    from filbert.rules.update import Derived, UpdateRule
    from filbert.steps.context import StepContext
    from filbert.steps.url_chain import Judging
    from filbert.store.segments import Segment

__all__ = ["Absorption"]

_BATCH_ROWS = 1_000_000
_SLICE_ROWS = 20_480  # small row groups: one bucket's slice reads little of the others
_GIVEN = (
    "select distinct url from (select url from crawl_fetch"
    " union all select url from crawl_parse where to_db) given"
)


class Absorption:
    """The segments of one updatedb.

    Attributes:
        counters: What was counted.
        transitions: `old→new` status of fetched pages, counted.

    Args:
        context: The step's.
        rule: What decides.
        segments: What is absorbed, oldest first; may be none.
        judging: How the URL chains are applied to every URL again.
        scratch: Where files are written.
    """

    def __init__(
        self,
        context: StepContext,
        rule: UpdateRule,
        segments: Sequence[Segment],
        judging: Judging,
        scratch: Path,
    ) -> None:
        self.counters: Counter[str] = Counter()
        self.transitions: Counter[str] = Counter()
        self._context = context
        self._rule = rule
        self._segments = segments
        self._judging = judging
        self._scratch = scratch
        self._table = context.crawl.table("crawldb")
        self._captured = Files(schema=CRAWL_FETCH)
        self._round: dict[str, Files] = {}
        self._touched: list[str] = []

    def rewrite(self) -> tuple[tuple[WrittenFile, ...], tuple[str, ...]]:
        """Write the buckets that change; return the new files and the paths they replace."""
        cleaned = self._cleaned()
        self._derive(*self._given())
        sql = self._rule.crawldb_sql(seq=self._table.next_version())
        buckets = self._table.bucket_files() | cleaned

        def job(bucket: int) -> tuple[Query, dict[str, Files]]:
            views = {"crawldb": buckets[bucket], **self._round_of([bucket])}
            return Query(name="update", sql=sql), views

        wanted = set(cleaned) | self._buckets()
        self._note_touched(buckets)
        files = rewritten(self._context, self._table, wanted, job, self._scratch / "crawldb")
        self._count()
        return files

    def _note_touched(self, buckets: Mapping[int, Files]) -> None:
        """Write what becomes of whom, several small buckets at a time."""
        query = Query(name="update_touched", sql=self._rule.touched_sql())
        target = WriteFiles(schema=TOUCHED, directory=self._scratch, stem="touched", scratch=True)
        size = max(1, _BATCH_ROWS * len(buckets) // max(1, self._table.count()))
        if any(files.where for files in buckets.values()):
            size = 1  # files that buckets share cannot be put together
        numbers = sorted(buckets)
        for batch in (numbers[i : i + size] for i in range(0, len(numbers), size)):
            views = {
                "crawldb": _together(self._table.schema, [buckets[b] for b in batch]),
                "captured": self._captured,
                **self._round_of(batch),
            }
            written = self._context.engine.execute(query, views, target)
            self._touched += [str(file.path) for file in written.files]

    def note_origins(self) -> None:
        """Commit who named the new pages first; before the crawldb, so that a crash loses none."""
        origins = self._context.crawl.table("origins")
        fresh = [s for s in self._segments if origins.transaction(_app_id(s)) is None]
        if not fresh or not self._touched:
            return
        sql = "select url, origin, origin_url, first_seen from touched where old_status is null"
        if len(fresh) < len(self._segments):  # the others noted theirs before a crash
            sql += " and url not in (select url from origins)"
        target = WriteFiles(
            schema=origins.schema, directory=self._scratch / "origins", stem="origins"
        )
        views = {
            "touched": Files(schema=TOUCHED, paths=tuple(self._touched)),
            "origins": origins.files(),
        }
        written = self._context.engine.execute(Query(name="origins", sql=sql), views, target)
        origins.commit(
            Commit(
                step="updatedb",
                add=written.files,
                transactions={_app_id(segment): 1 for segment in fresh},
            )
        )

    def statuses(self, added: Sequence[WrittenFile], removed: Sequence[str]) -> dict[str, int]:
        """Return the pages of the coming version by status, and count them."""
        kept = [path for path in self._table.files().paths if path not in set(removed)]
        paths = (*kept, *(str(file.path) for file in added))
        rows = self._rows(
            "select status, count(*) as pages from crawldb group by status order by status",
            {"crawldb": Files(schema=self._table.schema, paths=paths)},
        )
        found = {PageStatus(row["status"]).label: row["pages"] for row in rows}
        self.counters["pages"] = sum(found.values())
        return found

    def _cleaned(self) -> dict[int, Files]:
        """Return the buckets in which the URL chains change something."""
        if self._judging.is_idle:
            return {}
        cleaned, rejected = cleaned_buckets(
            self._context, self._table, self._judging, self._scratch / "clean"
        )
        self._count_rejected(rejected)
        return cleaned

    def _given(self) -> tuple[Files, Files, Files]:
        """Return crawl_fetch, crawl_parse under the chains' URLs, and crawl_fetch as it is."""
        fetch = _together(CRAWL_FETCH, [s.table("crawl_fetch").files() for s in self._segments])
        parse = _together(CRAWL_PARSE, [s.table("crawl_parse").files() for s in self._segments])
        if self._judging.is_idle or not fetch.paths:
            return fetch, parse, fetch
        verdicts, rejected = judged(
            self._context,
            _GIVEN,
            {"crawl_fetch": fetch, "crawl_parse": parse},
            self._judging,
            self._scratch / "given",
        )
        self._count_rejected(rejected)
        if not verdicts.paths:
            return fetch, parse, fetch
        return self._renamed(fetch, verdicts), self._renamed(parse, verdicts), fetch

    def _renamed(self, rows: Files, verdicts: Files) -> Files:
        name = rows.schema.name
        target = WriteFiles(schema=rows.schema, directory=self._scratch, stem=name)
        query = Query(name="update_given", sql=given_rows_sql(rows.schema))
        return _files(
            rows.schema,
            self._context.engine.execute(query, {name: rows, "verdicts": verdicts}, target),
        )

    def _derive(self, fetch: Files, parse: Files, as_it_lies: Files) -> None:
        """Bring the round down to what captures say and what links say, ordered by bucket."""
        rule = self._rule
        captured = self._written(rule.captured(), {"crawl_fetch": as_it_lies})
        views = {"crawl_fetch": fetch, "crawl_parse": parse, "captured": captured}
        linked = self._written(rule.linked(), views)
        sql = (
            "select coalesce(max(inlinks), 0) as most, count(*) - count(distinct url) as twice"
            " from linked"
        )
        (row,) = self._rows(sql, {"linked": linked})
        crowded, displaced = row["most"] > rule.settings.update.max_inlinks, row["twice"] > 0
        if crowded or displaced:
            linked = self._written(rule.linked(crowded=crowded, displaced=displaced), views)
        self._captured = captured
        self._round = {
            "linked": linked,
            "fetched": self._written(rule.fetched(), views),
            "best": self._best(views),
        }

    def _best(self, views: Mapping[str, Files]) -> Files:
        """Find the best links, if any link carries what makes a difference."""
        derived = self._rule.best()
        (row,) = self._rows(self._rule.laden_sql(), views)
        return self._written(derived, views) if row["links"] else Files(schema=derived.schema)

    def _written(self, derived: Derived, views: Mapping[str, Files]) -> Files:
        name, sliced = derived.schema.name, "bucket" in derived.schema.names
        into = WriteFiles(
            schema=derived.schema,
            directory=self._scratch,
            stem=name,
            order_by="bucket" if sliced else "",
            row_group_rows=_SLICE_ROWS if sliced else None,
            scratch=True,
        )
        query = Query(name=f"update_{name}", sql=derived.sql)
        return _files(derived.schema, self._context.engine.execute(query, views, into))

    def _round_of(self, buckets: Sequence[int]) -> dict[str, Files]:
        where = f"bucket in ({', '.join(map(str, buckets))})"
        return {name: replace(files, where=where) for name, files in self._round.items()}

    def _buckets(self) -> set[int]:
        update = self._rule.settings.update
        if update.purge_404 or update.purge_orphans:
            return set(range(self._table.buckets))
        sql = " union ".join(f"select bucket from {name}" for name in self._round)
        return {row["bucket"] for row in self._rows(sql, self._round)}

    def _count(self) -> None:
        (row,) = self._rows("select count(*) as pages from linked", self._round)
        self.counters["linked_pages"] = row["pages"]
        rows = self._rows(
            "select event, old_status, status, count(*) as pages from touched"
            " group by event, old_status, status",
            {"touched": Files(schema=TOUCHED, paths=tuple(self._touched))},
        )
        for row in rows:
            pages, new = row["pages"], row["old_status"] is None
            before = "new" if new else PageStatus(row["old_status"]).label
            after = PageStatus(row["status"]).label
            if new:
                self.counters["new_pages"] += pages
            if row["event"] != LINKED:
                self.counters["fetches"] += pages
                self.counters[FetchStatus(row["event"]).label] += pages
                self.transitions[f"{before} → {after}"] += pages

    def _count_rejected(self, rejected: Mapping[str, int]) -> None:
        for reason, urls in rejected.items():
            name = reason if reason in _NOT_DROPPED else f"dropped_{reason}"
            self.counters[name] += urls

    def _rows(self, sql: str, views: Mapping[str, Files]) -> list[dict[str, Any]]:
        query = Query(name="update_count", sql=sql)
        table = self._context.engine.execute(query, views, Collect()).table
        assert table is not None
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows


_NOT_DROPPED = frozenset({"moved", "plugin_errors"})


def _app_id(segment: Segment) -> str:
    return f"update:{segment.name}"


def _together(schema: TableSchema, several: Sequence[Files]) -> Files:
    (where,) = {files.where for files in several} or {""}
    paths = dict.fromkeys(path for files in several for path in files.paths)
    return Files(schema=schema, paths=tuple(paths), where=where)


def _files(schema: TableSchema, written: Written) -> Files:
    return Files(schema=schema, paths=tuple(str(file.path) for file in written.files))
