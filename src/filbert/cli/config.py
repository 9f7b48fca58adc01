"""`filbert config`: what holds for a crawl and why; Nutch's settings taken over."""

from __future__ import annotations

import os
from pathlib import Path

import click

from filbert.cli.options import common_options, format_option

__all__ = ["command"]


@click.group()
def command() -> None:
    """Show settings and where each came from; import Nutch's."""


@command.command()
@click.argument(
    "crawl_dir",
    metavar="[CRAWL_DIR]",
    required=False,
    type=click.Path(path_type=Path, file_okay=False),
)
@click.option("--changed", is_flag=True, help="Only what differs from the defaults.")
@click.option("--meaning", is_flag=True, help="Say in a sentence what each is.")
@common_options
@format_option()
def show(
    crawl_dir: Path | None, overrides: tuple[str, ...], form: str, *, changed: bool, meaning: bool
) -> None:
    """Print each setting, its value, and where the value came from.

    Ends with exit code 2 if no step could work with them: a plugin that is not there, a rule file
    that is broken, an address that is none.
    """
    from filbert.cli.output import print_rows
    from filbert.plugins.registry import PluginRepository
    from filbert.plugins.settings_check import check_settings
    from filbert.settings import load_settings
    from filbert.settings.catalog import catalog, value_of

    loaded = load_settings(crawl_dir, overrides, os.environ)
    for warning in loaded.warnings:
        click.echo(f"note: {warning}", err=True)
    if crawl_dir is not None and not crawl_dir.is_dir():
        click.echo(f"note: there is no folder {crawl_dir} yet; this would hold there", err=True)
    rows = [
        {
            "name": name,
            "value": _shown(name, value_of(loaded.settings, name)),
            "from": str(loaded.provenance[name]),
            "meaning": setting.description,
        }
        for name, setting in catalog().items()
        if not changed or loaded.provenance[name].layer != "default"
    ]
    columns = ("name", "value", "from", "meaning")
    print_rows(rows, form, columns if meaning else columns[:-1])
    plugins = PluginRepository(loaded.settings, crawl_dir or Path())
    check_settings(loaded.settings, plugins)
    plugins.url_chain()


def _shown(name: str, value: object) -> object:
    """Return a value as it may stand in a terminal, or in a log that is passed on."""
    return "(set)" if name.endswith("password") and value else value


@command.command(name="import")
@click.argument("site", metavar="NUTCH_SITE_XML", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write here (such as CRAWL_DIR/filbert.toml) instead of to stdout.",
)
@click.option("--force", is_flag=True, help="Replace the output file if it is there.")
def import_(site: Path, output: Path | None, *, force: bool) -> None:
    """Translate a nutch-site.xml into a filbert.toml; nothing of it is lost silently."""
    from filbert.errors import UserError
    from filbert.settings.nutch_site import import_site

    imported = import_site(site)
    if output is None:
        click.echo(imported.toml, nl=False)
    elif output.exists() and not force:
        msg = f"{output} is there already"
        raise UserError(msg, hint="Say --force to replace it, or another -o.")
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(imported.toml, encoding="utf-8")
    for note in imported.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"{imported.taken} properties taken over, {imported.left} in comments", err=True)
