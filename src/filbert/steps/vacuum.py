"""`vacuum`: drop versions out of reach, and segments that nobody needs any more.

Guarantee: what `rollback` may still ask for (store.vacuum_after_hours) stays whole. A segment goes
only if it is absorbed by updatedb, inverted where there is a linkdb, and known to the index where
there is one; or if a rollback left it out. It is moved aside before it is deleted, so that no half
segment is ever listed. No crawl runs meanwhile but the one that asks; a fetch may: its segment is
not absorbed, and what it reads of the hosts is the newest version.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.rules.plural import count_of
from filbert.steps.context import StepResult
from filbert.steps.writers import absorbed_segments, open_writers, remembering
from filbert.store.layout import CRAWL_TABLES, SEGMENT_TABLES
from filbert.store.vacuum import shorten_log, unlisted_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment
    from filbert.store.tables import Table

__all__ = ["Retention", "VacuumOptions", "parse_retention", "run"]

_HOUR_MS = 3600 * 1000
_RETENTION = re.compile(r"(?P<number>\d+)\s*(?P<days>d|days?)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumOptions:
    """What `vacuum` is to do.

    Attributes:
        keep_segments: `10`, `30d`; None: as the setting store.keep_segments says; "": all.
        keep_hours: Hours that versions can be rolled back to; None: store.vacuum_after_hours.
        dry_run: Only say what would go.
        of_crawl: The crawl loop asks, which holds the folder.
    """

    keep_segments: str | None = None
    keep_hours: int | None = None
    dry_run: bool = False
    of_crawl: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Which segments stay: the newest so many, or those of the last so many days."""

    count: int | None = None
    days: int | None = None

    def too_old(self, segments: list[Segment], now_ms: int) -> list[Segment]:
        """Return the segments, oldest first, that are beyond it."""
        if self.count is not None:
            return segments[: max(0, len(segments) - self.count)]
        if self.days is None:
            return []
        since = datetime.fromtimestamp(max(0, now_ms // 1000 - self.days * 86400), tz=UTC)
        return [segment for segment in segments if segment.name[:14] < f"{since:%Y%m%d%H%M%S}"]


def parse_retention(text: str) -> Retention:
    """Return what `10`, `30d`, `30 days` or "" (all) means.

    Raises:
        UserError: It is none of these.
    """
    if not text.strip():
        return Retention()
    found = _RETENTION.fullmatch(text.strip())
    if found is None:
        raise UserError(
            f"{text!r} does not say which segments to keep",
            hint="right are a number of segments, such as 10, or of days, such as 30d",
        )
    number = int(found["number"])
    return Retention(days=number) if found["days"] else Retention(count=number)


def run(context: StepContext, options: VacuumOptions) -> StepResult:
    """Remove what is out of reach; see the module.

    Raises:
        UserError: The retention is not understood.
        DataError: A crawl is at work in the folder: what it reads must stay.
    """
    if options.of_crawl:
        return _run(context, options)
    with context.crawl.lease("crawl", lease_s=context.settings.store.lease_s, by="vacuum"):
        return _run(context, options)


def _run(context: StepContext, options: VacuumOptions) -> StepResult:
    settings = context.settings.store
    text = settings.keep_segments if options.keep_segments is None else options.keep_segments
    hours = settings.vacuum_after_hours if options.keep_hours is None else options.keep_hours
    retention = parse_retention(text)
    counters: Counter[str] = Counter()
    removed = _vacuum_segments(context, retention, counters, dry_run=options.dry_run)
    for table in _tables(context):
        _vacuum_table(context, table, hours * _HOUR_MS, counters, dry_run=options.dry_run)
    return StepResult(
        step="vacuum",
        counters=counters,
        message=_message(counters, dry_run=options.dry_run),
        nothing_to_do=not (counters["files_removed"] or counters["segments_removed"]),
        segments=removed,
    )


def _vacuum_segments(
    context: StepContext, retention: Retention, counters: Counter[str], *, dry_run: bool
) -> tuple[str, ...]:
    needed = _needed(context)
    removed = []
    for segment in retention.too_old(context.crawl.segments(), context.clock.now_ms()):
        reason = needed(segment)
        if reason:
            counters[f"segments_kept_{reason}"] += 1
            continue
        counters["segments_removed"] += 1
        counters["bytes_freed"] += sum(
            path.stat().st_size for path in segment.path.rglob("*") if path.is_file()
        )
        removed.append(segment.name)
        if not dry_run:
            with context.crawl.scratch("vacuum") as aside:
                shutil.move(segment.path, aside / segment.name)
    return tuple(removed)


def _needed(context: StepContext) -> Callable[[Segment], str]:
    """Return a function that names why a segment must stay; "" if it need not."""
    crawldb, linkdb = context.crawl.table("crawldb"), context.crawl.table("linkdb")
    has_links = linkdb.version() > 0
    indexed = _indexed(context)

    def reason(segment: Segment) -> str:
        if crawldb.transaction(f"update:{segment.name}") is None:
            return "" if segment.left_out else "not_absorbed"
        if has_links and linkdb.transaction(f"invert:{segment.name}") is None:
            return "not_inverted"
        if indexed is not None and segment.name not in indexed:
            return "not_indexed"
        return ""

    return reason


def _indexed(context: StepContext) -> frozenset[str] | None:
    """Return the segments that the index has; None if there is no index."""
    index = context.crawl.index_dir
    if not index.is_dir() or not any(index.iterdir()):
        return None
    writers = context.plugins.index_writers()
    with open_writers(remembering(writers)):
        return absorbed_segments(writers)


def _tables(context: StepContext) -> list[Table]:
    crawl = context.crawl
    tables = [crawl.table(name) for name in CRAWL_TABLES]
    for segment in crawl.segments():
        tables += [segment.table(name) for name in SEGMENT_TABLES]
    return [table for table in tables if table.exists()]


def _vacuum_table(
    context: StepContext, table: Table, keep_ms: int, counters: Counter[str], *, dry_run: bool
) -> None:
    files = unlisted_files(table, keep_ms=keep_ms, now_ms=context.clock.now_ms())
    counters["files_removed"] += len(files)
    counters["bytes_freed"] += sum(path.stat().st_size for path in files)
    if dry_run:
        return
    for path in files:
        path.unlink(missing_ok=True)
    if files:
        shorten_log(table, keep_ms=keep_ms)


def _message(counters: Counter[str], *, dry_run: bool) -> str:
    kept = [
        f"{count} kept: {name.removeprefix('segments_kept_').replace('_', ' ')}"
        for name, count in sorted(counters.items())
        if name.startswith("segments_kept_")
    ]
    verb = "would remove" if dry_run else "removed"
    freed = counters["bytes_freed"] / 1e6
    files, segments = counters["files_removed"], counters["segments_removed"]
    said = f"{verb} {count_of(segments, 'segment')} and {count_of(files, 'file')} of old versions"
    said += f", {freed:.1f} MB"
    return "; ".join([said, *kept])
