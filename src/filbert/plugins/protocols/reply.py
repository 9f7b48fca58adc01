"""From what came over the wire to a ProtocolOutput.

Guarantees: whatever came is kept; a body that was cut says why (`length`, `time`, `disconnect`);
a failure's message begins with a name that can be counted, then a colon. `raw_body` is the body as
it came if its content coding was whole, so that every reader can decode it, and `body` itself if
it was not. Statuses: `rules/outcome.py`; broken bodies: Nutch's `http.partial.truncated`.
"""

from __future__ import annotations

from dataclasses import dataclass

from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.decoding import codings_of, decode
from filbert.plugins.protocols.heads import (
    StatusLine,
    header_pairs,
    last_head,
    split_head,
    status_line,
)
from filbert.rules.outcome import http_protocol_status

__all__ = ["Received", "failure", "output_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What one exchange gave.

    Attributes:
        head: Header bytes of all replies in it, 1xx and trailers too; empty for HTTP/0.9.
        raw: Body bytes, without chunks, content coding kept.
        failure: Name of what went wrong; empty if the reply is whole.
        words: The same in words.
        cut: length, time or disconnect, if the body was cut.
        ip: Address of the server.
        ms: Milliseconds from request to last byte.
        http2: The reply came over HTTP/2.
        note: What else is to be known of the exchange, if it went well.
    """

    head: bytes = b""
    raw: bytes = b""
    failure: str = ""
    words: str = ""
    cut: str | None = None
    ip: str | None = None
    ms: int = 0
    http2: bool = False
    note: str = ""


def failure(
    name: str, words: str, status: ProtocolStatus = ProtocolStatus.EXCEPTION
) -> ProtocolOutput:
    """Return the output of an exchange that gave no reply."""
    return ProtocolOutput(status=status, message=f"{name}: {words}")


def output_of(
    received: Received, *, request_head: bytes, limit: int, keep_partial: bool
) -> ProtocolOutput:
    """Return what a protocol plugin gives back for an exchange.

    Args:
        received: What came.
        request_head: The bytes that were sent.
        limit: Most bytes of the decoded body.
        keep_partial: A body that broke off is a success, marked as truncated.
    """
    head, raw, line = _parts(received)
    words = f"{received.failure}: {received.words}" if received.failure else ""
    if line is None:
        return ProtocolOutput(
            status=ProtocolStatus.EXCEPTION,
            message=words or "empty_reply: no byte came",
            request_head=request_head,
            ip=received.ip,
            response_ms=received.ms,
        )
    headers = header_pairs(head)
    body = _Body.of(raw, headers, received, limit)
    status = http_protocol_status(line.status)
    broken = bool(received.failure) or body.cut in {"time", "disconnect"}
    if received.failure and status is ProtocolStatus.SUCCESS and not (keep_partial and body.plain):
        status = ProtocolStatus.EXCEPTION
    return ProtocolOutput(
        status=status,
        message=words or _message(status, line, broken=broken) or received.note,
        http_status=line.status,
        request_head=request_head,
        response_head=head,
        headers=headers,
        raw_body=body.raw,
        body=body.plain,
        location=_location(head) if 300 <= line.status < 400 else None,
        content_type=_last(headers, "content-type"),
        ip=received.ip,
        protocol="http/2" if received.http2 else line.protocol,
        response_ms=received.ms,
        truncated=body.cut,
    )


def _message(status: ProtocolStatus, line: StatusLine, *, broken: bool) -> str:
    if status is ProtocolStatus.EXCEPTION:
        return f"http_{line.status}: the server answered {line.status}"
    return "coding_broken: the content coding has no end" if broken else ""


def _parts(received: Received) -> tuple[bytes, bytes, StatusLine | None]:
    """Return head, body and status line; a head that libcurl took for a body is put back."""
    if received.head:
        head = last_head(received.head)
        return head, received.raw, status_line(head)
    if not received.raw:
        return b"", b"", None
    stripped = received.raw.lstrip(b"\r\n")
    line = status_line(stripped)
    parts = split_head(stripped) if line else None
    if parts is not None:
        return *parts, line
    return b"", received.raw, StatusLine(200, "http/0.9")


@dataclass(frozen=True, slots=True)
class _Body:
    plain: bytes
    raw: bytes
    cut: str | None

    @classmethod
    def of(
        cls, raw: bytes, headers: tuple[tuple[str, str], ...], received: Received, limit: int
    ) -> _Body:
        coding = ",".join(value for name, value in headers if name.lower() == "content-encoding")
        codings = codings_of(coding)
        if not codings:
            whole = raw if len(raw) <= limit else raw[:limit]
            return cls(whole, whole, received.cut or ("length" if len(raw) > limit else None))
        decoded = decode(raw, codings, limit)
        cut = received.cut or ("length" if decoded.cut else None)
        if cut is None and not decoded.ended:
            cut = "disconnect"
        kept = raw if decoded.clean and cut is None else decoded.body
        return cls(decoded.body, kept, cut)


def _last(headers: tuple[tuple[str, str], ...], name: str) -> str | None:
    found = [value for key, value in headers if key.lower() == name]
    return found[-1] if found else None


def _location(head: bytes) -> bytes | None:
    """Return the first Location as bytes: what a server means by bytes is decided later."""
    for line in head.split(b"\n")[1:]:
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == b"location":
            return value.strip(b" \t\r")
    return None
