"""Inject: seeds from files, folders and URLs into the crawldb.

Guarantee: one commit of the crawldb, or none if nothing would change; a bad line is reported with
file, line and reason and costs no other line. A seed that names a local address lets the address
guard pass exactly its host and port, by a line in `allowed-hosts.txt`.
Source: Nutch `Injector`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from filbert.engine.base import Collect, Files, Query, WriteFiles
from filbert.errors import UserError
from filbert.plugins.contracts import Scope
from filbert.rules.inject import SEEDS, Injection
from filbert.rules.plural import count_of
from filbert.steps.buckets import rewritten
from filbert.steps.context import StepResult
from filbert.steps.reapply import cleaned_buckets
from filbert.steps.seed_files import SeedReader, find_seeds
from filbert.steps.url_chain import CHAIN_KEY, Judging, note_of, noted
from filbert.store import durable
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.settings.inject import InjectSettings
    from filbert.steps.context import StepContext
    from filbert.steps.seed_files import BadSeed

__all__ = ["InjectOptions", "run"]

_log = structlog.get_logger(__name__)
_SHOWN = 50
_SHOWN_HOSTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectOptions:
    """What to inject, and how; None: the setting's.

    Attributes:
        seeds: Seed files, folders of them, or URLs.
        overwrite: A seed replaces the page that is there.
        update: A seed's metadata, score and interval go into the page that is there.
        filter: Apply the URL filters.
        normalize: Apply the URL normalisers.
        filter_normalize_all: Apply them to the pages that are there, too.
    """

    seeds: tuple[str, ...]
    overwrite: bool | None = None
    update: bool | None = None
    filter: bool | None = None
    normalize: bool | None = None
    filter_normalize_all: bool | None = None


def run(context: StepContext, options: InjectOptions) -> StepResult:
    """Inject seeds.

    Raises:
        UserError: A seed file is missing, or not one line of all is a seed.
    """
    sources = find_seeds(options.seeds)
    inject = _settings(context, options)
    with context.crawl.scratch("inject") as scratch:
        reader = _reader(context, inject)
        seeds = reader.read(sources, scratch / "seeds")
        if not seeds:
            raise _no_seed(reader.counters)
        _allow(context, reader.endpoints)
        view = Files(schema=SEEDS, paths=tuple(str(file.path) for file in seeds))
        counters = Counter(reader.counters)
        counters.update(_merge(context, inject, view, scratch))
        _note_origins(context, view, scratch)
    return StepResult(step="inject", counters=counters, message=_message(counters))


def _settings(context: StepContext, options: InjectOptions) -> InjectSettings:
    named = ("overwrite", "update", "filter", "normalize", "filter_normalize_all")
    given = {name: getattr(options, name) for name in named}
    return context.settings.inject.model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )


def _reader(context: StepContext, inject: InjectSettings) -> SeedReader:
    shown = Counter[str]()

    def complain(bad: BadSeed) -> None:
        shown[bad.reason] += 1
        if shown[bad.reason] <= _SHOWN:
            _log.warning("inject.bad_seed", where=bad.where, reason=bad.reason, detail=bad.detail)

    return SeedReader(
        context.plugins.url_chain(),
        normalize=inject.normalize,
        judge=inject.filter,
        buckets=context.crawl.table("crawldb").buckets,
        depth=1 if "depth" in context.settings.scoring.names else None,
        complain=complain,
    )


def _merge(
    context: StepContext, inject: InjectSettings, seeds: Files, scratch: Path
) -> Counter[str]:
    """Bring the seeds into the buckets that they change, and commit; return what was counted."""
    table = context.crawl.table("crawldb")
    read_version = table.version()
    injection = _injection(context, inject, table.next_version())
    cleaned: dict[int, Files] = {}
    counters = Counter[str]()
    if inject.filter_normalize_all:
        judging = Judging(scope=Scope.CRAWLDB, normalize=True, judge=True)
        cleaned, rejected = cleaned_buckets(context, table, judging, scratch)
        counters.update({f"old_{reason}": pages for reason, pages in rejected.items()})
    sources = {**table.bucket_files(), **cleaned}
    touched = set(cleaned) | _counted(context, injection, sources, seeds, counters)
    note = _note(context, inject)
    if not touched and (not inject.filter_normalize_all or note == noted(table)):
        return counters

    def job(bucket: int) -> tuple[Query, dict[str, Files]]:
        views = {"seeds": _of_bucket(seeds, bucket), "crawldb": sources[bucket]}
        return Query(name="inject", sql=injection.merge()), views

    added, removed = rewritten(context, table, touched, job, scratch / "crawldb")
    table.commit(
        Commit(
            step="inject",
            add=added,
            remove=removed,
            metadata={CHAIN_KEY: note, "counters": json.dumps(counters)},
            read_version=read_version,
        )
    )
    return counters


def _injection(context: StepContext, inject: InjectSettings, seq: int) -> Injection:
    return Injection(
        settings=context.settings.model_copy(update={"inject": inject}),
        injected=tuple(scoring.injected() for scoring in context.plugins.scorings()),
        now=context.clock.now_ms(),
        seq=seq,
    )


def _note(context: StepContext, inject: InjectSettings) -> str:
    return note_of(
        context.crawl.table("crawldb"),
        context.plugins.url_chain(),
        entered=inject.filter and inject.normalize,
        all_rows=inject.filter_normalize_all,
    )


def _counted(
    context: StepContext,
    injection: Injection,
    sources: dict[int, Files],
    seeds: Files,
    counters: Counter[str],
) -> set[int]:
    """Count what each bucket would become; return those that change."""
    touched: set[int] = set()
    purges = injection.settings.update.purge_404
    with_seeds = _buckets_of(context, seeds)
    for bucket, source in sources.items():
        if bucket not in with_seeds and not purges:
            continue
        row = _row(
            context, injection.count(), {"crawldb": source, "seeds": _of_bucket(seeds, bucket)}
        )
        changed = row.pop("changed")
        if purges:
            row |= _row(context, injection.purged(), {"crawldb": source})
        counters.update(row)
        if changed or row.get("purged"):
            touched.add(bucket)
    return touched


def _buckets_of(context: StepContext, seeds: Files) -> set[int]:
    sql = Query(name="seed_buckets", sql="select distinct bucket from seeds")
    table = context.engine.execute(sql, {"seeds": seeds}, Collect()).table
    assert table is not None
    return set(table["bucket"].to_pylist())


def _row(context: StepContext, sql: str, views: dict[str, Files]) -> dict[str, int]:
    table = context.engine.execute(Query(name="inject_count", sql=sql), views, Collect()).table
    assert table is not None
    row: dict[str, int] = table.to_pylist()[0]
    return row


def _of_bucket(seeds: Files, bucket: int) -> Files:
    return Files(schema=seeds.schema, paths=seeds.paths, where=f"bucket = {bucket}")


def _note_origins(context: StepContext, seeds: Files, scratch: Path) -> None:
    """Note where pages first came from; after the crawldb, so that a crash between is mended."""
    origins = context.crawl.table("origins")
    read_version = origins.version()
    injection = _injection(context, context.settings.inject, 0)
    views = {"seeds": seeds, "origins": origins.files()}
    target = WriteFiles(schema=origins.schema, directory=scratch / "origins", stem="origins")
    query = Query(name="inject_origins", sql=injection.origins())
    written = context.engine.execute(query, views, target)
    if written.files:
        origins.commit(Commit(step="inject", add=written.files, read_version=read_version))


def _allow(context: StepContext, endpoints: set[str]) -> None:
    """Add host:port pairs to `allowed-hosts.txt`."""
    path = context.crawl.allowed_hosts_file
    known = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    fresh = sorted(endpoints - set(known))
    if fresh:
        lines = [line for line in known if line] + fresh
        durable.write_whole(path, "\n".join(lines) + "\n")
        _log.info("inject.local_hosts_allowed", hosts=fresh[:_SHOWN_HOSTS], count=len(fresh))


def _no_seed(counters: Counter[str]) -> UserError:
    reasons = ", ".join(
        f"{count:,} {name}" for name, count in counters.most_common() if name != "lines"
    )
    lines = counters["lines"]
    return UserError(
        f"not one of {count_of(lines, 'line')} is a seed: {reasons}"
        if lines
        else "there is no seed: every line is blank or a comment",
        hint="One URL per line, such as https://example.org/; no page was added.",
    )


def _message(counters: Counter[str]) -> str:
    bad = counters["lines"] - counters["injected"]
    words = (
        f"{count_of(counters['new_pages'], 'new page')}, {counters['merged']:,} were there already"
    )
    return words + (
        f", {count_of(bad, 'line is no seed', 'lines are no seeds')} (see above)" if bad else ""
    )
