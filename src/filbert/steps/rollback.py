"""`rollback`: crawldb, linkdb and origins as they were before a round.

Guarantee: the three tables go back together, the crawldb last: a rollback that was killed is
finished by the same command. What later versions absorbed is absorbed no more, so that the same
segments can be brought in again, unless they are left out: then only who names one to updatedb gets
it back. Nothing is deleted: a rollback can be rolled back, while `filbert vacuum` has not taken the
files. Segments and hostdb (what hosts saw of us) stay. No crawl and no fetch runs meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from filbert.errors import UserError
from filbert.rules.plural import count_of
from filbert.steps.context import StepResult
from filbert.store.history import in_force
from filbert.store.segments import SegmentState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment
    from filbert.store.tables import CommitRecord, Table

__all__ = ["RollbackOptions", "run"]

_UPDATE = "update:"
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackOptions:
    """Where to go back to; by default before the last segment was absorbed.

    Attributes:
        to: Version of the crawldb.
        segment: Before this segment was absorbed by updatedb.
        leave_out: updatedb and crawl do not absorb `segment` again by themselves; without one,
            none of those undone.
        dry_run: Only say what would be undone.
    """

    to: int | None = None
    segment: str | None = None
    leave_out: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """Where the crawldb goes back to, and which application ids are undone by it."""

    target: CommitRecord
    later: Sequence[CommitRecord]
    history: Sequence[CommitRecord]
    undone: frozenset[str]

    def segments(self, prefix: str) -> list[str]:
        """Return the segments whose `prefix` is undone."""
        return sorted(app.removeprefix(prefix) for app in self.undone if app.startswith(prefix))


def run(context: StepContext, options: RollbackOptions) -> StepResult:
    """Go back; see the module.

    Raises:
        UserError: There is no such version or segment, or nothing was absorbed.
        DataError: The version's files are gone, or a crawl or fetch is at work in the folder.
    """
    if options.dry_run:
        return _run(context, options)
    crawl, lease_s = context.crawl, context.settings.store.lease_s
    with (
        crawl.lease("crawl", lease_s=lease_s, by="rollback"),
        crawl.lease("fetch", lease_s=lease_s, by="rollback"),
    ):
        return _run(context, options)


def _run(context: StepContext, options: RollbackOptions) -> StepResult:
    crawldb = context.crawl.table("crawldb")
    if options.leave_out and options.segment and not _is_absorbed(crawldb, options.segment):
        return _only_leave_out(context, options)
    way = _way(crawldb, _target(crawldb, options))
    before, after = crawldb.count(), crawldb.count(way.target.version)
    left_out = _left_out(context, options, way)
    if not options.dry_run:
        # Before the tables go back: a rollback that was killed then leaves out no less.
        for segment in left_out.values():
            segment.leave_out("rollback")
        for name in ("linkdb", "origins"):
            table = context.crawl.table(name)
            read_version = table.version()
            _bring_back(table, _companion_version(table, way), read_version)
        _bring_back(crawldb, way.target.version, way.history[0].version)
        _warn(context, way)
    verb = "would undo" if options.dry_run else "undid"
    steps = ", ".join(f"{r.step} (version {r.version})" for r in reversed(way.later))
    urls = f"{count_of(before, 'URL')} before, {after:,} now"
    absorbed = way.segments(_UPDATE)
    return StepResult(
        step="rollback",
        counters={"versions": len(way.later), "urls_before": before, "urls_now": after},
        message="\n".join([f"{verb} {steps}: {urls}", *_outlook(context, absorbed, left_out)]),
        segments=tuple(absorbed),
    )


def _is_absorbed(crawldb: Table, segment: str) -> bool:
    return crawldb.transaction(f"{_UPDATE}{segment}") is not None


def _only_leave_out(context: StepContext, options: RollbackOptions) -> StepResult:
    """Leave out a segment that an earlier rollback undid."""
    segment = context.crawl.segment(options.segment or "")
    if segment.state is not SegmentState.PARSED:
        raise UserError(
            f"segment {segment.name} is {segment.state} and not absorbed: nothing can be undone",
            hint="only a segment that is fetched and parsed can be left out",
        )
    if not options.dry_run:
        segment.leave_out("rollback")
    lines = _outlook(context, [segment.name], {segment.name: segment})
    return StepResult(
        step="rollback",
        message="\n".join([f"segment {segment.name} is not absorbed: nothing to undo", *lines]),
        segments=(segment.name,),
    )


def _left_out(context: StepContext, options: RollbackOptions, way: _Way) -> dict[str, Segment]:
    """Return the undone segments that are left out, by this call or an earlier one."""
    undone = way.segments(_UPDATE)
    asked = {options.segment} if options.segment else set(undone)
    return {
        segment.name: segment
        for segment in context.crawl.segments()
        if segment.name in undone
        and (segment.left_out or (options.leave_out and segment.name in asked))
    }


def _outlook(
    context: StepContext, undone: Sequence[str], left_out: Mapping[str, Segment]
) -> Iterator[str]:
    """Say what becomes of the segments that were undone."""
    crawl = context.crawl
    there = {segment.name for segment in crawl.segments()}
    again = [name for name in undone if name in there and name not in left_out]
    if again:
        yield f"the next updatedb or crawl absorbs again by itself: {' '.join(again)}"
        call = f"filbert rollback {crawl.path} --segment {again[-1]} --leave-out"
        yield f"to leave a segment out for good: {call}"
    if left_out:
        yield f"left out by updatedb and crawl: {' '.join(left_out)}"
        call = f"filbert updatedb {crawl.path} {next(iter(left_out))}"
        yield f"to absorb one all the same: {call}"


def _target(crawldb: Table, options: RollbackOptions) -> int:
    newest = crawldb.version()
    if options.to is not None:
        if not 0 <= options.to < newest:
            raise UserError(
                f"the crawldb cannot go back to version {options.to}",
                hint=f"it is at version {newest}; `filbert diff` shows what a version changed",
            )
        return options.to
    wanted = f"{_UPDATE}{options.segment}" if options.segment else _UPDATE
    for record in crawldb.history():
        for app, number in record.transactions.items():
            exact = app == wanted or (not options.segment and app.startswith(wanted))
            if exact and number >= 0 and crawldb.transaction(app) is not None:
                return record.version - 1
    what = f"segment {options.segment} is not absorbed" if options.segment else "nothing absorbed"
    raise UserError(
        f"{what}: there is no updatedb to undo", hint="say a version of the crawldb with --to"
    )


def _way(crawldb: Table, target: int) -> _Way:
    history = crawldb.history()
    later = [record for record in history if record.version > target]
    apps = {app for record in later for app in record.transactions}
    there = crawldb.load(target)
    return _Way(
        target=next(record for record in history if record.version == target),
        later=later,
        history=history,
        undone=frozenset(
            app
            for app in apps
            if crawldb.transaction(app) is not None and not in_force(there.transaction_version(app))
        ),
    )


def _companion_version(table: Table, way: _Way) -> int:
    """Return the version of linkdb or origins that belongs to the crawldb's target."""
    newest = table.version()
    undone = list(_undone_versions(table, way))
    return min(undone) - 1 if undone else newest


