"""`filbert readdb`: figures and rows of the crawldb."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import click

from filbert.cli.numbers import Finite, Whole
from filbert.cli.options import (
    common_options,
    crawl_dir_argument,
    format_option,
    output_option,
    read_settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from filbert.settings import Settings
    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder

__all__ = ["command"]

_SELECTION = ("regex", "status", "retry", "expr", "sample")


def _selection_options(function: Callable[..., object]) -> Callable[..., object]:
    for option in reversed(
        (
            click.option("--regex", default="", help="Of --dump: the whole URL matches (RE2)."),
            click.option("--status", default="", help="Of --dump: such as db_fetched."),
            click.option("--retry", type=Whole(0), help="Of --dump: so many retries, or more."),
            click.option(
                "--expr", default="", help="Of --dump: an SQL condition, such as 'score > 1'."
            ),
            click.option(
                "--sample",
                type=click.FloatRange(0, 1),
                help="Of --dump: this share of the rows, the same each time.",
            ),
        )
    ):
        function = option(function)
    return function


@click.command()
@crawl_dir_argument
@click.option("--stats", is_flag=True, help="Figures: statuses, scores, times, retries.")
@click.option("--sort", is_flag=True, help="With --stats: hosts under each status.")
@click.option("--url", help="The row of this URL.")
@click.option("--top-n", type=Whole(1), help="So many URLs of the highest score.")
@click.option("--min-score", type=Finite(), help="With --top-n: of those with this score or more.")
@click.option(
    "--dump",
    is_flag=True,
    help="All rows, or those that the options below choose, as JSON lines, CSV or Parquet.",
)
@_selection_options
@output_option
@common_options
@format_option("parquet")
def command(crawl_dir: Path, overrides: tuple[str, ...], **options: Any) -> int:
    """Tell what the crawldb of CRAWL_DIR knows: figures, one URL, the best, or all rows.

    CRAWL_DIR may be a crawldb of Nutch 1.x, or a web database of 0.6 or 0.7: then it is told as
    Nutch tells it.
    """
    from filbert.cli.nutch_readers import nutch_source, read_nutch_crawldb
    from filbert.model.clock import SystemClock
    from filbert.store.crawl import CrawlFolder

    mode = _mode(options)
    if (source := nutch_source(crawl_dir)) is not None:
        return read_nutch_crawldb(source, crawl_dir, mode, options)
    settings = read_settings(crawl_dir, overrides)
    crawl = CrawlFolder.open(crawl_dir, clock=SystemClock())
    if mode == "url":
        return _url(crawl, settings, options)
    return {"stats": _stats, "top_n": _top, "dump": _dump}[mode](crawl, settings.engine, options)


def _mode(options: dict[str, Any]) -> str:
    """Return which of the four questions is asked; say what does not go with it."""
    asked = [name for name in ("stats", "url", "top_n", "dump") if options[name]]
    if len(asked) != 1:
        message = "Say one of --stats, --url, --top-n and --dump."
        raise click.UsageError(message)
    belongs = {"sort": "stats", "min_score": "top_n", "output": "dump"} | dict.fromkeys(
        _SELECTION, "dump"
    )
    for name, mode in belongs.items():
        if options[name] not in (None, "", False) and mode != asked[0]:
            wanted, given = mode.replace("_", "-"), name.replace("_", "-")
            message = f"--{given} belongs to --{wanted}."
            raise click.UsageError(message)
    if options["form"] == "parquet" and not options["output"]:
        message = "--format parquet needs --dump and a file: -o FILE."
        raise click.UsageError(message)
    return asked[0]


def _stats(crawl: CrawlFolder, settings: EngineSettings, options: dict[str, Any]) -> int:
    from filbert.cli.output import print_rows
    from filbert.reports.stats import crawldb_stats

    figures = crawldb_stats(crawl, settings, by_host=options["sort"])
    form = options["form"]
    rows = [{"name": f.name, "value": f.text if form == "table" else f.value} for f in figures]
    print_rows(rows, form, ("name", "value"))
    return 0


def _url(crawl: CrawlFolder, settings: Settings, options: dict[str, Any]) -> int:
    from filbert.cli.output import print_rows
    from filbert.reports.readdb import find
    from filbert.reports.spelling import spellings

    keys = spellings(options["url"], settings, crawl.path)
    found = (find(crawl, key, settings.engine) for key in keys)
    row = next((one for one in found if one is not None), None)
    if row is None:
        click.echo(f"{options['url']}: not found in the crawldb", err=True)
        return 1
    if options["form"] == "table":
        pairs = [{"name": n, "value": v} for n, v in row.items() if v is not None]
        print_rows(pairs, "table", ("name", "value"))
    else:
        print_rows([row], options["form"], tuple(row))
    return 0


def _top(crawl: CrawlFolder, settings: EngineSettings, options: dict[str, Any]) -> int:
    from filbert.cli.output import print_rows
    from filbert.reports.readdb import top

    rows = top(crawl, options["top_n"], settings, min_score=options["min_score"])
    print_rows(rows, options["form"], ("score", "url", "status"))
    return 0


def _dump(crawl: CrawlFolder, settings: EngineSettings, options: dict[str, Any]) -> int:
    from filbert.cli.output import print_rows
    from filbert.reports.readdb import Selection, dump, dump_parquet

    selection = Selection(**{name: options[name] for name in _SELECTION})
    output: Path | None = options["output"]
    if options["form"] == "parquet" and output is not None:
        rows = dump_parquet(crawl, selection, settings, output)
        click.echo(f"{rows} rows written to {output}", err=True)
        return 0
    with contextlib.ExitStack() as stack:
        answer = stack.enter_context(dump(crawl, selection, settings))
        if output is not None:
            file = stack.enter_context(output.open("w", encoding="utf-8", newline=""))
            stack.enter_context(contextlib.redirect_stdout(file))
        form = "jsonl" if options["form"] == "table" else options["form"]
        print_rows(answer.rows, form, answer.columns)
    return 0
