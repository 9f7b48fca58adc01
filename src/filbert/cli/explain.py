"""`filbert explain`: all that is known of a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from filbert.cli.escape import printable
from filbert.cli.options import common_options, crawl_dir_argument, read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.rules.explain_facts import Statement

__all__ = ["command"]

_HEADINGS = {
    "rules": "What the rules say now",
    "history": "What happened (UTC)",
    "next": "When it is fetched next",
    "links": "Links",
    "index": "In the index",
}


@click.command()
@crawl_dir_argument
@click.argument("url")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="Sentences for people, or JSON lines for programs.",
)
@common_options
def command(crawl_dir: Path, url: str, overrides: tuple[str, ...], form: str) -> int:
    r"""Tell all that CRAWL_DIR knows of URL, in order of time, and why.

    Where it came from, what each filter and robots.txt say, every fetch, parse and change, why it
    is or is not due, its links, and whether it is in the index. For a URL that is not known: why
    not. Nothing is asked from the network, and nothing changes.

    \b
    filbert explain crawl/ https://example.org/page
    filbert explain crawl/ example.org/page --format jsonl

    Exit code 1 if the URL is not in the crawldb.
    """
    from filbert.model.clock import SystemClock
    from filbert.reports.explain import explain
    from filbert.store.crawl import CrawlFolder

    if not url.strip():
        raise click.BadParameter("it is blank", param_hint="URL")
    settings = read_settings(crawl_dir, overrides)
    clock = SystemClock()
    crawl = CrawlFolder.open(crawl_dir, clock=clock)
    statements = explain(crawl, settings, url, clock.now_ms())
    if form == "jsonl":
        _print_lines(statements)
    else:
        _print_text(url, statements)
    return 0 if any(one.kind == "known" for one in statements) else 1


def _print_lines(statements: Sequence[Statement]) -> None:
    from filbert.cli.output import print_json
    from filbert.model.clock import iso

    for one in statements:
        line = {
            "part": one.part.value,
            "kind": one.kind,
            "time": None if one.time is None else iso(one.time),
            "text": one.text,
            "notes": list(one.notes),
            **dict(one.facts),
        }
        print_json(line)


def _print_text(url: str, statements: Sequence[Statement]) -> None:
    from filbert.rules.explain_words import when

    click.secho(printable(url), bold=True)
    part = ""
    for one in statements:
        if one.part.value != part:
            part = one.part.value
            click.echo()
            if part in _HEADINGS:
                click.secho(_HEADINGS[part], bold=True)
        moment = f"{when(one.time)}  " if part == "history" else ""
        _print_wrapped(moment + printable(one.text), indent=2, hanging=2 + len(moment))
        for note in one.notes:
            _print_wrapped(printable(note), indent=4 + len(moment), hanging=6 + len(moment))


def _print_wrapped(text: str, *, indent: int, hanging: int) -> None:
    import shutil
    import textwrap

    width = max(60, min(110, shutil.get_terminal_size((110, 24)).columns))
    click.echo(
        textwrap.fill(
            text,
            width=width,
            initial_indent=" " * indent,
            subsequent_indent=" " * hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )
