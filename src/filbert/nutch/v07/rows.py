"""Records of Nutch 0.6 and 0.7 as rows of our tables, and back.

Guarantee: what has no column of ours is kept as metadata (`nutch07.…`), with a class, so that a
page comes back as it was. A time beyond the year 9999 cannot be a time of ours: a page that is
never to be fetched is one that is gone.
Source: Nutch 0.7 `db.Page`, `tools.UpdateDatabaseTool` (what becomes of a fetch).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from filbert.model.statuses import FetchStatus, PageStatus
from filbert.nutch.simple import MD5Hash
from filbert.nutch.v07.page import NEVER, FetchListEntry, Page
from filbert.nutch.v07.parsed import Outlink, ParseData, ParseText
from filbert.nutch.v07.status import ParseStatus
from filbert.nutch.v1.content import Content as NewContent
from filbert.nutch.v1.metadata import Metadata
from filbert.rules.urls import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from filbert.nutch.v07.fetched import Content
    from filbert.nutch.v07.status import ProtocolStatus

__all__ = [
    "LISTED",
    "NUM_OUTLINKS",
    "content_as_new",
    "entry_columns",
    "entry_of",
    "fetch_status_of",
    "page_columns",
    "page_of",
    "parse_columns",
    "parsed_columns",
    "parsed_of",
]

_DAY_S, _DAY_MS = 86_400, 86_400_000
_LAST_MS = 253_402_300_799_000  # of the year 9999
_MOST_DAYS = 127  # of a signed byte
_HADOOP = "org.apache.hadoop.io."
NUM_OUTLINKS: Final = "nutch07.numOutlinks"
_NEXT_SCORE: Final = "nutch07.nextScore"
_NEXT_FETCH: Final = "nutch07.nextFetch"
_INTERVAL: Final = "nutch07.fetchInterval"
_FETCH: Final = "nutch07.fetch"
_ANCHORS: Final = "nutch07.anchors"
LISTED: Final = "nutch07.listed"
"""When a page that was fetched had been due by its fetch list, in ms."""

_PARSED: Final = "nutch07.parsed"

_TYPES = {
    NUM_OUTLINKS: _HADOOP + "IntWritable",
    _NEXT_SCORE: _HADOOP + "FloatWritable",
    _NEXT_FETCH: _HADOOP + "LongWritable",
    _INTERVAL: _HADOOP + "IntWritable",
    LISTED: _HADOOP + "LongWritable",
    _FETCH: _HADOOP + "BooleanWritable",
}
_GONE = frozenset({2, 11, 14, 17, 18})
_STATUSES = {
    1: FetchStatus.FETCH_SUCCESS,
    12: FetchStatus.FETCH_REDIR_PERM,
    13: FetchStatus.FETCH_REDIR_TEMP,
    20: FetchStatus.FETCH_NOTMODIFIED,  # not asked for: the old updatedb leaves it as it is
    21: FetchStatus.FETCH_NOTMODIFIED,
}


def page_columns(page: Page) -> dict[str, Any]:
    """Return the columns of a page in a crawldb or a fetch list, but bucket, seq and place."""
    host, domain = place_of(page.url)
    status = PageStatus.DB_FETCHED if page.was_fetched else PageStatus.DB_UNFETCHED
    metadata: dict[str, str] = {}
    if page.next_fetch == NEVER:
        status = PageStatus.DB_GONE
    elif page.next_fetch > _LAST_MS or page.next_fetch < 0:
        metadata[_NEXT_FETCH] = str(page.next_fetch)
    if page.num_outlinks:
        metadata[NUM_OUTLINKS] = str(page.num_outlinks)
    if page.next_score != page.score:
        metadata[_NEXT_SCORE] = repr(page.next_score)
    if page.fetch_interval < 1:
        metadata[_INTERVAL] = str(page.fetch_interval)
    return {
        "url": page.url,
        "host": host,
        "domain": domain,
        "status": int(status),
        "fetch_time": max(0, min(page.next_fetch, _LAST_MS)),
        "retries": page.retries,
        "fetch_interval": max(1, page.fetch_interval) * _DAY_S,
        "score": page.score,
        "signature": page.md5.value if page.was_fetched else None,
        **_noted(metadata),
    }


def page_of(row: Mapping[str, Any]) -> Page:
    """Return the page of a row of a crawldb or a fetch list."""
    noted = row.get("metadata") or {}
    signature = row.get("signature") or b""
    days = max(1, min(_MOST_DAYS, round(row["fetch_interval"] / _DAY_S)))
    due = NEVER if row["status"] == PageStatus.DB_GONE else row["fetch_time"]
    return Page(
        url=row["url"],
        md5=MD5Hash(signature) if len(signature) == 16 else MD5Hash.digest(row["url"]),
        next_fetch=int(noted.get(_NEXT_FETCH, due)),
        retries=min(row["retries"], _MOST_DAYS),
        fetch_interval=int(noted.get(_INTERVAL, days)),
        num_outlinks=int(noted.get(NUM_OUTLINKS, 0)),
        score=row["score"],
        next_score=float(noted.get(_NEXT_SCORE, row["score"])),
    )


def entry_columns(entry: FetchListEntry) -> dict[str, Any]:
    """Return the columns of a line of a fetch list, but bucket, seq and place."""
    row = page_columns(entry.page)
    metadata = dict(row["metadata"] or {})
    if not entry.fetch:
        metadata[_FETCH] = "false"
    if entry.anchors:
        metadata[_ANCHORS] = json.dumps(entry.anchors, ensure_ascii=False)
    return row | _noted(metadata)


def entry_of(row: Mapping[str, Any]) -> FetchListEntry:
    """Return the line of a row of a fetch list, or of a fetch that keeps its metadata."""
    noted = row.get("metadata") or {}
    page = page_of(row)
    return FetchListEntry(
        fetch=noted.get(_FETCH) != "false",
        page=replace(page, next_fetch=int(noted.get(LISTED, page.next_fetch))),
        anchors=tuple(json.loads(noted.get(_ANCHORS, "[]"))),
    )


def fetch_status_of(status: ProtocolStatus) -> FetchStatus:
    """Return what a fetch came to."""
    if status.code in _GONE:
        return FetchStatus.FETCH_GONE
    return _STATUSES.get(status.code, FetchStatus.FETCH_RETRY)


def parsed_columns(text: ParseText | None, data: ParseData | None) -> dict[str, str]:
    """Return what a parser noted of a page that has no parse here, as metadata of its fetch."""
    if data is None or (text, data) == (ParseText(), ParseData(status=data.status)):
        return {}
    told = {
        "text": text.text if text is not None else "",
        "title": data.title,
        "outlinks": [[link.to_url, link.anchor] for link in data.outlinks],
        "metadata": data.metadata,
        "status": [data.status.major, data.status.minor, data.status.args],
    }
    return {_PARSED: json.dumps(told, ensure_ascii=False)}


def parsed_of(row: Mapping[str, Any]) -> tuple[ParseText, ParseData] | None:
    """Return what `parsed_columns` kept with a fetch; None: nothing."""
    kept = (row.get("metadata") or {}).get(_PARSED)
    if kept is None:
        return None
    told = json.loads(kept)
    major, minor, args = told["status"]
    data = ParseData(
        title=told["title"],
        outlinks=tuple(Outlink(to_url=url, anchor=anchor) for url, anchor in told["outlinks"]),
        metadata=told["metadata"],
        status=ParseStatus(major=major, minor=minor, args=None if args is None else tuple(args)),
    )
    return ParseText(text=told["text"]), data


def content_as_new(content: Content) -> NewContent:
    """Return a content as Nutch 1.x would have it."""
    metadata = Metadata.of(dict(content.metadata))
    body = content.content or b""
    return NewContent(content.url, content.base, body, content.content_type, metadata)


def parse_columns(url: str, data: ParseData, md5: bytes) -> dict[str, Any]:
    """Return the row of parse_data; its links are rows of crawl_parse."""
    args = data.status.args
    return {
        "url": url,
        "major": data.status.major,
        "minor": data.status.minor,
        "parse_message": args[0] if args else None,
        "title": data.title,
        "robots_noindex": False,
        "robots_nofollow": False,
        "robots_noarchive": False,
        "canonical": True,
        "signature": md5,
        "outlinks_found": len(data.outlinks),
        "outlinks_kept": len(data.outlinks),
        "parse_metadata": {name: [value] for name, value in data.metadata.items()} or None,
    }


def _noted(metadata: dict[str, str]) -> dict[str, dict[str, str] | None]:
    types = {name: _TYPES[name] for name in metadata if name in _TYPES}
    return {"metadata": metadata or None, "metadata_types": types or None}
