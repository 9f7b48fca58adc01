"""`readdb`, `readlinkdb` and `readseg` of a folder of Nutch's: they print what Nutch prints.

Guarantee: the folder is not changed; what Nutch's reader has no form for is wrong use, and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from filbert.cli.texts import print_texts

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.nutch.sources import Source
    from filbert.nutch.v07.sources import OldSource
    from filbert.nutch.v1.crawl_datum import CrawlDatum
    from filbert.nutch.v1.links import Inlinks

__all__ = ["nutch_source", "read_nutch_crawldb", "read_nutch_linkdb", "read_nutch_segments"]

_OURS_ALONE = ("regex", "status", "retry", "expr", "sample")


def nutch_source(path: Path) -> Source | OldSource | None:
    """Return what a folder has of Nutch; None: nothing, or it is a crawl folder of ours."""
    from filbert.errors import UserError
    from filbert.nutch.sources import Source
    from filbert.nutch.v07.sources import OldSource
    from filbert.store.crawl import CrawlFolder

    if not path.is_dir() or CrawlFolder.exists(path):
        return None
    if (old := OldSource.find(path)) is not None:
        return old
    try:
        return Source.find(path)
    except UserError:
        return None


def read_nutch_crawldb(
    source: Source | OldSource, path: Path, mode: str, options: dict[str, Any]
) -> int:
    """Answer `readdb` of a crawldb of Nutch, or of a web database."""
    from filbert.nutch.sources import Source
    from filbert.nutch.v1.crawl_datum import CrawlDatum
    from filbert.nutch.v1.text_stats import crawldb_stats, crawldb_top
    from filbert.nutch.v1.texts import crawldb_csv, crawldb_json, crawldb_text, pages_of

    if not isinstance(source, Source):
        from filbert.cli.nutch_old_readers import read_old_webdb

        _refuse(options, forms=("table",) if mode == "dump" else ())
        return read_old_webdb(source, path, mode, options)
    folder = _there(source.crawldb, "crawldb", path)
    _refuse(options)
    pages = pages_of(folder, CrawlDatum)
    if mode == "url":
        url = options["url"]
        found = _of_url(folder, url)
        said = crawldb_text((url, cast("CrawlDatum", one)) for one in found)
        return print_texts(said, None, f"{url}: not found in the crawldb")
    if mode == "stats":
        return print_texts(crawldb_stats(pages, str(path), by_host=options["sort"]), None)
    if mode == "top_n":
        least = options["min_score"] or 0.0
        return print_texts(crawldb_top(pages, options["top_n"], least), None)
    forms = {"table": crawldb_text, "csv": crawldb_csv, "jsonl": crawldb_json}
    form = options["form"]
    if form not in forms:
        message = f"--format {form} is not there for a crawldb of Nutch: import it first."
        raise click.UsageError(message)
    return print_texts(forms[form](pages), options["output"])


def read_nutch_linkdb(
    source: Source | OldSource, path: Path, url: str | None, options: dict[str, Any]
) -> int:
    """Answer `readlinkdb` of a linkdb of Nutch, or of a web database."""
    from filbert.nutch.sources import Source
    from filbert.nutch.v1.links import Inlinks
    from filbert.nutch.v1.texts import linkdb_text, pages_of

    _refuse(options, forms=("table",))
    if not isinstance(source, Source):
        from filbert.cli.nutch_old_readers import read_old_links

        return read_old_links(source, path, url, options)
    folder = _there(source.linkdb, "linkdb", path)
    if url:
        said = linkdb_text((url, cast("Inlinks", one)) for one in _of_url(folder, url))
        return print_texts(said, None, f"{url}: no link information")
    return print_texts(linkdb_text(pages_of(folder, Inlinks)), options["output"])


def read_nutch_segments(
    source: Source | OldSource, path: Path, segment: str | None, options: dict[str, Any]
) -> int:
    """Answer `readseg` of segments of Nutch."""
    from filbert.nutch.sources import Source
    from filbert.nutch.v1.text_segments import segments_list
    from filbert.nutch.v1.texts import segment_text

    if not isinstance(source, Source):
        from filbert.cli.nutch_old_readers import read_old_segments

        _refuse(options, forms=("table",))
        return read_old_segments(source, path, segment, options)
    segments = [one for one in source.segments if segment in (None, one.name)]
    if not segments:
        message = f"{path} has no segment{f' {segment}' if segment else 's'}"
        raise click.UsageError(message)
    _refuse(options, forms=("table",))
    url = options["url"]
    if not url and not options["dump"]:
        return print_texts(segments_list(segments), None)
    texts = (text for one in segments for text in segment_text(one))
    if url:
        texts = (text for text in texts if f"\nURL:: {url}\n" in text)
        return print_texts(texts, None, f"{url}: in no segment")
    return print_texts(texts, options["output"])


def _of_url(folder: Path, url: str) -> list[object]:
    """Return the record of a URL, found by the index where there is one."""
    from filbert.nutch.map_file import DATA
    from filbert.nutch.v1.folders import RecordFolder

    with RecordFolder(folder) as parts:
        if all(file.name == DATA for file in parts.files):
            found = parts.get(url)
            return [] if found is None else [found]
        return list(parts.all_of(url))


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
