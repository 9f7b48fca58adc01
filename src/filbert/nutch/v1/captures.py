"""Fetches and contents of Nutch 1.x as captures of ours, and back.

Guarantee: a content comes back as it was: what no header of a reply can say (base, media type, all
of its metadata with their order of values) stands as JSON in one header of the stored reply,
`X-Nutch-Content`; its other headers are those that the server sent.
Source: Nutch 1.22 `fetcher.FetcherThread.output`, `protocol.Content`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from filbert.model.records import CrawlDatum as Datum
from filbert.model.records import FetchRecord, ProtocolOutput
from filbert.model.statuses import FetchStatus
from filbert.model.statuses import ProtocolStatus as Code
from filbert.nutch import simple
from filbert.nutch.simple import Text
from filbert.nutch.v1.content import Content
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.v1.rows import (
    PROTOCOL_CODE,
    PROTOCOL_STATUS,
    RESPONSE_TIME,
    datum_columns,
    place,
)
from filbert.nutch.v1.statuses import ProtocolStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from filbert.nutch.v1.crawl_datum import CrawlDatum

__all__ = ["content_of", "fetch_record", "fetched_extra", "protocol_output"]

_OURS: Final = "X-Nutch-Content"
_CODES = {
    FetchStatus.FETCH_SUCCESS: Code.SUCCESS,
    FetchStatus.FETCH_RETRY: Code.RETRY,
    FetchStatus.FETCH_REDIR_TEMP: Code.TEMP_MOVED,
    FetchStatus.FETCH_REDIR_PERM: Code.MOVED,
    FetchStatus.FETCH_GONE: Code.GONE,
    FetchStatus.FETCH_NOTMODIFIED: Code.NOTMODIFIED,
    FetchStatus.PARSE_FAILED: Code.SUCCESS,
}
_MOVED = frozenset({Code.MOVED, Code.TEMP_MOVED})
_FAILED = frozenset({FetchStatus.FETCH_RETRY, FetchStatus.FETCH_GONE})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PHRASES = {200: "OK", 304: "Not Modified"}


def fetch_record(url: str, datum: CrawlDatum, position: int) -> FetchRecord:
    """Return the row of crawl_fetch of a datum.

    Args:
        url: Its URL.
        datum: One with the status of a fetch.
        position: Its place among the captures.
    """
    status = FetchStatus(datum.status)
    said = datum.metadata.get(PROTOCOL_STATUS)
    code, message = _CODES[status], None
    if isinstance(said, ProtocolStatus):
        message = said.message
        code = Code(said.code) if said.code in set(Code) else code
    took = datum.metadata.get(RESPONSE_TIME)
    columns = datum_columns(datum)
    columns["metadata"] = columns["metadata"] or {}
    is_move = code in _MOVED and message is not None
    return FetchRecord(
        **place(url),
        hop=0,
        part=0,
        position=position,
        status=status,
        fetch_time=datum.fetch_time,
        datum=Datum(**columns),
        protocol_code=code,
        protocol_message=message or "",
        http_status=_http_status(datum),
        reason=code.label if status in _FAILED else None,
        redirect_url=message if is_move else None,
        response_ms=took.value if isinstance(took, simple.IntWritable) else None,
    )


def _http_status(datum: CrawlDatum) -> int | None:
    value = datum.metadata.get(PROTOCOL_CODE)
    if isinstance(value, Text) and value.value.isascii() and value.value.isdigit():
        return int(value.value)
    return None


def protocol_output(content: Content, record: FetchRecord) -> ProtocolOutput:
    """Return a content as the reply that it came from."""
    status = record.http_status or 200
    exact = {
        "base": content.base,
        "contentType": content.content_type,
        "metadata": {
            name: list(content.metadata.values[name]) for name in content.metadata.names()
        },
    }
    lines = [f"HTTP/1.1 {status} {_PHRASES.get(status, '')}".rstrip()]
    lines += [
        f"{name}: {value}"
        for name, value in content.metadata.pairs()
        if _TOKEN.fullmatch(name) and value.isascii() and value.isprintable()
    ]
    lines.append(f"{_OURS}: {json.dumps(exact)}")
    return ProtocolOutput(
        status=Code.SUCCESS,
        http_status=status,
        response_head=("\r\n".join(lines) + "\r\n\r\n").encode("ascii"),
        raw_body=content.content,
        body=content.content,
        content_type=content.content_type or None,
    )


def content_of(
    url: str,
    headers: Mapping[str, Sequence[str]],
    body: bytes,
    content_type: str,
    notes: Mapping[str, tuple[str, ...]],
) -> Content:
    """Return the content of a capture.

    Args:
        url: The page's key.
        headers: Those of the stored reply, names in lower case.
        body: The decoded body.
        content_type: What it was found to be.
        notes: Metadata that Nutch's fetcher would add.
    """
    for text in headers.get(_OURS.lower(), ()):
        exact: dict[str, Any] = json.loads(text)
        lists = {name: tuple(values) for name, values in exact["metadata"].items()}
        return Content(url, exact["base"], body, exact["contentType"], Metadata.of(lists))
    named = {_capitalised(name): tuple(values) for name, values in headers.items()}
    return Content(url, url, body, content_type, Metadata.of({**named, **notes}))


def _capitalised(name: str) -> str:
    """Return a header's name as servers mostly write it."""
    return "-".join(word[:1].upper() + word[1:] for word in name.split("-"))


def fetched_extra(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that Nutch's fetcher gives a datum, of a row of crawl_fetch."""
    message = row["redirect_url"] or row["protocol_message"]
    extra: dict[str, Any] = {
        PROTOCOL_STATUS: ProtocolStatus(row["protocol_code"], 0, (message,) if message else None)
    }
    if row["http_status"] is not None:
        extra[PROTOCOL_CODE] = str(row["http_status"])
    if row["response_ms"] is not None:
        extra[RESPONSE_TIME] = simple.IntWritable(row["response_ms"])
    return extra
