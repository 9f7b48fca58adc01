"""`filbert invertlinks`: collect who links to whom."""

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
@click.option("--no-filter", is_flag=True, help="Do not apply the URL filters.")
@click.option("--no-normalize", is_flag=True, help="Do not normalise.")
@common_options
def command(
    crawl_dir: Path,
    segments: tuple[str, ...],
    overrides: tuple[str, ...],
    *,
    no_filter: bool,
    no_normalize: bool,
) -> None:
    """Bring the links of parsed segments into the linkdb; without SEGMENT, of all.

    A segment that was absorbed before is left alone.
    """
    from filbert.steps.context import open_context
    from filbert.steps.invert import InvertOptions, run

    options = InvertOptions(
        segments=segments,
        filter=False if no_filter else None,
        normalize=False if no_normalize else None,
    )
    with open_context(crawl_dir, overrides, os.environ) as context:
        click.echo(run(context, options).message)
