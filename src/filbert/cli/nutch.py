"""`filbert nutch`: Nutch's own data, read, taken over, and given back."""

from __future__ import annotations

import os
from pathlib import Path

import click

from filbert.cli.fetch07 import command as fetch07
from filbert.cli.options import common_options, crawl_dir_argument

__all__ = ["command"]

_SOURCE = click.Path(path_type=Path)
_skip_bad = click.option(
    "--skip-bad", is_flag=True, help="Go on behind damaged records, and say where they were."
)


@click.group()
def command() -> None:
    """Read Nutch's own data, take a crawl over, give one back."""


command.add_command(fetch07, "fetch07")


@command.command()
@click.argument("path", type=_SOURCE)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="As Nutch prints it, or a line of JSON per record.",
)
@_skip_bad
def dump(path: Path, form: str, *, skip_bad: bool) -> None:
    r"""Print any file or folder of Nutch 0.6, 0.7 or 1.x.

    What it is, is found out from its headers: a SequenceFile, a MapFile, a crawldb, a segment, a
    web database.

    \b
    filbert nutch dump nutch/crawl/crawldb
    filbert nutch dump segments/20060331120000/fetcher --format jsonl
    """
    from filbert.cli.output import print_json
    from filbert.nutch.damage import Damage
    from filbert.nutch.dump import dump as dumped
    from filbert.nutch.printed import printed

    damage = Damage() if skip_bad else None
    if form == "text":
        for text in printed(path, damage=damage):
            click.echo(text, nl=False)
    else:
        for record in dumped(path, damage=damage):
            line = {
                "file": record.file,
                "position": record.position,
                "key": record.key,
                "value": record.value,
            }
            print_json(line)
    for told in damage.lines() if damage is not None else ():
        click.echo(told, err=True)


@command.command(name="import")
@click.argument("source", type=_SOURCE)
@crawl_dir_argument
@_skip_bad
@click.option(
    "--absorb-again",
    is_flag=True,
    help="Leave parsed segments to the next updatedb, as if the crawldb had not seen them.",
)
@common_options
def import_(
    source: Path,
    crawl_dir: Path,
    overrides: tuple[str, ...],
    *,
    skip_bad: bool,
    absorb_again: bool,
) -> None:
    r"""Take a crawl of Nutch over into a new CRAWL_DIR; SOURCE is not changed.

    SOURCE is a crawl folder of Nutch 1.x (crawldb, linkdb, segments) or of 0.6 and 0.7 (db,
    segments), or one of these. After a kill the same command goes on.

    \b
    filbert nutch import nutch/crawl crawl/
    filbert crawl crawl/ --rounds 1
    """
    from filbert.steps.context import open_context
    from filbert.steps.nutch_import import ImportOptions, run

    options = ImportOptions(source=source, skip_bad=skip_bad, absorb_again=absorb_again)
    with open_context(crawl_dir, overrides, os.environ, create=True, importing=True) as context:
        result = run(context, options)
    for note in result.notes:
        click.echo(note, err=True)
    click.echo(result.message)


@command.command()
@crawl_dir_argument
@click.argument("dest", type=_SOURCE)
@click.option(
    "--compression",
    type=click.Choice(["none", "record", "block"]),
    help="Of all files; without it each is as Nutch writes it by default.",
)
@click.option("--codec", default="default", show_default=True, help="default, gzip, bzip2, zstd …")
@click.option(
    "--as",
    "era",
    type=click.Choice(["1.x", "0.7"]),
    default="1.x",
    show_default=True,
    help="For which Nutch; 0.7 packs nothing.",
)
@common_options
def export(
    crawl_dir: Path,
    dest: Path,
    overrides: tuple[str, ...],
    *,
    compression: str | None,
    codec: str,
    era: str,
) -> None:
    r"""Give CRAWL_DIR to Nutch, as a complete crawl folder DEST.

    \b
    filbert nutch export crawl/ nutch-crawl/
    filbert nutch export crawl/ nutch-crawl/ --compression block --codec gzip
    filbert nutch export crawl/ old-crawl/ --as 0.7
    """
    from filbert.nutch.sequence_writer import Compression
    from filbert.steps.context import open_context
    from filbert.steps.nutch_export import ExportOptions, run

    chosen = Compression(compression) if compression else None
    if era == "0.7" and (compression not in (None, "none") or codec != "default"):
        message = "--compression and --codec belong to --as 1.x: Nutch 0.7 packs nothing."
        raise click.UsageError(message)
    if compression == "none" and codec != "default":
        message = f"--codec {codec} has nothing to do: --compression is none."
        raise click.UsageError(message)
    options = ExportOptions(dest=dest, compression=chosen, codec=codec, as_07=era == "0.7")
    with open_context(crawl_dir, overrides, os.environ) as context:
        click.echo(run(context, options).message)
