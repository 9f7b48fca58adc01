"""WARC records: made from what a protocol plugin gave back, and read again at random.

Guarantees, so that `warcio check` passes and every archive tool reads the files:
- A record is WARC/1.1, whole in one gzip member or zstd frame, with block and payload digests; its
  WARC-Target-URI is a URL that parses.
- A reply's head stands in the record byte for byte, but for three headers that would lie about the
  stored body: Transfer-Encoding (the body is stored without chunks), Content-Encoding where the
  body is stored decoded, and Content-Length where it differs. Their lines are kept under an
  `X-Crawler-` name, as Common Crawl does.
- The body is stored as it came (gzip, deflate) when any reader can decode it; decoded otherwise.
A record is formed here in one go, since fastwarc's writer took a tenth of the whole fetch; the
tests read every form of record with fastwarc and warcio.
Source: WARC 1.1 (ISO 28500:2017); docs/decisions/0004.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import ada_url

from filbert.errors import DataError
from filbert.model.clock import iso
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.decoding import codings_of, decode
from filbert.plugins.protocols.heads import header_pairs, split_head, status_line
from filbert.store.warc_codec import decompress

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from filbert.model.records import ProtocolOutput
    from filbert.store.warc_codec import Codec, WarcOptions

__all__ = [
    "RENAMED",
    "RENDERED",
    "REPLAYED",
    "Asked",
    "Capture",
    "capture_members",
    "is_captured",
    "parse_capture",
    "read_capture",
    "target_uri",
    "warcinfo",
]

# What needs no URL parser to be sure of; anything else goes through one.
_SAFE_URL = re.compile(r"https?://[a-z0-9.-]+(:[0-9]+)?/[!-~]*|file:///[!-~]*", re.ASCII)
_UNSAFE = frozenset(b'<>"{}|\\^`')
RENAMED = b"X-Crawler-"
# A field of ours: WARC-Refers-To must not stand in a response (ISO 28500:2017, 5.12).
REPLAYED = "Filbert-Replayed-From"
RENDERED = "Filbert-Rendered-By"
_HEADER = re.compile(
    rb"(\n)[ \t]*(transfer-encoding|content-encoding|content-length)[ \t]*:([^\r\n]*)",
    re.IGNORECASE,
)
_LINE_END = re.compile(rb"\r?\n")
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_LETTERS = tuple(first + second for first in _BASE32 for second in _BASE32)
_SHIFTS = range(150, -1, -10)  # of the 160 bits of a SHA-1
# Deflate cannot expand further than this; a foreign record with another coding is cut there.
_MOST_RATIO = 1_032
_LEAST_ROOM = 1 << 20


def _form(
    kind: str,
    facts: Mapping[str, str],
    head: bytes,
    payload: bytes,
    *,
    identity: str = "",
    has_payload: bool = True,
) -> bytes:
    """Return one record; its block is `head` and `payload`."""
    payload_digest = hashlib.sha1(payload, usedforsecurity=False)
    block_digest = payload_digest
    if head:
        block_digest = hashlib.sha1(head, usedforsecurity=False)
        block_digest.update(payload)
    lines = [f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{identity or _identity()}>"]
    lines.extend(f"{name}: {value}" for name, value in facts.items())
    lines.append(f"WARC-Block-Digest: sha1:{_base32(block_digest.digest())}")
    if has_payload:
        lines.append(f"WARC-Payload-Digest: sha1:{_base32(payload_digest.digest())}")
    lines.append(f"Content-Length: {len(head) + len(payload)}\r\n\r\n")
    return b"".join(("\r\n".join(lines).encode(), head, payload, b"\r\n\r\n"))


def _identity() -> str:
    """Return a random UUID (RFC 9562, version 4)."""
    drawn = bytearray(os.urandom(16))
    drawn[6] = drawn[6] & 0x0F | 0x40
    drawn[8] = drawn[8] & 0x3F | 0x80
    text = drawn.hex()
    return f"uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _base32(digest: bytes) -> str:
    """Return a SHA-1 in base 32 (RFC 4648), two letters at a time: the library's way is slow."""
    number = int.from_bytes(digest, "big")
    return "".join([_LETTERS[number >> shift & 0x3FF] for shift in _SHIFTS])


def warcinfo(file_name: str, date_ms: int, fields: Mapping[str, str]) -> bytes:
    """Return the record that a WARC file begins with, not compressed."""
    block = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
    facts = {
        "WARC-Date": iso(date_ms),
        "WARC-Filename": file_name,
        "Content-Type": "application/warc-fields",
    }
    return _form("warcinfo", facts, b"", block, has_payload=False)


