"""`filbert normalizerchecker`: what the URL normalisers make of a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from filbert.cli.escape import printable
from filbert.cli.options import common_options, crawl_dir_argument, read_settings, urls_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]

# The values of filbert.plugins.contracts.Scope; a test keeps them equal.
SCOPES = (
    "default", "inject", "fetcher", "outlink", "crawldb", "generate_host_count", "linkdb",
    "indexer",
)  # fmt: skip


@click.command()
@crawl_dir_argument
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option("--scope", type=click.Choice(SCOPES), default=SCOPES[0], show_default=True)
@common_options
def command(crawl_dir: Path, urls: tuple[str, ...], overrides: tuple[str, ...], scope: str) -> None:
    r"""Print each URL as the normalisers of CRAWL_DIR spell it; an empty line if it is none.

    Without URL: of each line of the standard input. CRAWL_DIR need not exist.

    \b
    filbert normalizerchecker crawl/ 'HTTP://Example.org:80/a/../b#top'
    """
    from filbert.plugins.contracts import Scope
    from filbert.reports.checkers import check_normalizers

    settings = read_settings(crawl_dir, overrides)
    for checked in check_normalizers(settings, crawl_dir, urls_of(urls), Scope(scope)):
        click.echo(printable(checked.result or ""))
