"""`readdb`, `readlinkdb` and `readseg` of a folder of Nutch 1.x: they print what Nutch prints.

Guarantee: the folder is not changed; what Nutch's reader has no form for is wrong use, and says so.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from filbert.nutch.sources import Source

__all__ = ["nutch_source", "read_nutch_crawldb", "read_nutch_linkdb", "read_nutch_segments"]

_OURS_ALONE = ("regex", "status", "retry", "expr", "sample")


def nutch_source(path: Path) -> Source | None:
    """Return what a folder has of Nutch 1.x; None: nothing, or it is a crawl folder of ours."""
    from filbert.errors import UserError
    from filbert.nutch.sources import Source
    from filbert.store.crawl import CrawlFolder

    if not path.is_dir() or CrawlFolder.exists(path):
        return None
    try:
        return Source.find(path)
    except UserError:
        return None


def read_nutch_crawldb(source: Source, path: Path, mode: str, options: dict[str, Any]) -> int:
    """Answer `readdb` of a crawldb of Nutch."""
    from filbert.nutch.v1.crawl_datum import CrawlDatum
    from filbert.nutch.v1.text_stats import crawldb_stats, crawldb_top
    from filbert.nutch.v1.texts import crawldb_csv, crawldb_json, crawldb_text, pages_of

    folder = _there(source.crawldb, "crawldb", path)
    _refuse(options)
    pages = pages_of(folder, CrawlDatum)
    if mode == "url":
        found = ((url, datum) for url, datum in pages if url == options["url"])
        return _print(crawldb_text(found), None, f"{options['url']}: not found in the crawldb")
    if mode == "stats":
        return _print(crawldb_stats(pages, str(path), by_host=options["sort"]), None)
    if mode == "top_n":
        least = options["min_score"] or 0.0
        return _print(crawldb_top(pages, options["top_n"], least), None)
    forms = {"table": crawldb_text, "csv": crawldb_csv, "jsonl": crawldb_json}
    form = options["form"]
    if form not in forms:
        message = f"--format {form} is not there for a crawldb of Nutch: import it first."
        raise click.UsageError(message)
    return _print(forms[form](pages), options["output"])


def read_nutch_linkdb(source: Source, path: Path, url: str | None, options: dict[str, Any]) -> int:
    """Answer `readlinkdb` of a linkdb of Nutch."""
    from filbert.nutch.v1.links import Inlinks
    from filbert.nutch.v1.texts import linkdb_text, pages_of

    folder = _there(source.linkdb, "linkdb", path)
    _refuse(options, forms=("table",))
    pages = pages_of(folder, Inlinks)
    if url:
        found = ((one, links) for one, links in pages if one == url)
        return _print(linkdb_text(found), None, f"{url}: no link information")
    return _print(linkdb_text(pages), options["output"])


def read_nutch_segments(
    source: Source, path: Path, segment: str | None, options: dict[str, Any]
) -> int:
    """Answer `readseg` of segments of Nutch."""
    from filbert.nutch.v1.text_segments import segments_list
    from filbert.nutch.v1.texts import segment_text

    segments = [one for one in source.segments if segment in (None, one.name)]
    if not segments:
        message = f"{path} has no segment{f' {segment}' if segment else 's'}"
        raise click.UsageError(message)
    _refuse(options, forms=("table",))
    url = options["url"]
    if not url and not options["dump"]:
        return _print(segments_list(segments), None)
    texts = (text for one in segments for text in segment_text(one))
    if url:
        texts = (text for text in texts if f"\nURL:: {url}\n" in text)
        return _print(texts, None, f"{url}: in no segment")
    return _print(texts, options["output"])


def _there(folder: Path | None, what: str, path: Path) -> Path:
    if folder is None:
        message = f"{path} has no {what}"
        raise click.UsageError(message)
    return folder


def _refuse(options: dict[str, Any], forms: tuple[str, ...] = ()) -> None:
    """Refuse options that a reader of Nutch's own files has not."""
    given = [name for name in _OURS_ALONE if options.get(name) not in (None, "", False)]
    if given:
        message = f"--{given[0]} is not there for a folder of Nutch: import it first."
        raise click.UsageError(message)
    if forms and options["form"] not in forms:
        message = (
            f"--format {options['form']} is not there: see `filbert nutch dump --format jsonl`."
        )
        raise click.UsageError(message)


def _print(texts: Iterable[str], output: Path | None, missing: str = "") -> int:
    """Print texts; if there are none, say what is missing, and return 1."""
    count = 0
    with contextlib.ExitStack() as stack:
        if output is not None:
            file = stack.enter_context(output.open("w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(file))
        for text in texts:
            sys.stdout.write(text.encode("utf-8", "replace").decode())
            count += 1
    if missing and not count:
        click.echo(missing, err=True)
        return 1
    return 0
