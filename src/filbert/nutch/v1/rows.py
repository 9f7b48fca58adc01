"""Nutch's records as rows of our tables, and back.

Guarantee: lossless both ways. Metadata that a column of ours stands for moves there, if it is of
the class that Nutch gives it; all other stays metadata, with its class.
Source: Nutch 1.22 `metadata.Nutch`, `crawl.CrawlDatum`, `scoring.depth`, `scoring.orphan`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from filbert.nutch import simple
from filbert.nutch.simple import Text
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.map_writable import MapWritable
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.v1.parsed import ParseData
from filbert.nutch.v1.statuses import ParseStatus
from filbert.nutch.v1.values import map_of, texts_of
from filbert.rules.urls import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from filbert.nutch.v1.links import Outlink
    from filbert.nutch.writable import Writable

__all__ = [
    "GENERATE_TIME",
    "OUTLINK_METADATA",
    "PROTOCOL_CODE",
    "PROTOCOL_STATUS",
    "RESPONSE_TIME",
    "datum_columns",
    "datum_of",
    "outlink_columns",
    "outlink_metadata",
    "page_columns",
    "page_datum",
    "parse_columns",
    "parse_data_of",
    "place",
    "sayable",
]

GENERATE_TIME: Final = "_ngt_"
PROTOCOL_STATUS: Final = "_pst_"
RESPONSE_TIME: Final = "_rs_"
PROTOCOL_CODE: Final = "nutch.protocol.code"
OUTLINK_METADATA: Final = "outlink:"
"""Metadata of a link itself, beside those of what it leads to."""

_ORPHAN: Final = "_orphan_"  # seconds

_COLUMNS: dict[str, tuple[str, type[Writable]]] = {
    "fixedInterval": ("fixed_interval", simple.FloatWritable),
    "_depth_": ("depth", simple.IntWritable),
    "_maxdepth_": ("max_depth", simple.IntWritable),
    _ORPHAN: ("orphan_time", simple.IntWritable),
    "Content-Type": ("content_type", Text),
    "_repr_": ("repr_url", Text),
}
"""Metadata that have a column of their own, and the class that they must have for it."""


def sayable(url: str) -> str:
    """Return a URL as a column can have it: bytes of a key that were no UTF-8 are `?`."""
    return url.encode("utf-8", "replace").decode()


def place(url: str) -> dict[str, Any]:
    """Return the columns that say where a URL lies."""
    host, domain = place_of(url)
    return {"url": url, "host": host, "domain": domain}


def datum_columns(datum: CrawlDatum) -> dict[str, Any]:
    """Return the columns of a datum that travels, and `generate_time` if it has one."""
    row: dict[str, Any] = {}
    rest = datum.metadata
    for name, (column, cls) in _COLUMNS.items():
        value = rest.get(name)
        if type(value) is cls and _is_plain(value):
            row[column] = value.value  # type: ignore[attr-defined]  # each of them has one
            rest = rest.without(name)
    if "orphan_time" in row:
        row["orphan_time"] *= 1000
    metadata, types = texts_of(rest)
    return row | {
        "modified_time": datum.modified_time or None,
        "retries": datum.retries,
        "fetch_interval": datum.fetch_interval,
        "score": datum.score,
        "signature": datum.signature,
        "metadata": metadata or None,
        "metadata_types": types or None,
    }


def page_columns(datum: CrawlDatum) -> dict[str, Any]:
    """Return the columns of a row of a crawldb or of a fetch list, but its place."""
    generated = datum.metadata.get(GENERATE_TIME)
    if isinstance(generated, simple.LongWritable):
        row = datum_columns(_without(datum, GENERATE_TIME))
        row["generate_time"] = generated.value
    else:
        row = datum_columns(datum)
    return row | {"status": datum.status, "fetch_time": datum.fetch_time}


def page_datum(row: Mapping[str, Any]) -> CrawlDatum:
    """Return the datum of a row of a crawldb or of a fetch list."""
    extra: dict[str, Writable] = {}
    if row.get("generate_time") is not None:
        extra[GENERATE_TIME] = simple.LongWritable(row["generate_time"])
    return datum_of(row, row["status"], row["fetch_time"], extra)


def datum_of(
    row: Mapping[str, Any],
    status: int,
    fetch_time: int,
    extra: Mapping[str, Writable | str] | None = None,
) -> CrawlDatum:
    """Return the datum of a row.

    Args:
        row: Columns of a datum that travels.
        status: The record's status.
        fetch_time: Its time, epoch ms.
        extra: Metadata besides; what the row says itself goes before.
    """
    texts = row.get("metadata") or {}
    own = {name: text for name, text in texts.items() if not name.startswith(OUTLINK_METADATA)}
    told = map_of(own, row.get("metadata_types"))
    # Java keeps names of one bucket in the order they came: what a fetch puts comes last.
    values: dict[str, Writable | str] = {}
    for name, (column, cls) in _COLUMNS.items():
        value = row.get(column)
        if value is not None:
            number = value // 1000 if name == _ORPHAN else value
            values[name] = cls(number)  # type: ignore[call-arg]  # each of them has one field
    more = MapWritable.of({**(extra or {}), **values})
    metadata = told
    if more.entries:
        metadata = MapWritable({**told.entries, **more.entries, **told.entries}, told.classes)
    return CrawlDatum(
        status=status,
        fetch_time=fetch_time,
        retries=_byte(row["retries"]),
        fetch_interval=row["fetch_interval"],
        score=row["score"],
        modified_time=row.get("modified_time") or 0,
        signature=row.get("signature"),
        metadata=metadata,
    )


def outlink_metadata(row: Mapping[str, Any]) -> MapWritable:
    """Return the metadata of a link itself, of a row of crawl_parse."""
    texts: dict[str, str] = {}
    types: dict[str, str] = {}
    for name, text in (row.get("metadata") or {}).items():
        if name.startswith(OUTLINK_METADATA):
            cls, _, plain = name.removeprefix(OUTLINK_METADATA).partition(":")
            texts[plain] = text
            if cls:
                types[plain] = cls
    return map_of(texts, types)


def outlink_columns(metadata: MapWritable) -> dict[str, str] | None:
    """Return the metadata of a link itself as metadata of its row of crawl_parse."""
    texts, types = texts_of(metadata)
    return {
        f"{OUTLINK_METADATA}{types.get(name, '')}:{name}": text for name, text in texts.items()
    } or None


def _byte(number: int) -> int:
    """Return the low 8 bits, signed: what Java's cast makes of a count beyond 127."""
    return (number + 128) % 256 - 128


