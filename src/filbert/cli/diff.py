"""`filbert diff`: what a round changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from filbert.cli.numbers import Whole
from filbert.cli.options import (
    common_options,
    crawl_dir_argument,
    format_option,
    read_settings,
)

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.reports.diff import CrawldbDiff

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@click.argument("old", metavar="[FROM]", type=Whole(0), required=False)
@click.argument("new", metavar="[TO]", type=Whole(0), required=False)
@common_options
@format_option()
def command(
    crawl_dir: Path, old: int | None, new: int | None, overrides: tuple[str, ...], form: str
) -> None:
    r"""Show what changed in the crawldb of CRAWL_DIR from version FROM to version TO.

    Without versions: what changed since before the last updatedb. New URLs, removed URLs and
    changes of status with both statuses, then content, scores and times; each with its count
    and the first few URLs.
    """
    from filbert.cli.output import print_rows
    from filbert.model.clock import SystemClock
    from filbert.reports.diff import diff
    from filbert.store.crawl import CrawlFolder

    settings = read_settings(crawl_dir, overrides)
    crawl = CrawlFolder.open(crawl_dir, clock=SystemClock())
    found = diff(crawl, settings.engine, old=old, new=new)
    if form == "table":
        _print_heading(found)
    rows = [
        {
            "change": change.change,
            "from": change.old,
            "to": change.new,
            "count": change.count,
            "samples": " ".join(change.samples) if form != "jsonl" else list(change.samples),
        }
        for change in found.changes
    ]
    print_rows(rows, form, ("change", "from", "to", "count", "samples"))


def _print_heading(found: CrawldbDiff) -> None:
    from filbert.model.clock import iso
    from filbert.rules.plural import count_of

    click.echo(
        f"crawldb version {found.old_version} ({count_of(found.old_rows, 'URL')}) to "
        f"{found.new_version} ({count_of(found.new_rows, 'URL')})"
    )
    for record in found.steps:
        names = " ".join(sorted(record.transactions))
        click.echo(f"  version {record.version}: {record.step}, {iso(record.time_ms)} {names}")
