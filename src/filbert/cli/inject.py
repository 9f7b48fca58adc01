"""`filbert inject`: seeds into the crawldb."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from filbert.cli.options import chain_options, common_options, crawl_dir_argument

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@click.argument("seeds", metavar="SEEDS...", nargs=-1, required=True)
@click.option("--overwrite", is_flag=True, default=None, help="A seed replaces the page.")
@click.option(
    "--update", is_flag=True, default=None, help="Metadata, score and interval go into the page."
)
@chain_options("seeds")
@click.option(
    "--filter-normalize-all",
    is_flag=True,
    default=None,
    help="Apply filters and normalisers to the pages that are there, too.",
)
@common_options
def command(  # noqa: PLR0913 (click hands over each option)
    crawl_dir: Path,
    seeds: tuple[str, ...],
    overrides: tuple[str, ...],
    *,
    overwrite: bool | None,
    update: bool | None,
    judge: bool | None,
    normalize: bool | None,
    filter_normalize_all: bool | None,
) -> None:
    r"""Add seeds to the crawldb; make the crawl folder if it is not there.

    SEEDS are files with one URL per line, folders of such files, or URLs. A line may go on with
    metadata, each after a TAB: nutch.score=2.5, nutch.fetchInterval=3600 (seconds),
    nutch.fetchInterval.fixed=86400, or any name=value.

    \b
    filbert inject crawl/ seeds.txt
    filbert inject crawl/ https://example.org/
    """
    from filbert.steps.context import open_context
    from filbert.steps.inject import InjectOptions, run
    from filbert.steps.seed_files import find_seeds

    find_seeds(seeds)  # before a folder is made for nothing
    options = InjectOptions(
        seeds=seeds,
        overwrite=overwrite,
        update=update,
        filter=judge,
        normalize=normalize,
        filter_normalize_all=filter_normalize_all,
    )
    with open_context(crawl_dir, overrides, os.environ, create=True) as context:
        click.echo(run(context, options).message)
