"""`filbert dedup`: mark pages of equal content."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

import click

from filbert.cli.options import common_options, crawl_dir_argument

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@click.option(
    "--group",
    type=click.Choice(["none", "host", "domain"]),
    help="Compare all pages, or only those of one host or domain.",
)
@click.option(
    "--compare-order",
    metavar="NAMES",
    help="What decides, in order, by commas: score, fetchTime, urlLength, httpsOverHttp.",
)
@click.option("--show-sql", is_flag=True, help="Print the query and do nothing.")
@common_options
def command(
    crawl_dir: Path,
    overrides: tuple[str, ...],
    *,
    group: Literal["none", "host", "domain"] | None,
    compare_order: str | None,
    show_sql: bool,
) -> None:
    """Mark all but the best of pages with the same signature as db_duplicate."""
    from filbert.steps.context import open_context
    from filbert.steps.dedup import DedupOptions, run
    from filbert.steps.dedup import show_sql as queries

    order = None if compare_order is None else tuple(compare_order.replace(",", " ").split())
    options = DedupOptions(group=group, compare_order=order)
    with open_context(crawl_dir, overrides, os.environ) as context:
        if show_sql:
            click.echo(queries(context, options), nl=False)
        else:
            click.echo(run(context, options).message)