def is_captured(output: ProtocolOutput) -> bool:
    """Tell whether there is anything to keep: a reply, or a document of another protocol."""
    if output.response_head or output.raw_body:
        return True
    return output.status is ProtocolStatus.SUCCESS


class Asked(Protocol):
    """What a record must know of a request; a `FetchRecord` does."""

    @property
    def url(self) -> str:
        """The URL's key."""
        ...

    @property
    def raw_url(self) -> bytes | None:
        """The bytes that were asked for, where they differ."""
        ...

    @property
    def fetch_time(self) -> int:
        """When it ended, epoch ms."""
        ...


def capture_members(
    record: Asked, output: ProtocolOutput, codec: Codec, options: WarcOptions
) -> tuple[bytes, int]:
    """Return what to append to a WARC file, and where in it the capture's own record begins.

    A request record, if asked for, goes before the response, and what the server sent before what
    a browser made of it, so that the end of the capture is the end of what was appended.
    """
    uri = target_uri(record)
    date = iso(_captured_at(record, output))
    if not uri.startswith(("http://", "https://")):
        return codec.compress(_resource(uri, date, output)), 0
    identity = _identity()
    sent = output.unrendered or output
    pack = codec.compress if sent.raw_body == sent.body else codec.keep
    before, response = b"", pack(_response(uri, date, sent, identity))
    if options.requests and output.request_head:
        before = codec.compress(_request(uri, date, output, identity))
    if output.unrendered is not None:
        before += response
        response = codec.compress(_conversion(uri, date, output, identity))
    return before + response, len(before)


def _captured_at(record: Asked, output: ProtocolOutput) -> int:
    """Return when the server said it: the date of a capture that is taken over from an archive."""
    if output.archived is not None and output.archived.date_ms is not None:
        return output.archived.date_ms
    return record.fetch_time


def _request(uri: str, date: str, output: ProtocolOutput, response: str) -> bytes:
    facts = {
        "WARC-Date": date,
        "WARC-Target-URI": uri,
        "WARC-Concurrent-To": f"<urn:{response}>",
        "Content-Type": "application/http; msgtype=request",
    }
    return _form("request", facts, output.request_head, b"", has_payload=False)


def _response(uri: str, date: str, output: ProtocolOutput, identity: str) -> bytes:
    payload = output.raw_body
    facts = _facts(uri, date, output, "application/http; msgtype=response")
    return _form("response", facts, _stored_head(output, payload), payload, identity=identity)


def _conversion(uri: str, date: str, output: ProtocolOutput, response: str) -> bytes:
    """Return the record of a rendered document: its block is a reply, with the server's headers."""
    facts = _facts(uri, date, output, "application/http; msgtype=response")
    facts |= {"WARC-Refers-To": f"<urn:{response}>", RENDERED: output.rendered_by}
    return _form("conversion", facts, _stored_head(output, output.body), output.body)


def _resource(uri: str, date: str, output: ProtocolOutput) -> bytes:
    content_type = output.content_type or "application/octet-stream"
    return _form("resource", _facts(uri, date, output, content_type), b"", output.body)


def _facts(uri: str, date: str, output: ProtocolOutput, content_type: str) -> dict[str, str]:
    facts = {"WARC-Date": date, "WARC-Target-URI": uri, "Content-Type": content_type}
    if output.ip:
        facts["WARC-IP-Address"] = output.ip
    if output.protocol:
        facts["WARC-Protocol"] = output.protocol
    if output.truncated:
        facts["WARC-Truncated"] = output.truncated
    if output.archived is not None and output.archived.record_id:
        facts[REPLAYED] = output.archived.record_id
    return facts


def _stored_head(output: ProtocolOutput, payload: bytes) -> bytes:
    """Return the reply's head with the headers renamed that the stored body would belie."""
    head = output.response_head
    if not head.startswith(b"HTTP/"):
        head = _with_status_line(head, output.http_status or 200)
    if not head.endswith(b"\r\n\r\n"):  # bare line feeds: not every reader takes them
        head = _LINE_END.sub(b"\r\n", head.rstrip(b"\r\n")) + b"\r\n\r\n"
    length = b"%d" % len(payload)
    coded = payload != output.body
    has_length = not payload

    def kept_or_renamed(line: re.Match[bytes]) -> bytes:
        nonlocal has_length
        name, value = line[2].lower(), line[3].strip()
        if name == b"content-length" and (value == length or not payload):
            has_length = True
            return line[0]
        if name == b"content-encoding" and coded:
            return line[0]
        return line[1] + RENAMED + line[2] + line[0][line.end(2) - line.start() :]

    head = _HEADER.sub(kept_or_renamed, head)
    return head if has_length else head[:-2] + b"Content-Length: " + length + b"\r\n\r\n"


