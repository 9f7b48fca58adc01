"""`filbert vacuum`: drop old versions and segments."""

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
@click.option(
    "--keep-segments",
    metavar="N|Nd",
    help="Keep the newest N segments, or those of the last N days. "
    "Default: the setting store.keep_segments.",
)
@click.option(
    "--keep-hours",
    type=Whole(0),
    help="Hours that versions can be rolled back to. "
    "Default: the setting store.vacuum_after_hours.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@common_options
def command(
    crawl_dir: Path,
    overrides: tuple[str, ...],
    *,
    keep_segments: str | None,
    keep_hours: int | None,
    dry_run: bool,
) -> None:
    r"""Remove files of versions out of reach of rollback, and segments beyond those to keep.

    A segment that updatedb, invertlinks or the index has not absorbed is never removed, unless
    `filbert rollback --leave-out` left it out. One that was removed cannot be absorbed again after
    a rollback: its pages are then fetched anew. Files younger than an hour stay in any case: they
    may belong to a command that is running. It is refused while a crawl runs.

    \b
    filbert vacuum crawl/ --keep-segments 10
    filbert vacuum crawl/ --keep-segments 30d --dry-run
    """
    from filbert.steps.context import open_context
    from filbert.steps.vacuum import VacuumOptions, run

    options = VacuumOptions(keep_segments=keep_segments, keep_hours=keep_hours, dry_run=dry_run)
    with open_context(crawl_dir, overrides, os.environ) as context:
        click.echo(run(context, options).message)
