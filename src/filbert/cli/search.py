"""`filbert search`: what the index finds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from filbert.cli.escape import printable
from filbert.cli.numbers import Whole
from filbert.cli.options import common_options, crawl_dir_argument, format_option, read_settings

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.reports.search import SearchOptions
    from filbert.search.searcher import Hit, SearchResult
    from filbert.search.snippet import Snippet
    from filbert.settings import Settings

__all__ = ["command"]

_FIELDS = {
    "title": "the title",
    "title_pairs": "the title",
    "anchor": "links to it",
    "anchor_pairs": "links to it",
    "url_words": "the URL",
    "host_words": "the host",
    "text": "the text",
    "text_pairs": "the text",
    "text_stems": "the text, by its stem",
}


_LINE = 90
"""Characters of a title on the list; below `index.max_title_length`, which cuts inside words."""


class _WithFields(click.Command):
    """A command whose help ends with what JSON lines and CSV have of a hit."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the fields, a line for each."""
        from filbert.reports.search import FIELDS

        del ctx
        with formatter.section("A hit as JSON or CSV"):
            words = "with --explain: each word, the part of the page, and what it adds"
            formatter.write_dl([*FIELDS.items(), ("words", words)])


@click.command(cls=_WithFields)
@crawl_dir_argument
@click.argument("words", nargs=-1, required=True)
@click.option("-n", "--limit", type=Whole(1), default=10, show_default=True)
@click.option("--offset", type=Whole(0), default=0, help="Hits to pass over.")
@click.option("--per-host", type=Whole(0), default=0, help="Hits of one host at most; 0: any.")
@click.option("--explain", is_flag=True, help="Say what each word adds to a hit.")
@common_options
@format_option()
def command(  # noqa: PLR0913 (click hands over each option)
    crawl_dir: Path,
    words: tuple[str, ...],
    overrides: tuple[str, ...],
    *,
    limit: int,
    offset: int,
    per_host: int,
    explain: bool,
    form: str,
) -> int:
    r"""Search the pages of CRAWL_DIR.

    \b
    hazel nuts             both words; if no page has both, pages with one
    '"hazel nut"'          the words side by side
    hazel OR filbert       one of them; AND, OR and NOT in capitals, and parentheses
    hazel -squirrel        pages without squirrel (after --, as in: search crawl/ -- a -b)
    site:example.org       on this host and the hosts under it
    title:oak url:faq anchor:map text:nut      in that part of the page
    lang:ja                pages in that language
    """
    from filbert.cli.output import print_rows
    from filbert.model.clock import SystemClock
    from filbert.reports.search import FIELDS, SearchOptions, hit_row, search, what_to_run
    from filbert.search.query import unheeded
    from filbert.store.crawl import CrawlFolder

    settings = read_settings(crawl_dir, overrides)
    options = SearchOptions(
        query=" ".join(words), limit=limit, offset=offset, per_host=per_host, explain=explain
    )
    crawl = CrawlFolder.open(crawl_dir, clock=SystemClock())
    result, pages = search(crawl, settings.search, options)
    if not pages:
        click.echo("The index is empty: no page is fetched, parsed and indexed.", err=True)
        click.echo(f"  {what_to_run(crawl)}", err=True)
    elif form == "table":
        _print_hits(result, options, pages, _title_length(settings))
    else:
        rows = [hit_row(hit, rank) for rank, hit in enumerate(result.hits, offset + 1)]
        print_rows(rows, form, (*FIELDS, "words") if explain else tuple(FIELDS))
    if not result.hits or result.relaxed:
        for hint in unheeded(options.query):
            click.echo(f"note: {hint}", err=True)
    return 0 if result.hits else 1


def _title_length(settings: Settings) -> int:
    """Return how much of a title is shown: of one that the index cut, less than it has."""
    kept = settings.index.max_title_length
    return _LINE if kept < 0 else min(_LINE, max(kept - 1, 1))


def _print_hits(
    result: SearchResult, options: SearchOptions, pages: int, title_length: int
) -> None:
    if not result.hits:
        click.echo(_nothing_found(result, options, pages))
        return
    found = f"{result.total} of {pages} pages"
    some = f"No page has all these words; {found} have some of them:"
    click.echo(some if result.relaxed else f"{found} found:")
    for rank, hit in enumerate(result.hits, options.offset + 1):
        click.echo()
        _print_hit(rank, hit, title_length)
    shown = options.offset + len(result.hits)
    if shown < result.total and not options.per_host:
        click.echo(f"\nMore: --offset {shown}")


def _nothing_found(result: SearchResult, options: SearchOptions, pages: int) -> str:
    if options.offset and result.total:
        return f"There are only {result.total} hits."
    return f"None of the {pages} pages has that."


def _print_hit(rank: int, hit: Hit, title_length: int) -> None:
    click.echo(f"{rank:>3}. {_marked(hit.title.cut(title_length))}")
    click.echo(click.style(f"     {printable(hit.url)}", fg="green"))
    if hit.snippet.text:
        _print_wrapped(_marked(hit.snippet))
    if hit.words:
        page = f"page score {hit.boost:.3g} gives × {hit.factor:.3g}"
        click.echo(f"     score {hit.score:.3f} = words {hit.text_score:.3f}, {page}")
        for one in hit.words:
            if one.score < hit.text_score / 100:
                continue  # too little to matter
            click.echo(f"       {one.score:8.3f}  {printable(one.word)} in {_FIELDS[one.field]}")


def _marked(snippet: Snippet) -> str:
    """Return text for a terminal, matches in bold; click drops the bold elsewhere."""
    parts: list[str] = []
    end = 0
    for begin, stop in snippet.marks:
        parts.append(printable(snippet.text[end:begin]))
        parts.append(click.style(printable(snippet.text[begin:stop]), bold=True))
        end = stop
    return "".join([*parts, printable(snippet.text[end:])])


def _print_wrapped(text: str) -> None:
    import shutil

    from click.formatting import wrap_text

    width = min(100, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 100
    indent = " " * 5
    click.echo(wrap_text(text, width=width, initial_indent=indent, subsequent_indent=indent))
