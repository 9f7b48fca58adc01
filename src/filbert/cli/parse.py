"""`filbert parse`: text and links out of fetched pages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from filbert.cli.options import chain_options, common_options, crawl_dir_argument, segments_argument

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@segments_argument
@chain_options("links")
@common_options
def command(
    crawl_dir: Path,
    segments: tuple[str, ...],
    overrides: tuple[str, ...],
    *,
    judge: bool | None,
    normalize: bool | None,
) -> None:
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
        filter=judge,
        normalize=normalize,
    )
    with open_context(crawl_dir, overrides, os.environ) as context:
        result = run(context, options)
    click.echo(result.message)
