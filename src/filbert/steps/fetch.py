"""Fetch: the captures of a segment, politely.

Guarantee: the crawl folder is ours while hosts are asked: no lease, no request. Each URL of the
fetch list ends as a row of crawl_fetch, or is named in the segment's left_due with its reason and
stays due. A fetch that is stopped or killed is gone on with by the same command; what it commits it
commits once (`fetch:<segment>`): crawl_parse and hostdb first, crawl_fetch last, and the journal
goes only then.
Source: Nutch `Fetcher`.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from filbert.engine.base import Files, Part, Query, WriteFiles
from filbert.errors import UserError
from filbert.fetcher.left_due import read_left_due
from filbert.fetcher.part import PartEnd
from filbert.fetcher.supervision import HeartBeat
from filbert.fetcher.task import FetchPart
from filbert.model.schemas import HOSTDB
from filbert.plugins.settings_check import check_browser
from filbert.rules.fetch_hosts import known_hosts, merged_hosts
from filbert.steps.context import StepResult
from filbert.steps.fetch_checks import check_agent, check_partition
from filbert.steps.fetch_metrics import serving_metrics
from filbert.steps.fetch_replay import open_archive
from filbert.steps.fetch_words import examples, logged, summary
from filbert.steps.lease_watch import LeaseWatch
from filbert.steps.url_chain import CHAIN_KEY, MIXED
from filbert.store.segments import AGENTS, SegmentState
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.steps.context import StepContext
    from filbert.store.archive import ArchiveIndex
    from filbert.store.segments import Segment
    from filbert.store.tables import Table

__all__ = ["FetchOptions", "run"]

_log = structlog.get_logger(__name__)
_OPEN = (SegmentState.GENERATED, SegmentState.FETCHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """What to fetch.

    Attributes:
        segment: Its name; blank: the newest that is not fetched.
        log_requests: `plain` or `json`: a log line for each request; empty: none.
        replay: WARC files, or folders of them, that answer in place of the network.
    """

    segment: str = ""
    log_requests: str = ""
    replay: tuple[Path, ...] = ()


def run(context: StepContext, options: FetchOptions) -> StepResult:
    """Fetch a segment.

    Raises:
        UserError: The segment is unknown, or `http.agent_name` is not set.
        DataError: Another process fetches in this folder, or the disk is full; captures are safe.
            A file to be replayed is damaged.
    """
    segment = _chosen(context, options.segment)
    if segment is None or segment.state not in _OPEN:
        return _nothing(segment)
    if not options.replay:
        check_agent(context.settings, segment.table("crawl_generate").files())
        check_partition(context.settings, segment)
        check_browser(context.settings)
    started = context.clock.now_ms()
    with _leased(context, segment), context.crawl.scratch("fetch") as scratch:
        if segment.state not in _OPEN:  # another process has ended it just now
            _tidy(segment)
            return _nothing(segment)
        archive = open_archive(context, options.replay)
        fetched = _Fetch(context, segment, scratch, options.log_requests, archive)
        done = fetched.run()
        if done:
            fetched.commit()
    notes = examples(read_left_due(segment.left_due_dir))
    why = {"left_due.why": list(notes)} if notes else {}
    _log.info("fetch.ended", segment=segment.name, done=done, **logged(fetched.counters), **why)
    return StepResult(
        step="fetch",
        counters=fetched.counters,
        message=summary(
            segment.name, fetched.counters, context.clock.now_ms() - started, stopped=not done
        ),
        segments=(segment.name,),
        notes=notes,
    )


def _nothing(segment: Segment | None) -> StepResult:
    name = f"segment {segment.name} is fetched already" if segment else "there is no segment"
    hint = "" if segment else " to fetch; run `filbert generate` first"
    return StepResult(step="fetch", message=name + hint, nothing_to_do=True)


def _chosen(context: StepContext, name: str) -> Segment | None:
    """Return the segment to fetch; tidy up after fetches that were committed and then killed.

    One that was begun comes first: when its hosts were asked last, only its journal knows.
    """
    segments = context.crawl.segments()
    for segment in segments:
        _tidy(segment)
    begun = [one for one in segments if one.state is SegmentState.FETCHING]
    if not name:
        return next(reversed(begun or [one for one in segments if one.state in _OPEN]), None)
    chosen = context.crawl.segment(name)
    if begun and chosen not in begun:
        raise UserError(
            f"the fetch of segment {begun[-1].name} was begun and has not ended",
            hint=f"first: filbert fetch {context.crawl.path} {begun[-1].name} (only then is it"
            " known how long each host must be left alone)",
        )
    return chosen


def _tidy(segment: Segment) -> None:
    if segment.journal_dir.exists() and segment.has("crawl_fetch"):
        shutil.rmtree(segment.journal_dir, ignore_errors=True)


@contextmanager
def _leased(context: StepContext, segment: Segment) -> Iterator[None]:
    """Hold the folder, and tell the parts so as long as it is true."""
    lease_s = context.settings.store.lease_s
    with context.crawl.lease("fetch", lease_s=lease_s) as lease:
        beat = HeartBeat(segment.journal_dir)
        try:
            with LeaseWatch(lease.check, beat.beat, every_s=min(1.0, lease_s / 4)):
                yield
        finally:
            beat.end()


class _Fetch:
    """One fetch of one segment."""

    def __init__(
        self,
        context: StepContext,
        segment: Segment,
        scratch: Path,
        log_requests: str,
        archive: ArchiveIndex | None,
    ) -> None:
        self.counters: Counter[str] = Counter()
        self._context = context
        self._segment = segment
        self._scratch = scratch
        self._log_requests = log_requests
        self._archive = archive
        if archive is not None and archive.damaged:
            self.counters["replay.damaged"] = archive.damaged
        self._files: dict[str, list[WrittenFile]] = {}

    def run(self) -> bool:
        """Fetch all parts; return whether they are done, and not stopped."""
        segment = self._segment
        parts = [Part(number=number) for number in segment.parts()]
        task = FetchPart(
            settings=self._context.settings,
            folder=self._context.crawl.path,
            listed=segment.table("crawl_generate").files(),
            parts=len(parts),
            hosts=self._known_hosts(),
            content_dir=segment.content_dir,
            journal_dir=segment.journal_dir,
            left_due_dir=segment.left_due_dir,
            into=self._scratch,
            log_requests=self._log_requests,
            archive=self._archive.path if self._archive else None,
        )
        _log.info("fetch.started", segment=segment.name, parts=len(parts))
        done = True
        with serving_metrics(self._context.settings.fetcher, segment.journal_dir):
            results = sorted(self._context.engine.run(task, parts), key=lambda one: one.number)
        for result in results:
            done = done and result.payload == PartEnd.DONE
            self.counters.update(result.counters)
            for name, files in result.files.items():
                self._files.setdefault(name, []).extend(files)
        return done

    def commit(self) -> None:
        """Commit what was sealed, crawl_fetch last; then the journal may go."""
        self._commit_hosts()
        # Rows of an earlier try, cut off before crawl_fetch, are these same rows or fewer.
        self._commit(self._segment.table("crawl_parse"), "crawl_parse")
        self._commit(self._segment.table("crawl_fetch"), "crawl_fetch")
        shutil.rmtree(self._segment.journal_dir, ignore_errors=True)

    def _commit(self, table: Table, name: str) -> None:
        table.commit(
            Commit(
                step="fetch",
                add=tuple(self._files.get(name, ())),
                remove="all",
                transactions={f"fetch:{self._segment.name}": 1},
                # Every redirect target that is linked has passed the chains (`RedirectJudge`).
                metadata={
                    CHAIN_KEY: self._context.plugins.url_chain().fingerprint() or MIXED,
                    AGENTS: json.dumps(self._context.settings.http.robot_names()),
                },
                read_version=table.version(),
            )
        )

    def _known_hosts(self) -> Files:
        """Return what the hostdb knows of the hosts of the list."""
        hostdb = self._context.crawl.table("hostdb")
        if not hostdb.exists() or not hostdb.count():
            return Files(schema=HOSTDB)
        if self._context.settings.fetcher.queue_mode in {"ip", "host+ip"}:
            return hostdb.files()
        views = {
            "hostdb": hostdb.files(),
            "listed": self._segment.table("crawl_generate").files(),
        }
        return self._written(Query(name="fetch_hosts", sql=known_hosts()), views, "known")

    def _commit_hosts(self) -> None:
        noted = self._files.get("hostdb", [])
        if not noted:
            return
        hostdb = self._context.crawl.table("hostdb")
        version = hostdb.version()
        views = {
            "hostdb": hostdb.files() if hostdb.exists() else Files(schema=HOSTDB),
            "noted": Files(schema=HOSTDB, paths=tuple(str(file.path) for file in noted)),
        }
        written = self._context.engine.execute(
            Query(name="fetch_hosts_merge", sql=merged_hosts()),
            views,
            WriteFiles(schema=HOSTDB, directory=self._scratch, stem="hostdb"),
        )
        hostdb.commit(
            Commit(
                step="fetch",
                add=written.files,
                remove="all",
                transactions={f"fetch:{self._segment.name}": 1},
                read_version=version,
            )
        )

    def _written(self, query: Query, views: dict[str, Files], stem: str) -> Files:
        into = WriteFiles(schema=HOSTDB, directory=self._scratch, stem=stem)
        written = self._context.engine.execute(query, views, into)
        return Files(schema=HOSTDB, paths=tuple(str(file.path) for file in written.files))