def _undone_versions(table: Table, way: _Way) -> Iterator[int]:
    segments = {app.partition(":")[2] for app in way.undone}
    closed: set[str] = set()
    for record in table.history():
        closed |= {app for app, number in record.transactions.items() if number < 0}
        if record.version == 0 or record.step == "rollback":
            continue
        mine = {app for app, number in record.transactions.items() if number >= 0}
        if mine:
            if any(app.partition(":")[2] in segments for app in mine - closed):
                yield record.version
        elif _owner_version(record, way) > way.target.version:
            yield record.version


def _owner_version(record: CommitRecord, way: _Way) -> int:
    """Return the crawldb version of the same run of a step: the nearest of that step.

    A step commits its tables one after the other, the crawldb first or last; between two runs of
    a step lies far more time. Without one of that step, the time alone decides.
    """
    same = [other for other in way.history if other.step == record.step]
    if same:
        return min(same, key=lambda other: abs(other.time_ms - record.time_ms)).version
    earlier = [other for other in way.history if other.time_ms <= record.time_ms]
    return max((other.version for other in earlier), default=0)


def _bring_back(table: Table, version: int, read_version: int) -> None:
    if version != read_version:
        table.restore(version, read_version=read_version)


def _warn(context: StepContext, way: _Way) -> None:
    there = {segment.name for segment in context.crawl.segments()}
    absorbed = set(way.segments(_UPDATE))
    if absorbed - there:
        _log.warning(
            "rollback.segments_gone",
            segments=sorted(absorbed - there),
            text="they were vacuumed: their pages will be fetched anew",
        )
    pending = (set(way.segments("generate:")) & there) - absorbed
    if pending:
        _log.warning(
            "rollback.marks_undone",
            segments=sorted(pending),
            text="they are not absorbed, and generate may choose their URLs again",
        )
