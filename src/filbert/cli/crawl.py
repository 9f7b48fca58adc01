"""`filbert crawl`: the whole job, from seeds to an index, in rounds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from filbert.cli.failures import INTERRUPTED
from filbert.cli.numbers import Whole
from filbert.cli.options import (
    ReplayCommand,
    common_options,
    crawl_dir_argument,
    replay_option,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


def _rounds(_ctx: click.Context, _parameter: click.Parameter, value: str) -> int | None:
    if value == "all":
        return None
    if value.isdecimal() and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"{value!r} is neither a number of rounds (1, 2 …) nor `all`")


@click.command(cls=ReplayCommand)
@crawl_dir_argument
@click.option(
    "--seeds",
    metavar="FILE_OR_URL",
    multiple=True,
    help="A seed file, a folder of them, or a URL. May be given several times.",
)
@click.option(
    "--rounds",
    default="1",
    show_default=True,
    callback=_rounds,
    metavar="N|all",
    help="Rounds of this run; `all`: until nothing is due.",
)
@click.option("--top-n", type=Whole(1), help="URLs per round at most.")
@click.option("--threads", type=Whole(1), help="Requests in flight at most.")
@click.option("--no-index", is_flag=True, help="Leave the index alone.")
@replay_option
@common_options
def command(  # noqa: PLR0913 (click hands over each option)
    crawl_dir: Path,
    overrides: tuple[str, ...],
    *,
    seeds: tuple[str, ...],
    rounds: int | None,
    top_n: int | None,
    threads: int | None,
    no_index: bool,
    replay: tuple[Path, ...],
) -> int:
    r"""Crawl in rounds: generate, fetch, parse, updatedb, invertlinks, dedup, index.

    Makes CRAWL_DIR if it is not there. After a kill, or Ctrl-C, or a file `.STOP` in CRAWL_DIR,
    the same command goes on where it stopped.

    \b
    filbert crawl crawl/ --seeds seeds.txt --rounds 3
    filbert crawl again/ --seeds seeds.txt --rounds all --replay crawl/
    """
    from filbert.cli.crawl_display import watching
    from filbert.cli.crawl_summary import summary_lines
    from filbert.steps.context import open_context
    from filbert.steps.crawl import CrawlOptions, run

    chosen = [*overrides]
    chosen += [] if top_n is None else [f"generate.top_n={top_n}"]
    chosen += [] if threads is None else [f"fetcher.threads={threads}"]
    options = CrawlOptions(seeds=seeds, rounds=rounds, index=not no_index, replay=replay)
    with (
        open_context(crawl_dir, chosen, os.environ, create=bool(seeds)) as context,
        watching(context.crawl) as watch,
    ):
        report = run(context, options, watch)
    for line in summary_lines(report, crawl_dir):
        click.echo(line)
    if report.stopped:
        return INTERRUPTED
    # A call that had nothing to ask for, perhaps since an earlier one did it all, is done.
    return 1 if report.failed else 0
