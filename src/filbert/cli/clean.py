"""`filbert clean`: documents of gone pages out of the index."""

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
@common_options
def command(crawl_dir: Path, overrides: tuple[str, ...]) -> int:
    """Delete from every index what the crawldb says is gone or a duplicate.

    From the embedded index also pages that the crawldb no longer knows.
    """
    from filbert.steps.clean import CleanOptions, run
    from filbert.steps.context import open_context

    with open_context(crawl_dir, overrides, os.environ) as context:
        result = run(context, CleanOptions())
    click.echo(result.message)
    for name, count in sorted(result.counters.items()):
        click.echo(f"  {name.replace('_', ' ')}: {count}")
    return 0
