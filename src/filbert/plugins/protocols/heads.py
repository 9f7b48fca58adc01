"""Reads the head of an HTTP reply as browsers do: whatever can be read, is.

Guarantee: total functions over bytes; nothing is changed, and a line that is no header is passed
over. Source: RFC 9112 sections 4 and 5, and what servers send instead: bare line feeds, folded
lines, ICY status lines, lines without a colon, names with blanks around them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["StatusLine", "header_pairs", "last_head", "split_head", "status_line", "text_of"]

_STATUS = re.compile(rb"\s*(?:(http)/?([0-9][0-9.]*)?|icy)[ \t]+([0-9]{3})(?![0-9])", re.IGNORECASE)
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_FOLDS = frozenset({b" ", b"\t"})
_INFORMATIONAL = range(100, 200)
_SWITCHING = 101


@dataclass(frozen=True, slots=True)
class StatusLine:
    """What a status line says.

    Attributes:
        status: Three digits.
        protocol: Such as http/1.1 or icy, in lower case.
    """

    status: int
    protocol: str


def status_line(head: bytes) -> StatusLine | None:
    """Return what the first line of a head says; None if it is no status line."""
    found = _STATUS.match(head)
    if found is None:
        return None
    version = (found[2] or b"1.0").decode("ascii")
    protocol = f"http/{version}" if found[1] else "icy"
    return StatusLine(int(found[3]), protocol)


def split_head(data: bytes) -> tuple[bytes, bytes] | None:
    """Return the head (with its blank line) and what follows; None if the head has no end."""
    found = _BLANK_LINE.search(data)
    if found is None:
        return None
    return data[: found.end()], data[found.end() :]


def last_head(received: bytes) -> bytes:
    """Return the head of the final reply among 1xx replies before it and trailers behind it."""
    if received.find(b"\r\n\r\n") == len(received) - 4:
        return received
    head, rest = b"", received
    while rest:
        parts = split_head(rest) or (rest, b"")
        line = status_line(parts[0])
        if line is None and head:
            break
        head, rest = parts
        if line is None or line.status not in _INFORMATIONAL or line.status == _SWITCHING:
            break
    return head


def header_pairs(head: bytes) -> tuple[tuple[str, str], ...]:
    """Return the headers in order, names and values as text; folded lines joined by a blank."""
    plain = _plain_pairs(head)
    if plain is not None:
        return plain
    pairs: list[tuple[str, str]] = []
    for line in head.replace(b"\r\n", b"\n").split(b"\n")[1:]:
        if line[:1] in _FOLDS and pairs:
            name, value = pairs[-1]
            pairs[-1] = (name, f"{value} {text_of(line.strip())}".strip())
            continue
        name, colon, value = text_of(line).partition(":")
        if colon and (name := name.strip()):
            pairs.append((name, value.strip()))
    return tuple(pairs)


def _plain_pairs(head: bytes) -> tuple[tuple[str, str], ...] | None:
    """Return the headers of a head as nearly all are: ASCII, and no folded line; None: it is not.

    Many times as quick as looking at each line for what may be wrong with it.
    """
    if not head.isascii() or b"\n " in head or b"\n\t" in head:
        return None
    lines = head.decode("ascii").replace("\r\n", "\n").split("\n")
    parts = [line.partition(":") for line in lines[1:]]
    return tuple(
        [(name.strip(), value.strip()) for name, colon, value in parts if colon and name.strip()]
    )


def text_of(raw: bytes) -> str:
    """Return bytes of a head as text: UTF-8 if they are, ISO 8859-1 if not."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
