"""`filbert rollback`: undo the last rounds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from filbert.cli.numbers import Whole
from filbert.cli.options import common_options, crawl_dir_argument

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@click.option("--to", type=Whole(0), help="Go back to this version of the crawldb.")
@click.option("--segment", help="Go back to before updatedb absorbed this segment.")
@click.option(
    "--leave-out",
    is_flag=True,
    help="updatedb and crawl do not absorb the segment of --segment again by themselves; "
    "without --segment, none of those undone.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be undone.")
@common_options
def command(
    crawl_dir: Path,
    overrides: tuple[str, ...],
    *,
    to: int | None,
    segment: str | None,
    leave_out: bool,
    dry_run: bool,
) -> None:
    r"""Bring crawldb, linkdb and origins of CRAWL_DIR back to what they were before a round.

    Without an option: to before the last updatedb. Nothing is deleted: segments stay, and the next
    updatedb or crawl absorbs them again by itself, unless they are left out with --leave-out. A
    rollback can be undone with --to, until `filbert vacuum` takes the files. The index follows
    with the next `filbert index`. It is refused while a crawl or fetch runs.

    \b
    filbert rollback crawl/
    filbert rollback crawl/ --to 12
    filbert rollback crawl/ --segment 20261130201530 --leave-out
    """
    from filbert.steps.context import open_context
    from filbert.steps.rollback import RollbackOptions, run

    if to is not None and segment:
        message = "Say --to or --segment, not both."
        raise click.UsageError(message)
    options = RollbackOptions(to=to, segment=segment, leave_out=leave_out, dry_run=dry_run)
    with open_context(crawl_dir, overrides, os.environ) as context:
        click.echo(run(context, options).message)
