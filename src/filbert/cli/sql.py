"""`filbert sql`: any question, in SQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from filbert.cli.options import (
    common_options,
    crawl_dir_argument,
    format_option,
    note_under_way,
    read_settings,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


class _WithViews(click.Command):
    """A command whose help ends with all views and their columns."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the views, a line for each column."""
        from filbert.reports.catalog import describe_views

        del ctx
        with formatter.section("Views"):
            for line in describe_views().splitlines():
                formatter.write(f"  {line}\n" if line else "\n")


@click.command(cls=_WithViews)
@crawl_dir_argument
@click.argument("query")
@common_options
@format_option()
def command(crawl_dir: Path, query: str, overrides: tuple[str, ...], form: str) -> None:
    r"""Answer one SQL query (DuckDB's SQL) over the views of CRAWL_DIR; nothing can be changed.

    Times are UTC timestamps, statuses have Nutch's names. For example:

    \b
    filbert sql crawl/ "select status, count(*) from crawldb group by status"
    filbert sql crawl/ "select host, avg(response_ms) from fetches group by host order by 2"
    filbert sql crawl/ "select url, title from pages where language = 'de' limit 10"
    """
    from filbert.cli.output import print_rows
    from filbert.model.clock import SystemClock
    from filbert.reports.sql import ask
    from filbert.store.crawl import CrawlFolder

    settings = read_settings(crawl_dir, overrides)
    crawl = CrawlFolder.open(crawl_dir, clock=SystemClock())
    if re.search(r"\b(fetches|hosts)\b", query, re.IGNORECASE):
        note_under_way(crawl.segments())
    with ask(crawl, query, settings.engine) as answer:
        print_rows(answer.rows, form, answer.columns)
