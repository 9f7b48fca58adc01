"""Any path of any Nutch as the text that Nutch itself prints of it.

Guarantee: a crawldb, a linkdb and a segment of Nutch 1.x as `readdb -dump`, `readlinkdb -dump` and
`readseg -dump` print them, a web database and a segment of 0.6 and 0.7 as `readdb -dumppageurl`,
`-dumplinks` and `segread -dump`; all else record by record, key and value.
Source: Nutch 1.22 `CrawlDbReader`, `LinkDbReader`, `SegmentReader`; 0.7 `WebDBReader`,
`SegmentReader`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.nutch.dump import dump
from filbert.nutch.sources import Source
from filbert.nutch.v07 import text as old_text
from filbert.nutch.v07.segment import OldSegment
from filbert.nutch.v07.sources import OldSource
from filbert.nutch.v07.webdb import WebDB
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.links import Inlinks
from filbert.nutch.v1.texts import crawldb_text, linkdb_text, pages_of, segment_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.nutch.damage import Damage

__all__ = ["printed"]


def printed(path: Path, *, damage: Damage | None = None) -> Iterator[str]:
    """Yield the text of a path, piece by piece.

    Args:
        path: A file, or a folder.
        damage: Takes what is left out; None: damage is an error.

    Raises:
        UserError: There is nothing of Nutch's.
        CorruptDataError: A file is damaged.
    """
    old = OldSource.find(path)
    if old is not None:
        yield from _printed_old(old, damage)
        return
    source = _database(path)
    if source is None:
        for record in dump(path, damage=damage):
            key = record.key if isinstance(record.key, str) else json.dumps(record.key)
            yield f"{key}\t{record.text}\n"
        return
    if source.crawldb is not None:
        pages = pages_of(source.crawldb, CrawlDatum, damage=damage)
        yield from crawldb_text(pages)
    if source.linkdb is not None:
        links = pages_of(source.linkdb, Inlinks, damage=damage)
        yield from linkdb_text(links)
    for segment in source.segments:
        yield from segment_text(segment, damage=damage)


def _printed_old(source: OldSource, damage: Damage | None) -> Iterator[str]:
    if source.webdb is not None:
        with WebDB(source.webdb, damage=damage) as db:
            yield from old_text.all_pages(db.pages())
            yield from old_text.all_links(db)
    for folder in source.segments:
        segment = OldSegment(folder, damage=damage)
        if segment.is_fetched:
            yield from old_text.segment_records(segment)
        else:
            yield from (f"Recno:: {n}\n{line}\n" for n, line in enumerate(segment.fetch_list()))


def _database(path: Path) -> Source | None:
    """Return what Nutch 1.x has at a path; None: a file, a part of a segment, or of old."""
    if not path.is_dir():
        return None
    try:
        source = Source.find(path)
    except UserError:
        return None
    return source
