"""Parse: text and links out of the captures of a segment.

Guarantee: a segment is parsed once: each of its tables is committed under the transaction
`parse:<segment>`, parse_data last, and a step that was killed between two commits is simply done
again. Links join the redirect rows that the fetch left in crawl_parse.
Source: Nutch `ParseSegment`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from filbert.engine.base import Part
from filbert.errors import UserError
from filbert.parser.task import ParsePart
from filbert.rules.plural import count_of
from filbert.steps.context import StepResult
from filbert.steps.url_chain import CHAIN_KEY, note_of
from filbert.store.segments import SegmentState
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.settings import Settings
    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment

__all__ = ["ParseOptions", "run"]

_log = structlog.get_logger(__name__)
_TABLES = ("parse_text", "crawl_parse", "parse_data")  # the last one makes the segment parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseOptions:
    """What to parse, and how; None: the setting's.

    Attributes:
        segments: Names of segments; none: all that are fetched and not parsed.
        filter: Apply the URL filters to links.
        normalize: Apply the URL normalisers to links.
    """

    segments: tuple[str, ...] = ()
    filter: bool | None = None
    normalize: bool | None = None


def run(context: StepContext, options: ParseOptions) -> StepResult:
    """Parse segments.

    Raises:
        UserError: A segment is unknown, or not fetched yet.
    """
    wanted = _wanted(context, options)
    if not wanted:
        return StepResult(step="parse", message="nothing to parse", nothing_to_do=True)
    settings = _settings(context.settings, options)
    counters: Counter[str] = Counter()
    for segment in wanted:
        counted = _parse(context, settings, segment)
        _log.info("parse.done", segment=segment.name, **counted)
        counters.update(counted)
    return StepResult(
        step="parse",
        counters=counters,
        message=_message(counters, wanted),
        segments=tuple(segment.name for segment in wanted),
    )


def _wanted(context: StepContext, options: ParseOptions) -> list[Segment]:
    crawl = context.crawl
    if not options.segments:
        return [s for s in crawl.segments() if s.state is SegmentState.FETCHED]
    segments = [crawl.segment(name) for name in options.segments]
    for segment in segments:
        if segment.state not in {SegmentState.FETCHED, SegmentState.PARSED}:
            raise UserError(
                f"segment {segment.name} is {segment.state}, not fetched",
                hint=f"run `filbert fetch {crawl.path} {segment.name}` first",
            )
    return [segment for segment in segments if segment.state is SegmentState.FETCHED]


def _settings(settings: Settings, options: ParseOptions) -> Settings:
    asked = {"filter_urls": options.filter, "normalize_urls": options.normalize}
    given = {name: value for name, value in asked.items() if value is not None}
    return settings.model_copy(update={"parse": settings.parse.model_copy(update=given)})


def _parse(context: StepContext, settings: Settings, segment: Segment) -> Counter[str]:
    counters: Counter[str] = Counter()
    versions = {name: segment.table(name).version() for name in _TABLES}
    files: dict[str, list[WrittenFile]] = {name: [] for name in _TABLES}
    with context.crawl.scratch("parse") as scratch:
        task = _task(context, settings, segment, scratch)
        parts = [Part(number=number) for number in segment.parts()]
        results = sorted(context.engine.run(task, parts), key=lambda result: result.number)
        for result in results:
            counters.update(result.counters)
            for name in _TABLES:
                files[name].extend(result.files.get(name, ()))
        _commit(segment, files, versions, _note(context, settings, segment))
    return counters


def _note(context: StepContext, settings: Settings, segment: Segment) -> str:
    """Return what crawl_parse notes of the URL chains, so that invertlinks need not ask again."""
    entered = settings.parse.filter_urls and settings.parse.normalize_urls
    table, chain = segment.table("crawl_parse"), context.plugins.url_chain()
    return note_of(table, chain, entered=entered, all_rows=False)


def _task(context: StepContext, settings: Settings, segment: Segment, scratch: Path) -> ParsePart:
    return ParsePart(
        settings=settings,
        folder=context.crawl.path,
        fetched=segment.table("crawl_fetch").files(),
        content_dir=segment.content_dir,
        into=scratch,
    )


def _commit(
    segment: Segment,
    files: Mapping[str, list[WrittenFile]],
    versions: Mapping[str, int],
    note: str,
) -> None:
    transaction = f"parse:{segment.name}"
    for name in _TABLES:
        table = segment.table(name)
        if table.transaction(transaction) is None:
            table.commit(
                Commit(
                    step="parse",
                    add=tuple(files[name]),
                    transactions={transaction: 1},
                    metadata={CHAIN_KEY: note},
                    read_version=versions[name],
                )
            )


def _message(counters: Counter[str], segments: list[Segment]) -> str:
    dropped = sum(n for name, n in counters.items() if name.startswith("links_dropped_"))
    names = ", ".join(segment.name for segment in segments)
    return (
        f"parsed {count_of(counters['pages'], 'page')} of {names}: {counters['failed']:,} failed, "
        f"{count_of(counters['links_kept'], 'link')} kept, {dropped:,} dropped"
    )
