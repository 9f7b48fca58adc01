"""Records of old as values of JSON, under the names of Java's fields.

Guarantee: nothing of a record is left out; bytes are hexadecimal.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

from filbert.nutch import simple
from filbert.nutch.v07.fetched import Content, FetcherOutput, FetcherOutput06
from filbert.nutch.v07.link import Link, LinkAnalysisEntry
from filbert.nutch.v07.page import FetchListEntry, Page
from filbert.nutch.v07.parsed import Outlink, ParseData, ParseData06, ParseText
from filbert.nutch.v07.status import ParseStatus, ProtocolStatus
from filbert.nutch.v1.java_text import float_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["jsonable"]


@singledispatch
def jsonable(record: object) -> object:
    """Return a record as a value of JSON.

    Raises:
        TypeError: It is none of these records.
    """
    raise TypeError(f"no record of the old Nutch: {type(record).__name__}")


@jsonable.register
def _(record: simple.UTF8) -> object:
    return record.value


@jsonable.register
def _(record: simple.LongWritable) -> object:
    return record.value


@jsonable.register
def _(record: simple.MD5Hash) -> object:
    return str(record)


@jsonable.register
def _(_record: simple.NullWritable) -> object:
    return None


@jsonable.register
def _(record: Page) -> object:
    return {
        "url": record.url,
        "md5": str(record.md5),
        "nextFetch": record.next_fetch,
        "retries": record.retries,
        "fetchInterval": record.fetch_interval,
        "numOutlinks": record.num_outlinks,
        "score": float(float_text(record.score)),
        "nextScore": float(float_text(record.next_score)),
    }


@jsonable.register
def _(record: FetchListEntry) -> object:
    return {
        "fetch": record.fetch,
        "page": jsonable(record.page),
        "anchors": list(record.anchors),
    }


@jsonable.register
def _(record: FetcherOutput) -> object:
    return {
        "fetchListEntry": jsonable(record.entry),
        "md5Hash": str(record.md5),
        "protocolStatus": jsonable(record.status),
        "fetchDate": record.fetch_date,
    }


@jsonable.register
def _(record: FetcherOutput06) -> object:
    return {
        "fetchListEntry": jsonable(record.entry),
        "md5Hash": str(record.md5),
        "status": record.status,
        "fetchDate": record.fetch_date,
    }


@jsonable.register
def _(record: Content) -> object:
    content = record.content
    return {
        "url": record.url,
        "base": record.base,
        "contentType": record.content_type,
        "metadata": dict(record.metadata),
        "contentLength": None if content is None else len(content),
        "content_hex": None if content is None else content.hex(),
    }


@jsonable.register
def _(record: ParseText) -> object:
    return {"text": record.text}


@jsonable.register
def _(record: Outlink) -> object:
    return {"toUrl": record.to_url, "anchor": record.anchor}


@jsonable.register
def _(record: ParseData06) -> object:
    return {
        "title": record.title,
        "outlinks": [jsonable(link) for link in record.outlinks],
        "metadata": dict(record.metadata),
    }


@jsonable.register
def _(record: ParseData) -> object:
    return {
        "status": jsonable(record.status),
        "title": record.title,
        "outlinks": [jsonable(link) for link in record.outlinks],
        "metadata": dict(record.metadata),
    }


@jsonable.register
def _(record: ProtocolStatus) -> object:
    return {
        "code": record.code,
        "lastModified": record.last_modified,
        "args": _listed(record.args),
        "text": str(record),
    }


@jsonable.register
def _(record: ParseStatus) -> object:
    return {
        "majorCode": record.major,
        "minorCode": record.minor,
        "args": _listed(record.args),
        "text": str(record),
    }


@jsonable.register
def _(record: Link) -> object:
    return {
        "fromID": str(record.from_id),
        "url": record.url,
        "domainID": record.domain_id,
        "anchor": record.anchor,
        "targetHasOutlink": record.target_has_outlink,
    }


@jsonable.register
def _(record: LinkAnalysisEntry) -> object:
    return {"score": float(float_text(record.score))}


def _listed(args: Sequence[str | None] | None) -> list[str | None] | None:
    return None if args is None else list(args)
