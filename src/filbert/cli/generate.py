"""`filbert generate`: choose what to fetch next."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from filbert.cli.numbers import Finite, Whole
from filbert.cli.options import common_options, crawl_dir_argument

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@click.option("--top-n", type=Whole(-1), help="URLs per segment at most; -1 no limit.")
@click.option("--num-fetchers", type=Whole(1), help="Parts of each segment.")
@click.option(
    "--add-days",
    type=Finite(1e6),
    default=0.0,
    help="Judge what is due as if so many days had passed.",
)
@click.option("--max-num-segments", type=Whole(1), help="Segments made at most.")
@click.option("--expr", help="Only pages for which it is true: \"score > 0.5 && url =^ 'https'\".")
@click.option("--no-filter", is_flag=True, help="Never apply the URL filters.")
@click.option("--no-norm", is_flag=True, help="Never apply the URL normalisers.")
@click.option(
    "--recheck",
    is_flag=True,
    help="Apply filters and normalisers even where the crawldb agrees with them.",
)
@click.option("--force", is_flag=True, help="For scripts made for Nutch; there is no lock here.")
@click.option("--show-sql", is_flag=True, help="Print the queries and do nothing.")
@common_options
def command(  # noqa: PLR0913 (click hands over each option)
    crawl_dir: Path,
    overrides: tuple[str, ...],
    *,
    top_n: int | None,
    num_fetchers: int | None,
    add_days: float,
    max_num_segments: int | None,
    expr: str | None,
    no_filter: bool,
    no_norm: bool,
    recheck: bool,
    force: bool,
    show_sql: bool,
) -> int:
    """Choose the pages to fetch next and lay them out in new segments.

    Prints the names of the segments. Exit code 1: nothing is to be fetched; the message says why.
    """
    from filbert.steps.context import open_context
    from filbert.steps.generate import GenerateOptions, run
    from filbert.steps.generate import show_sql as queries

    del force
    options = GenerateOptions(
        top_n=top_n,
        num_fetchers=num_fetchers,
        add_days=add_days,
        max_num_segments=max_num_segments,
        expr=expr,
        filter=False if no_filter else None,
        normalize=False if no_norm else None,
        recheck=recheck,
    )
    with open_context(crawl_dir, overrides, os.environ) as context:
        if show_sql:
            click.echo(queries(context, options), nl=False)
            return 0
        result = run(context, options)
    click.echo(result.message, err=True)
    for name in result.segments:
        click.echo(name)
    return 1 if result.nothing_to_do else 0
