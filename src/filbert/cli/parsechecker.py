"""`filbert parsechecker`: what parsing makes of one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from filbert.cli.escape import printable
from filbert.cli.options import common_options, crawl_dir_argument, read_settings

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.parser.jobs import PageRows

__all__ = ["command"]


@click.command()
@crawl_dir_argument
@click.argument("page", metavar="FILE|URL")
@click.option("--url", default="", help="The URL that a local file is to have.")
@click.option("--content-type", help="What a server would call a local file.")
@click.option("--text", "show_text", is_flag=True, help="Show the text, too.")
@click.option("--json", "as_json", is_flag=True, help="The rows as JSON, for programs.")
@common_options
def command(  # noqa: PLR0913 (click hands over each option)
    crawl_dir: Path,
    page: str,
    overrides: tuple[str, ...],
    *,
    url: str,
    content_type: str | None,
    show_text: bool,
    as_json: bool,
) -> int:
    r"""Parse one page by the settings of CRAWL_DIR and show what comes of it.

    The page is a local file, or a URL that CRAWL_DIR has a capture of: no server is asked and
    nothing is written. Exit code 1 if the parse fails.

    \b
    filbert parsechecker crawl/ page.html --url http://example.org/
    filbert parsechecker crawl/ http://example.org/ --text
    """
    from filbert.model.clock import SystemClock
    from filbert.reports.checkers import check_page, page_of
    from filbert.store.crawl import CrawlFolder

    settings = read_settings(crawl_dir, overrides)
    exists = CrawlFolder.exists(crawl_dir)
    crawl = CrawlFolder.open(crawl_dir, clock=SystemClock()) if exists else None
    job = page_of(crawl, page, url=url, content_type=content_type)
    detected, rows = check_page(settings, crawl_dir, job)
    if as_json:
        _print_json(detected, rows)
    else:
        _print_page(detected, rows, show_text=show_text)
    return 0 if all(row["major"] == 1 for row in rows.parse_data) else 1


def _print_json(detected: str, rows: PageRows) -> None:
    from filbert.cli.output import print_json

    shown = {
        "content_type": detected,
        "parse_data": rows.parse_data,
        "parse_text": rows.parse_text,
        "crawl_parse": rows.crawl_parse,
    }
    print_json(shown)


def _print_page(detected: str, rows: PageRows, *, show_text: bool) -> None:
    texts = {row["url"]: row["text"] for row in rows.parse_text}
    for data in rows.parse_data:
        _line("url", data["url"])
        _line("content type", detected)
        for name in ("parser", "parse_message", "charset", "language", "title", "canonical_url"):
            _line(name.replace("_", " "), data[name])
        said = [n for n in ("noindex", "nofollow", "noarchive") if data[f"robots_{n}"]]
        _line("robots", ", ".join(said))
        _line("signature", data["signature"].hex())
        for name, values in data["parse_metadata"].items():
            _line(f"meta {name}", " | ".join(values))
        _line("links", f"{data['outlinks_kept']} kept of {data['outlinks_found']}")
        for reason, count in data["outlinks_dropped"].items():
            _line(f"  dropped: {reason}", count)
        _line("text", f"{len(texts.get(data['url'], '')):,} characters")
        if show_text:
            click.echo(printable(texts.get(data["url"], "")))
    for row in rows.crawl_parse:
        if row["kind"] in {"outlink", "refresh"}:
            anchor = row.get("anchor") or ""
            click.echo(printable(f"{row['kind']:8} {row['url']}  {anchor}".rstrip()))


def _line(name: str, value: object) -> None:
    if value not in (None, ""):
        click.echo(printable(f"{name + ':':24} {value}"))
