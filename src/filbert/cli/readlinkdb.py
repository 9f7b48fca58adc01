"""`filbert readlinkdb`: the links to a page."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from filbert.cli.options import (
    common_options,
    crawl_dir_argument,
    format_option,
    output_option,
    read_settings,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@click.option("--url", help="The links to this URL.")
@click.option("--dump", is_flag=True, help="All links, as JSON lines or CSV.")
@click.option("--regex", default="", help="Of --dump: the whole target matches (RE2).")
@output_option
@common_options
@format_option()
def command(  # noqa: PLR0913 (click hands over each option)
    crawl_dir: Path,
    overrides: tuple[str, ...],
    form: str,
    *,
    url: str | None,
    dump: bool,
    regex: str,
    output: Path | None,
) -> int:
    """Show who links to a page of CRAWL_DIR, and with which anchor text.

    CRAWL_DIR may be a linkdb of Nutch 1.x, or a web database of 0.6 or 0.7: then it is told as
    Nutch tells it.
    """
    from filbert.cli.nutch_readers import nutch_source, read_nutch_linkdb
    from filbert.cli.output import print_rows
    from filbert.model.clock import SystemClock
    from filbert.reports.readlinkdb import dump_links, inlinks
    from filbert.reports.spelling import spellings
    from filbert.store.crawl import CrawlFolder

    if bool(url) == dump:
        message = "Say one of --url and --dump."
        raise click.UsageError(message)
    if url and (regex or output):
        message = "--regex and --output belong to --dump."
        raise click.UsageError(message)
    if (source := nutch_source(crawl_dir)) is not None:
        given = {"regex": regex, "output": output, "form": form}
        return read_nutch_linkdb(source, crawl_dir, url, given)
    whole = read_settings(crawl_dir, overrides)
    settings = whole.engine
    crawl = CrawlFolder.open(crawl_dir, clock=SystemClock())
    if url:
        found = (inlinks(crawl, key, settings) for key in spellings(url, whole, crawl.path))
        rows = next(filter(None, found), None)
        if not rows:
            click.echo(f"{url}: no link information", err=True)
            return 1
        print_rows(rows, form, ("from_url", "anchor", "metadata"))
        return 0
    with contextlib.ExitStack() as stack:
        answer = stack.enter_context(dump_links(crawl, settings, regex=regex))
        if output is not None:
            file = stack.enter_context(output.open("w", encoding="utf-8", newline=""))
            stack.enter_context(contextlib.redirect_stdout(file))
        print_rows(answer.rows, "jsonl" if form == "table" else form, answer.columns)
    return 0
