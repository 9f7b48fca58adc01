"""`filbert fetch`: the captures of a segment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from filbert.cli.failures import INTERRUPTED
from filbert.cli.numbers import Whole
from filbert.cli.options import (
    ReplayCommand,
    common_options,
    crawl_dir_argument,
    replay_option,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command(cls=ReplayCommand)
@crawl_dir_argument
@click.argument("segment", metavar="[SEGMENT]", default="")
@click.option("--threads", type=Whole(1), help="Requests in flight at most.")
@click.option(
    "--show-thread-id",
    is_flag=True,
    help="A log line for each request, with its part and queue (a slot here is no thread).",
)
@click.option(
    "--no-parse", is_flag=True, help="Do not parse, whatever `fetcher.parse` says; parse later."
)
@replay_option
@common_options
def command(  # noqa: PLR0913 (click hands over each option)
    crawl_dir: Path,
    segment: str,
    overrides: tuple[str, ...],
    *,
    threads: int | None,
    show_thread_id: bool,
    no_parse: bool,
    replay: tuple[Path, ...],
) -> int:
    r"""Fetch a segment: politely, and so that the same command goes on after a stop.

    Without SEGMENT: the newest one that is not fetched. Ctrl-C, or a file `.STOP` in CRAWL_DIR,
    ends it at once; what was captured is safe.

    \b
    filbert fetch crawl/
    filbert fetch crawl/ 20261130201530 --threads 100
    """
    from filbert.cli.crawl_display import watching
    from filbert.steps.context import open_context
    from filbert.steps.fetch import FetchOptions, run

    chosen = [*overrides]
    chosen += [] if threads is None else [f"fetcher.threads={threads}"]
    form = click.get_current_context().meta["filbert.log_format"]
    lines = ("json" if form == "json" else "plain") if show_thread_id else ""
    with open_context(crawl_dir, chosen, os.environ) as context:
        with watching(context.crawl, live=not lines) as watch:
            watch.started("fetch", 1)
            result = run(context, FetchOptions(segment=segment, log_requests=lines, replay=replay))
        click.echo(result.message)
        for note in result.notes:
            click.echo(f"  {note}")
        if result.nothing_to_do:
            return 0
        if context.crawl.stop_requested():
            context.crawl.clear_stop()
            return INTERRUPTED
        if context.settings.fetcher.parse and not no_parse:
            from filbert.steps import parse

            options = parse.ParseOptions(segments=result.segments)
            click.echo(parse.run(context, options).message)
        else:
            click.echo(f"next: filbert parse {crawl_dir} {result.segments[0]}")
    return 0
