"""`filbert index`: documents into the index."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from filbert.cli.options import common_options, crawl_dir_argument, segments_argument

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@segments_argument
@click.option("--rebuild", is_flag=True, help="Make the embedded index anew from all segments.")
@click.option("--delete-gone", is_flag=True, help="Other writers delete gone pages as well.")
@click.option("--filter", "filter_urls", is_flag=True, help="Apply the URL filters to pages.")
@click.option("--normalize", is_flag=True, help="Apply the URL normalisers to pages.")
@common_options
def command(  # noqa: PLR0913 (click hands over each option)
    crawl_dir: Path,
    segments: tuple[str, ...],
    overrides: tuple[str, ...],
    *,
    rebuild: bool,
    delete_gone: bool,
    filter_urls: bool,
    normalize: bool,
) -> int:
    r"""Write the pages of SEGMENTs to the index; without any, of all that are new.

    The embedded index is kept true to the crawldb: pages that are gone, redirect or are
    duplicates leave it. Running the same again changes nothing.

    \b
    filbert index crawl/
    filbert index crawl/ 20261130201530 --rebuild
    """
    from filbert.steps.context import open_context
    from filbert.steps.index import IndexOptions, run

    flags = {
        "index.delete_gone": delete_gone,
        "index.filter": filter_urls,
        "index.normalize": normalize,
    }
    chosen = tuple(f"{name}=true" for name, given in flags.items() if given)
    with open_context(crawl_dir, (*overrides, *chosen), os.environ) as context:
        result = run(context, IndexOptions(segments=segments, rebuild=rebuild))
    click.echo(result.message)
    for name, count in sorted(result.counters.items()):
        if name != "indexed" and count:
            click.echo(f"  {name.replace('_', ' ')}: {count}")
    return 0
