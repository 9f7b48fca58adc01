"""`filbert readseg`: what is in a segment."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import click

from filbert.cli.escape import printable
from filbert.cli.options import (
    common_options,
    crawl_dir_argument,
    format_option,
    note_under_way,
    output_option,
    read_settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filbert.reports.readseg import Record
    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder
    from filbert.store.segments import Segment

__all__ = ["command"]

_BLOCKS = ("content", "generate", "fetch", "parse", "parse_data", "parse_text")


def _block_options(function: Callable[..., object]) -> Callable[..., object]:
    for block in reversed(_BLOCKS):
        name = block.replace("_", "-")
        function = click.option(
            f"--no-{name}", f"no_{block}", is_flag=True, help=f"Leave out {name}."
        )(function)
    return function


@click.command()
@crawl_dir_argument
@click.argument("segment", metavar="[SEGMENT]", required=False)
@click.option("--list", "list_", is_flag=True, help="A line for each segment (the default).")
@click.option("--get", "url", metavar="URL", help="All that there is under this URL.")
@click.option("--dump", is_flag=True, help="All that there is, URL by URL.")
@_block_options
@click.option("--recode", is_flag=True, help="Decode content by the charset that was found.")
@output_option
@common_options
@format_option()
def command(
    crawl_dir: Path, segment: str | None, overrides: tuple[str, ...], **options: Any
) -> int:
    """Show segments of CRAWL_DIR: a line each, or the records of one URL or of all.

    Without SEGMENT: of all segments, oldest first. CRAWL_DIR may be a crawl of Nutch 1.x, its
    segments, or one of them: then they are told as Nutch tells them.
    """
    from filbert.cli.nutch_readers import nutch_source, read_nutch_segments
    from filbert.model.clock import SystemClock
    from filbert.reports.spelling import spellings
    from filbert.store.crawl import CrawlFolder

    if sum((options["list_"], bool(options["url"]), options["dump"])) > 1:
        message = "Say one of --list, --get and --dump."
        raise click.UsageError(message)
    if (source := nutch_source(crawl_dir)) is not None:
        return read_nutch_segments(source, crawl_dir, segment, options)
    whole = read_settings(crawl_dir, overrides)
    settings = whole.engine
    crawl = CrawlFolder.open(crawl_dir, clock=SystemClock())
    segments = [crawl.segment(segment)] if segment else crawl.segments()
    note_under_way(segments)
    if options["url"]:
        options["keys"] = spellings(options["url"], whole, crawl.path)
    if options["url"] or options["dump"]:
        return _show(segments, settings, options)
    return _list(crawl, segments, settings, options["form"])


def _list(crawl: CrawlFolder, segments: list[Segment], settings: EngineSettings, form: str) -> int:
    from filbert.cli.output import print_rows
    from filbert.reports.readseg import SegmentLine, list_segments

    lines = list_segments(crawl, segments, settings)
    unknown = "?" if form == "table" else None
    rows = (
        {name: unknown if value is None else value for name, value in asdict(line).items()}
        for line in lines
    )
    print_rows(rows, form, tuple(field.name for field in fields(SegmentLine)))
    return 0


def _show(segments: list[Segment], settings: EngineSettings, options: dict[str, Any]) -> int:
    from filbert.cli.output import print_json

    found = _records(segments, settings, options)
    count = 0
    output: Path | None = options["output"]
    with contextlib.ExitStack() as stack:
        if output is not None:
            file = stack.enter_context(output.open("w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(file))
        for record in found:
            if options["form"] == "table":
                sys.stdout.write(printable(_text(record, count)))
            else:
                print_json({"segment": record.segment, "url": record.url, **record.blocks})
            count += 1
    if options["url"] and not count:
        click.echo(f"{options['url']}: in no segment", err=True)
        return 1
    return 0


def _records(
    segments: list[Segment], settings: EngineSettings, options: dict[str, Any]
) -> Iterator[Record]:
    from filbert.reports.readseg import records

    if options["form"] == "csv":
        message = "Records are nested: --format table (text) or jsonl."
        raise click.UsageError(message)
    blocks = [block for block in _BLOCKS if not options[f"no_{block}"]]
    for key in options.get("keys", (None,)):
        found = False
        for segment in segments:
            for record in records(
                segment, settings, url=key, blocks=blocks, recode=options["recode"]
            ):
                found = True
                yield record
        if found:
            return


def _text(record: Record, number: int) -> str:
    """Return a record as Nutch's reader writes it."""
    from filbert.reports.readseg import BLOCKS

    lines = [f"Recno:: {number}", f"URL:: {record.url}", f"Segment:: {record.segment}", ""]
    for block, rows in record.blocks.items():
        for row in rows:
            lines.append(f"{BLOCKS[block]}::")
            lines += [
                f"{name}: {value}"
                for name, value in row.items()
                if value is not None and name != "url"
            ]
            lines.append("")
    return "\n".join(lines) + "\n"
