"""WARC files made by another program's writer (warcio), for tests of replays.

Guarantee: the bytes are warcio's own; nothing of ours has a hand in them.
Source: warcio's `WARCWriter`.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Archived", "write_archive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """One record to be written.

    Attributes:
        url: WARC-Target-URI.
        body: Its payload.
        status: Status line behind the protocol; blank: a resource record.
        headers: Of the reply.
        date: WARC-Date.
        kind: Of record.
        fields: Further WARC headers.
    """

    url: str
    body: bytes = b"<p>hello"
    status: str = "200 OK"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html"),)
    date: str = "2024-01-01T00:00:00Z"
    kind: str = "response"
    fields: tuple[tuple[str, str], ...] = ()


def write_archive(
    path: Path, records: list[Archived], *, version: str = "1.1", gzip: bool = True
) -> Path:
    """Write a file with a warcinfo record and these; return its path."""
    with path.open("wb") as file:
        writer: Any = WARCWriter(file, gzip=gzip, warc_version=version)
        info = writer.create_warcinfo_record(path.name, {"software": "another"})
        writer.write_record(info)
        for one in records:
            http = None
            if one.status:
                http = StatusAndHeaders(one.status, list(one.headers), protocol="HTTP/1.1")
            record = writer.create_warc_record(
                one.url,
                one.kind,
                payload=BytesIO(one.body),
                length=len(one.body),
                http_headers=http,
                warc_headers_dict={"WARC-Date": one.date, **dict(one.fields)},
            )
            writer.write_record(record)
    return path