def _without(datum: CrawlDatum, name: str) -> CrawlDatum:
    return CrawlDatum(
        datum.status,
        datum.fetch_time,
        datum.retries,
        datum.fetch_interval,
        datum.score,
        datum.modified_time,
        datum.signature,
        datum.metadata.without(name),
    )


def _is_plain(value: Writable) -> bool:
    return not isinstance(value, Text) or value.value.isprintable() or value.value.isascii()


# ---------------------------------------------------------------------- parses


def parse_columns(url: str, parse: ParseData, signature: bytes | None) -> dict[str, Any]:
    """Return the row of parse_data; its links are rows of crawl_parse."""
    return {
        "url": url,
        "major": parse.status.major,
        "minor": parse.status.minor,
        "parse_message": _message(parse.status.args),
        "title": parse.title,
        "robots_noindex": False,
        "robots_nofollow": False,
        "robots_noarchive": False,
        "canonical": True,
        "signature": signature,
        "outlinks_found": len(parse.outlinks),
        "outlinks_kept": len(parse.outlinks),
        "content_metadata": _lists(parse.content_metadata),
        "parse_metadata": _lists(parse.parse_metadata),
    }


def parse_data_of(row: Mapping[str, Any], links: Iterable[Outlink]) -> ParseData:
    """Return the record of a row of parse_data and its links, in order."""
    return ParseData(
        status=ParseStatus(row["major"], row["minor"], _args(row["parse_message"])),
        title=row["title"] or "",
        outlinks=tuple(links),
        content_metadata=_metadata(row["content_metadata"]),
        parse_metadata=_metadata(row["parse_metadata"]),
    )


def _lists(metadata: Metadata) -> dict[str, list[str]] | None:
    return {name: list(values) for name, values in metadata.values.items()} or None


def _metadata(lists: Mapping[str, list[str]] | None) -> Metadata:
    return Metadata.of({name: tuple(values) for name, values in (lists or {}).items()})


def _message(args: tuple[str | None, ...] | None) -> str | None:
    """Return the arguments of a status as one text: mostly there is one."""
    if args is None:
        return None
    if len(args) == 1 and args[0] is not None and not args[0].startswith("["):
        return args[0]
    return json.dumps(args, ensure_ascii=False)


def _args(message: str | None) -> tuple[str | None, ...] | None:
    if message is None:
        return None
    if message.startswith("["):
        try:
            found = json.loads(message)
        except ValueError:
            found = None
        if isinstance(found, list) and all(one is None or isinstance(one, str) for one in found):
            return tuple(found)
    return (message,)
