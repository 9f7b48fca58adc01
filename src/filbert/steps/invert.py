"""Invertlinks: bring the links of parsed segments into the linkdb.

Guarantee: a segment is absorbed once (application transaction `invert:<segment>`), all segments of
a call in one commit; only buckets that change are rewritten. URL chains are asked where segment or
linkdb do not say that they agree with them.
Source: Nutch `LinkDb`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.engine.base import Collect, Files, Query, WriteFiles
from filbert.errors import UserError
from filbert.plugins.contracts import Scope
from filbert.rules.links import LINKS, NEWEST, PARSED, again, links, merge, newest, parsed
from filbert.rules.plural import count_of
from filbert.steps.buckets import rewritten
from filbert.steps.context import StepResult
from filbert.steps.url_chain import CHAIN_KEY, VERDICTS, Judging, agrees, judged, note_of
from filbert.store.segments import SegmentState
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.model.schemas import TableSchema
    from filbert.settings.links import LinksSettings
    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment

__all__ = ["InvertOptions", "run"]

_BOTH_ENDS = (
    "select distinct url from (select url from {0} union all select from_url from {0}) ends"
)
_KEPT_LINKS = (
    "(select url, from_url from crawl_parse where to_linkdb and from_url is not null) kept"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvertOptions:
    """Which segments, and how; None: the setting's.

    Attributes:
        segments: Names of segments; none: all that are parsed.
        filter: Apply the URL filters to both ends.
        normalize: Apply the URL normalisers to both ends.
    """

    segments: tuple[str, ...] = ()
    filter: bool | None = None
    normalize: bool | None = None


def run(context: StepContext, options: InvertOptions) -> StepResult:
    """Absorb segments into the linkdb.

    Raises:
        UserError: A segment is not there, or the settings leave no link.
    """
    settings = _settings(context, options)
    fresh, skipped = _pending(context, options.segments)
    if not fresh:
        message = f"the linkdb is up to date ({count_of(skipped, 'segment')} not parsed yet)"
        return StepResult(
            step="invertlinks",
            message=message if skipped else "the linkdb has absorbed all segments",
            nothing_to_do=True,
        )
    with context.crawl.scratch("invertlinks") as scratch:
        work = _Absorption(context, settings, fresh, scratch)
        counters = work.run()
    names = tuple(segment.name for segment in fresh)
    message = f"{count_of(counters['links'], 'link')} absorbed, of {', '.join(names)}"
    return StepResult(step="invertlinks", counters=counters, message=message, segments=names)


def _settings(context: StepContext, options: InvertOptions) -> LinksSettings:
    settings = context.settings.links
    if settings.ignore_internal and settings.ignore_external:
        raise UserError(
            "links.ignore_internal and links.ignore_external are both on: no link is left",
            hint="Turn one of them off.",
        )
    given = {"filter": options.filter, "normalize": options.normalize}
    return settings.model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )


def _pending(context: StepContext, names: tuple[str, ...]) -> tuple[list[Segment], int]:
    """Return parsed segments that are not absorbed, oldest first, and how many are not parsed."""
    crawl = context.crawl
    named = [crawl.segment(name) for name in names]
    linkdb = crawl.table("linkdb")
    wanted = named or [segment for segment in crawl.segments() if not segment.left_out]
    waiting = [s for s in wanted if linkdb.transaction(f"invert:{s.name}") is None]
    ready = [segment for segment in waiting if segment.state is SegmentState.PARSED]
    return sorted(set(ready), key=lambda s: s.name), len(waiting) - len(ready)


class _Absorption:
    """One run over the fresh segments."""

    def __init__(
        self, context: StepContext, settings: LinksSettings, fresh: list[Segment], scratch: Path
    ) -> None:
        self._context = context
        self._settings = settings
        self._scratch = scratch
        self._fresh = fresh
        self._table = context.crawl.table("linkdb")
        self._chain = context.plugins.url_chain()
        self._judging = Judging(
            scope=Scope.LINKDB, normalize=settings.normalize, judge=settings.filter
        )
        later = [
            segment
            for segment in context.crawl.segments()
            if segment.name > fresh[0].name
            and segment.has("parse_data")
            and self._table.transaction(f"invert:{segment.name}") is not None
        ]
        in_order = sorted({*fresh, *later}, key=lambda segment: segment.name)
        self._numbers = {segment: number for number, segment in enumerate(in_order, start=1)}
        self._counters: Counter[str] = Counter()

    def run(self) -> Counter[str]:
        """Write and commit; return what was counted."""
        read_version = self._table.version()
        whole = self._needs_all()
        found = [self._links_of(segment) for segment in self._fresh]
        self._counters["links"] = sum(file.rows for files in found for file in files)
        if whole:
            found.append(self._links_again())
        view = _files(LINKS, [file.path for files in found for file in files])
        added, removed = self._merged(view, self._newest(), whole=whole)
        note = note_of(
            self._table,
            self._chain,
            entered=self._judging.normalize and self._judging.judge,
            all_rows=whole,
        )
        self._table.commit(
            Commit(
                step="invertlinks",
                add=added,
                remove=removed,
                transactions={f"invert:{segment.name}": 1 for segment in self._fresh},
                metadata={CHAIN_KEY: note, "links": str(self._counters["links"])},
                read_version=read_version,
            )
        )
        return self._counters

    def _needs_all(self) -> bool:
        if self._judging.is_idle or not self._table.count():
            return False
        return not agrees(self._table, self._chain)

    def _links_of(self, segment: Segment) -> tuple[WrittenFile, ...]:
        table = segment.table("crawl_parse")
        views = {"crawl_parse": table.files()}
        known = self._judging.is_idle or agrees(table, self._chain)
        views["verdicts"] = (
            Files(schema=VERDICTS)
            if known
            else self._judged(_BOTH_ENDS.format(_KEPT_LINKS), views, segment.name)
        )
        sql = links(self._settings, segment=self._numbers[segment], buckets=self._table.buckets)
        return self._written("links", sql, views, LINKS)

    def _links_again(self) -> tuple[WrittenFile, ...]:
        views = {"linkdb": self._table.files()}
        views["verdicts"] = self._judged(_BOTH_ENDS.format("linkdb"), views, "linkdb")
        return self._written("links_again", again(self._table.buckets), views, LINKS)

    def _judged(self, sql: str, views: dict[str, Files], name: str) -> Files:
        verdicts, rejected = judged(
            self._context, sql, views, self._judging, self._scratch / f"chain-{name}"
        )
        self._counters.update({f"rejected_{reason}": n for reason, n in rejected.items()})
        return verdicts

    def _newest(self) -> Files:
        paths = []
        for segment, number in self._numbers.items():
            views = {"parse_data": segment.table("parse_data").files()}
            paths += [f.path for f in self._written("parsed", parsed(number), views, PARSED)]
        views = {"parsed": _files(PARSED, paths)}
        files = self._written("links_newest", newest(), views, NEWEST)
        return _files(NEWEST, [file.path for file in files])

    def _merged(
        self, view: Files, newest_view: Files, *, whole: bool
    ) -> tuple[tuple[WrittenFile, ...], tuple[str, ...]]:
        fresh = {self._numbers[segment] for segment in self._fresh}
        buckets = set(range(self._table.buckets)) if whole else self._touched(view, newest_view)

        def job(bucket: int) -> tuple[Query, dict[str, Files]]:
            sql = merge(self._settings, bucket=bucket, fresh=fresh, keep_old=not whole)
            views = {"links": view, "newest": newest_view}
            return Query(name="links_merge", sql=sql), views

        return rewritten(self._context, self._table, buckets, job, self._scratch / "linkdb")

    def _touched(self, view: Files, newest_view: Files) -> set[int]:
        sql = (
            "select distinct bucket from (select bucket from links union all select bucket"
            " from linkdb where from_url in (select url from newest)) touched"
        )
        views = {"links": view, "newest": newest_view, "linkdb": self._table.files()}
        query = Query(name="links_touched", sql=sql)
        table = self._context.engine.execute(query, views, Collect()).table
        assert table is not None
        return set(table["bucket"].to_pylist())

    def _written(
        self, name: str, sql: str, views: dict[str, Files], schema: TableSchema
    ) -> tuple[WrittenFile, ...]:
        target = WriteFiles(schema=schema, directory=self._scratch / name, stem=name)
        return self._context.engine.execute(Query(name=name, sql=sql), views, target).files


def _files(schema: TableSchema, paths: list[Path]) -> Files:
    return Files(schema=schema, paths=tuple(str(path) for path in paths))
