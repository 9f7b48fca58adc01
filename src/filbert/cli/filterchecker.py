"""`filbert filterchecker`: what the URL filters say, and by which rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from filbert.cli.escape import printable
from filbert.cli.options import common_options, crawl_dir_argument, read_settings, urls_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@click.argument("urls", metavar="[URL]...", nargs=-1)
@common_options
def command(crawl_dir: Path, urls: tuple[str, ...], overrides: tuple[str, ...]) -> None:
    r"""Say of each URL whether the filters of CRAWL_DIR keep it, and which rule decides.

    Without URL: of each line of the standard input. A line of the answer is + or - and the URL,
    a TAB, and the rule. The URL is judged as it stands; CRAWL_DIR need not exist.

    \b
    filbert filterchecker crawl/ 'http://example.org/?q=1'
    filbert filterchecker crawl/ -D urls.filters=regex,validator < urls.txt
    """
    from filbert.reports.checkers import check_filters

    settings = read_settings(crawl_dir, overrides)
    for checked in check_filters(settings, crawl_dir, urls_of(urls)):
        sign = "-" if checked.result is None else "+"
        click.echo(printable(f"{sign}{checked.url}\t{checked.rule}"))
