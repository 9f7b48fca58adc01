"""`filbert parse`: text and links out of fetched pages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from filbert.cli.options import common_options, crawl_dir_argument

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@click.argument("segments", metavar="[SEGMENT]...", nargs=-1)
@click.option("--no-filter", is_flag=True, help="Do not apply the URL filters to links.")
@click.option("--no-normalize", is_flag=True, help="Do not normalise links.")
@common_options
def command(
    crawl_dir: Path,
    segments: tuple[str, ...],
    overrides: tuple[str, ...],
    *,
    no_filter: bool,
    no_normalize: bool,
) -> int:
    r"""Take text and links out of the pages of a segment.

    Without SEGMENT: of every segment that is fetched and not parsed. A segment that is parsed
    already is left alone.

    \b
    filbert parse crawl/
    filbert parse crawl/ 20261130201530
    """
    from filbert.steps.context import open_context
    from filbert.steps.parse import ParseOptions, run

    options = ParseOptions(
        segments=segments,
        filter=False if no_filter else None,
        normalize=False if no_normalize else None,
    )
    with open_context(crawl_dir, overrides, os.environ) as context:
        result = run(context, options)
    click.echo(result.message)
    return 1 if result.nothing_to_do else 0
