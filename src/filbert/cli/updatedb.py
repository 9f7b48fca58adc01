"""`filbert updatedb`: bring a round into the crawldb."""

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
@click.option(
    "--filter", "judge", is_flag=True, default=None, help="Apply the URL filters to all pages."
)
@click.option(
    "--normalize", is_flag=True, default=None, help="Apply the URL normalisers to all pages."
)
@click.option("--no-additions", is_flag=True, help="Only known pages change; no page enters.")
@click.option("--show-sql", is_flag=True, help="Print the queries and do nothing.")
@common_options
def command(  # noqa: PLR0913 (click hands over each option)
    crawl_dir: Path,
    segments: tuple[str, ...],
    overrides: tuple[str, ...],
    *,
    judge: bool | None,
    normalize: bool | None,
    no_additions: bool,
    show_sql: bool,
) -> None:
    """Bring fetched and parsed segments into the crawldb; without SEGMENT, all of them.

    A segment that was absorbed before is left alone. One that `filbert rollback --leave-out` left
    out is absorbed only if it is named.
    """
    from filbert.steps.context import open_context
    from filbert.steps.update import UpdateOptions, run
    from filbert.steps.update import show_sql as queries

    options = UpdateOptions(
        segments=segments,
        filter=judge,
        normalize=normalize,
        additions=False if no_additions else None,
    )
    with open_context(crawl_dir, overrides, os.environ) as context:
        if show_sql:
            click.echo(queries(context, options), nl=False)
        else:
            click.echo(run(context, options).message)
