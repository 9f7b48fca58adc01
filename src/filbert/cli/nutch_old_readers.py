"""`readdb`, `readlinkdb` and `readseg` of what Nutch 0.6 and 0.7 left: they print what those print.

Guarantee: the folder is not changed; what the old readers have no form for is wrong use, and says
so.
Source: Nutch 0.7 `db.WebDBReader.main`, `segment.SegmentReader.main`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from filbert.cli.texts import print_texts

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.nutch.v07.sources import OldSource

__all__ = ["read_old_links", "read_old_segments", "read_old_webdb"]


def read_old_webdb(source: OldSource, path: Path, mode: str, options: dict[str, Any]) -> int:
    """Answer `readdb` of a web database: `-stats`, `-pageurl`, `-toppages`, `-dumppageurl`."""
    from filbert.nutch.v07 import text
    from filbert.nutch.v07.webdb import WebDB

    with WebDB(_there(source.webdb, path)) as db:
        if mode == "stats":
            return print_texts(text.stats(db), None)
        if mode == "url":
            page = db.page(options["url"])
            said = () if page is None else (f"{page}\n",)
            return print_texts(said, None, f"{options['url']}: not found in the web database")
        if mode == "top_n":
            return print_texts(text.top_pages(db.pages(), options["top_n"]), None)
        return print_texts(text.all_pages(db.pages()), options["output"])


def read_old_links(source: OldSource, path: Path, url: str | None, options: dict[str, Any]) -> int:
    """Answer `readlinkdb` of a web database: `-linkurl`, `-dumplinks`."""
    from filbert.nutch.v07 import text
    from filbert.nutch.v07.webdb import WebDB

    with WebDB(_there(source.webdb, path)) as db:
        if url:
            links = list(db.links_to(url))
            said = text.found(links, "link") if links else ()
            return print_texts(said, None, f"{url}: no link information")
        return print_texts(text.all_links(db), options["output"])


def read_old_segments(
    source: OldSource, path: Path, segment: str | None, options: dict[str, Any]
) -> int:
    """Answer `readseg` of segments: `segread -list`, `-dump`."""
    from filbert.nutch.v07 import text
    from filbert.nutch.v07.segment import OldSegment

    folders = [one for one in source.segments if segment in (None, one.name)]
    if not folders:
        message = f"{path} has no segment{f' {segment}' if segment else 's'}"
        raise click.UsageError(message)
    segments = [OldSegment(folder) for folder in folders]
    url = options["url"]
    if not url and not options["dump"]:
        return print_texts(text.segment_list(segments), None)
    said = (piece for one in segments for piece in text.segment_records(one))
    if url:
        said = (piece for piece in said if f"\nURL: {url}\n" in piece)
        return print_texts(said, None, f"{url}: in no segment")
    return print_texts(said, options["output"])


def _there(webdb: Path | None, path: Path) -> Path:
    if webdb is None:
        message = f"{path} has no web database"
        raise click.UsageError(message)
    return webdb