def _with_status_line(head: bytes, http_status: int) -> bytes:
    """Return a head that begins as a WARC response must: HTTP/0.9 has none, ICY another."""
    first = b"HTTP/1.0 %d OK" % http_status
    if status_line(head) is None:
        return first
    return first + b"\r\n" + RENAMED + b"Status-Line: " + head.lstrip()


def target_uri(record: Asked) -> str:
    """Return the URL that was asked for, in a spelling that every URL parser takes."""
    text = record.url
    if record.raw_url is not None:
        text = "".join(_escaped(byte) for byte in record.raw_url)
    if _SAFE_URL.fullmatch(text):
        return text
    try:
        return str(ada_url.URL(text).href)
    except ValueError:
        return record.url


def _escaped(byte: int) -> str:
    return chr(byte) if 0x20 < byte < 0x7F and byte not in _UNSAFE else f"%{byte:02X}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A capture as it is read back.

    Attributes:
        url: WARC-Target-URI.
        kind: response or resource (what `file:` URLs give).
        date: WARC-Date.
        http_status: Status of the reply; None for a resource.
        head: The reply's head as stored.
        headers: Its headers under lower-case names, with the values that the server sent.
        body: The decoded body.
        content_type: As declared.
        ip: Address of the server.
        truncated: length, time or disconnect, if the body was cut.
    """

    url: str
    kind: str
    date: str
    http_status: int | None
    head: bytes
    headers: Mapping[str, tuple[str, ...]]
    body: bytes
    content_type: str | None
    ip: str | None
    truncated: str | None


def read_capture(
    content_dir: Path, warc_file: str, offset: int, length: int, *, limit: int | None = None
) -> Capture:
    """Read one capture by its place.

    Args:
        content_dir: The segment's content folder.
        warc_file: File name in it.
        offset: Where the record begins, in bytes.
        length: Its length in the file, in bytes.
        limit: Most bytes of the decoded body; None: all that the record holds.

    Raises:
        DataError: There is no such file, or no whole record at that place.
    """
    path = content_dir / warc_file
    try:
        with path.open("rb") as file:
            file.seek(offset)
            member = file.read(length)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    try:
        return parse_capture(decompress(member), limit=limit)
    except ValueError as error:
        raise DataError(
            f"no whole capture in {path} at {offset} ({length} bytes): {error}",
            hint="The file is damaged, or is not the one that crawl_fetch speaks of.",
        ) from error


def parse_capture(record: bytes, *, limit: int | None = None) -> Capture:
    """Return what a plain WARC record holds; ValueError if it is not whole."""
    if not record.startswith(b"WARC/"):
        raise ValueError("no WARC record begins here")
    parts = split_head(record)
    if parts is None:
        raise ValueError("the WARC header has no end")
    fields = {name.lower(): value for name, value in header_pairs(parts[0])}
    size = int(fields.get("content-length", "-1"))
    block = parts[1][:size]
    if size < 0 or len(block) < size:
        raise ValueError("the block is cut")
    head, payload = b"", block
    if fields.get("content-type", "").startswith("application/http"):
        head, payload = split_head(block) or (block, b"")
    headers, codings = _sent_headers(head)
    line = status_line(head) if head else None
    most = len(payload) * _MOST_RATIO + _LEAST_ROOM if limit is None else limit
    return Capture(
        url=fields.get("warc-target-uri", "").strip("<>"),
        kind=fields.get("warc-type", ""),
        date=fields.get("warc-date", ""),
        http_status=line.status if line else None,
        head=head,
        headers=headers,
        body=decode(payload, codings, most).body,
        content_type=_last(headers, "content-type") if head else fields.get("content-type"),
        ip=fields.get("warc-ip-address"),
        truncated=fields.get("warc-truncated"),
    )


def _sent_headers(head: bytes) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return the headers as the server sent them, and the codings that the stored body has."""
    prefix = RENAMED.decode().lower()
    stored: dict[str, list[str]] = {}
    sent: dict[str, list[str]] = {}
    for name, value in header_pairs(head):
        key = name.lower()
        into = sent if key.startswith(prefix) else stored
        into.setdefault(key.removeprefix(prefix), []).append(value)
    codings = codings_of(",".join(stored.get("content-encoding", ())))
    merged = {**stored, **sent}
    return {name: tuple(values) for name, values in merged.items()}, codings


def _last(headers: Mapping[str, tuple[str, ...]], name: str) -> str | None:
    values = headers.get(name)
    return values[-1] if values else None
