"""What every step is given, and what it gives back.

Guarantee: `open_context` checks settings before it opens the crawl folder, mends what a crash left
behind, and closes the engine however the step ends. A folder made for a step that was wrong use
is not left behind. A step takes no other way to files or time.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from filbert.engine.local import LocalEngine
from filbert.errors import UserError
from filbert.model.clock import Clock, SystemClock
from filbert.plugins.registry import PluginRepository
from filbert.plugins.settings_check import check_settings
from filbert.settings import load_settings
from filbert.store.crawl import CrawlFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from filbert.engine.base import Engine
    from filbert.settings import Settings

__all__ = ["StepContext", "StepResult", "open_context"]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What a step works with."""

    crawl: CrawlFolder
    settings: Settings
    engine: Engine
    plugins: PluginRepository
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What a step did.

    Attributes:
        step: Its name, as the command line says it.
        counters: What was counted, by named reason.
        message: One line for a person.
        nothing_to_do: The step found no work; `message` says why.
        segments: Segments that it made or worked on.
        notes: Examples of what was left out, with all that is known of why.
    """

    step: str
    counters: Mapping[str, int] = field(default_factory=dict)
    message: str = ""
    nothing_to_do: bool = False
    segments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@contextmanager
def open_context(
    crawl_dir: Path,
    overrides: Sequence[str],
    environ: Mapping[str, str],
    *,
    create: bool = False,
    importing: bool = False,
    clock: Clock | None = None,
) -> Iterator[StepContext]:
    """Open a crawl folder for a step.

    Args:
        crawl_dir: The crawl folder.
        overrides: `name=value` settings, as `-D` gives them.
        environ: The environment that settings may come from.
        create: Make the folder if it is not there.
        importing: Go on with an import that was cut off, which any other step refuses.
        clock: What time it is; None: the machine's clock.

    Raises:
        UserError: A setting is wrong, or the folder is not a crawl folder, or half imported.
        PluginError: A plugin that the settings name is not there.
        DataError: The folder is damaged, cannot be written, or is newer than this version reads.
    """
    loaded = load_settings(crawl_dir, overrides, environ)
    for warning in loaded.warnings:
        _log.warning("settings.warning", text=warning)
    settings = loaded.settings
    clock = clock or SystemClock()
    plugins = PluginRepository(settings, crawl_dir)
    check_settings(settings, plugins)
    make, was_there = create and not CrawlFolder.exists(crawl_dir), crawl_dir.exists()
    crawl = (
        CrawlFolder.create(crawl_dir, clock=clock, buckets=settings.store.buckets)
        if make
        else CrawlFolder.open(crawl_dir, clock=clock)
    )
    if not importing and (source := crawl.imports.unfinished()):
        raise UserError(
            f"{crawl_dir}: the import of {source} has not ended",
            hint=f"`filbert nutch import {source} {crawl_dir}` goes on with it",
        )
    crawl.check_writable()
    for mended in crawl.recover():
        _log.warning("store.recovered", what=mended)
    try:
        with crawl.scratch("engine") as spill, LocalEngine(settings.engine, spill) as engine:
            yield StepContext(
                crawl=crawl, settings=settings, engine=engine, plugins=plugins, clock=clock
            )
    except UserError:
        if make:
            crawl.discard(keep=was_there)
        raise
