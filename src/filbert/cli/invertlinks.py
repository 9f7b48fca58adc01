"""`filbert invertlinks`: collect who links to whom."""

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
    """Bring the links of parsed segments into the linkdb; without SEGMENT, of all.

    A segment that was absorbed before is left alone.
    """
    from filbert.steps.context import open_context
    from filbert.steps.invert import InvertOptions, run

    options = InvertOptions(
        segments=segments,
        filter=judge,
        normalize=normalize,
    )
    with open_context(crawl_dir, overrides, os.environ) as context:
        click.echo(run(context, options).message)
