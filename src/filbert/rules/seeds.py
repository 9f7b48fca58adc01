"""Seed files: from bytes to seeds, line by line.

Guarantee: every line ends as a seed, as nothing (blank, comment) or as a `BadLine` that says why;
one bad line never costs another. Memory is bounded whatever the length of a line. A number in
the metadata that cannot be read costs that entry alone, as in Nutch, and is reported.
Source: Nutch `Injector` (key TAB name=value TAB …; `nutch.score`, `nutch.fetchInterval`,
`nutch.fetchInterval.fixed`).
"""

from __future__ import annotations

import codecs
import ipaddress
import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from filbert.rules.url_parts import DEFAULT_PORTS, KNOWN_SCHEMES, split
from filbert.rules.urls import host_of, resolve, scheme_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = [
    "BadLine",
    "Line",
    "Seed",
    "bad_url",
    "is_url",
    "lines_of",
    "no_place",
    "parse_line",
    "private_endpoint",
]

LONGEST_LINE = 65_536
"""Bytes of a line that are read; what is longer is no seed."""

_SCORE, _INTERVAL, _FIXED = "nutch.score", "nutch.fetchInterval", "nutch.fetchInterval.fixed"
_MAX_DEPTH = "_maxdepth_"
_LONGEST_INTERVAL = 2**31 - 1
_NOT_IN_HOST = re.compile(r"[\x00-\x20\x7f#/<>?@\[\]\\^|]")  # as WHATWG URL says
_SPOKEN = {" ": "a blank"}
_LAST_PORT = 65_535
_BLANK_METADATA = re.compile(r"[^?\s]+[ ]+[\w.\-]+=")
# Names that no public DNS has: RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`.
_PRIVATE_NAMES = ("localhost", "local", "test", "internal", "home.arpa", "lan", "intranet", "corp")

_CACHED_HOSTS = 65_536

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a seed file, without its end; `raw` is None if it was too long."""

    number: int
    raw: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """Why a line, or a piece of one, is no seed; `reason` is a name that can be counted."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """One seed as written: the URL is not normalised yet. None: the setting's value holds.

    Attributes:
        score: From `nutch.score`.
        fetch_interval: Seconds, from `nutch.fetchInterval` or `.fixed`.
        fixed_interval: Seconds, from `nutch.fetchInterval.fixed`.
        notes: Metadata entries that could not be read.
    """

    url: str
    score: float | None = None
    fetch_interval: int | None = None
    fixed_interval: float | None = None
    max_depth: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[BadLine, ...] = ()


def is_url(text: str) -> bool:
    """Say whether a command line argument is a seed itself, not the path of a file."""
    return "://" in text or scheme_of(text) in {"http", "https", "file"}


def lines_of(chunks: Iterable[bytes]) -> Iterator[Line]:
    """Cut the bytes of a file into lines; LF, CRLF and CR alone end one.

    A byte order mark is taken off; UTF-16 with one is understood.
    """
    number, begun, too_long = 1, b"", False
    for chunk in _utf8(chunks):
        *whole, rest = _split_lines(begun + chunk)
        for raw in whole:
            yield Line(number=number, raw=None if too_long or len(raw) > LONGEST_LINE else raw)
            number, too_long = number + 1, False
        if len(rest) > LONGEST_LINE:
            rest, too_long = rest[-1:], True
        begun = rest
    begun = begun.removesuffix(b"\r")
    if begun or too_long:
        yield Line(number=number, raw=None if too_long or len(begun) > LONGEST_LINE else begun)


def parse_line(line: Line) -> Seed | BadLine | None:
    """Return the seed of a line; None for a blank line or a comment."""
    if line.raw is None:
        return BadLine(reason="too_long", detail=f"longer than {LONGEST_LINE:,} bytes")
    try:
        text = line.raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = line.raw[error.start]
        return BadLine(
            reason="not_utf8",
            detail=f"byte 0x{byte:02x} at {error.start + 1} is not UTF-8; save the file as UTF-8",
        )
    key, _, rest = text.partition("\t")
    key = key.strip()
    if not key or key.startswith("#"):
        return None
    return bad_url(key) or _with_metadata(key, rest.strip())


def bad_url(key: str) -> BadLine | None:
    """Say why a text is no URL that a crawl could begin with; None if it may be one."""
    if _BLANK_METADATA.match(key):
        return BadLine(
            reason="blank_for_tab", detail="metadata must follow the URL after a TAB, not a blank"
        )
    shown = key if len(key) <= 80 else key[:79] + "…"
    scheme = scheme_of(key)
    if scheme in KNOWN_SCHEMES:
        return None
    if not scheme or "." in scheme or scheme == "localhost":
        return BadLine(
            reason="no_scheme", detail=f"{shown!r} has no scheme; write http:// or https:// first"
        )
    known = ", ".join(sorted(KNOWN_SCHEMES))
    return BadLine(reason="unknown_scheme", detail=f"{shown!r}: schemes are {known}")


def no_place(url: str) -> BadLine | None:
    """Say why a normalised URL names no server that could be asked; None if it names one."""
    parts = split(url)
    if parts is None or parts.scheme == "file":
        return None
    shown = url if len(url) <= 80 else url[:79] + "…"
    if not parts.host:
        return BadLine(reason="no_host", detail=f"{shown!r} names no host")
    is_ipv6 = parts.host.startswith("[")  # `split` has read it
    if not is_ipv6 and (found := _NOT_IN_HOST.search(parts.host)):
        detail = f"{shown!r}: no host has {_SPOKEN.get(found[0], repr(found[0]))} in its name"
        return BadLine(reason="no_host", detail=detail)
    if parts.port > _LAST_PORT:
        detail = f"{shown!r} has the port {parts.port}; ports end at {_LAST_PORT}"
        return BadLine(reason="no_port", detail=detail)
    return None


def private_endpoint(url: str) -> str | None:
    """Return host:port of a URL that names the local machine or network by its text alone.

    The address guard then lets exactly this host and port pass. A public name is never returned,
    whatever it resolves to. The host is the one that is asked: `127.1` and `0x7f000001` are
    spellings of 127.0.0.1, as browsers read them.
    """
    asked = resolve(url, "") or ""
    host = host_of(asked)
    if not host or not _is_private(host.rstrip(".")):
        return None
    parts = split(asked)
    if parts is None:
        return None
    port = DEFAULT_PORTS.get(parts.scheme) if parts.port == -1 else parts.port
    return None if port is None else f"{host.rstrip('.')}:{port}"


def _utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    decoder: codecs.IncrementalDecoder | None = None
    first = True
    for chunk in chunks:
        data = chunk
        if first:
            first = False
            if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                decoder = codecs.getincrementaldecoder("utf-16")("replace")
            data = chunk.removeprefix(codecs.BOM_UTF8)
        yield data if decoder is None else decoder.decode(data).encode("utf-8", "replace")
    if decoder is not None:
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _split_lines(data: bytes) -> list[bytes]:
    """Split at line ends; a CR that ends the data may be half a CRLF, and stays."""
    tail = b"\r" if data.endswith(b"\r") else b""
    body = data.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    pieces = body.split(b"\n")
    pieces[-1] += tail
    return pieces


def _with_metadata(url: str, rest: str) -> Seed:
    notes: list[BadLine] = []
    metadata: dict[str, str] = {}
    for token in rest.split("\t") if rest else ():
        name, sign, value = token.partition("=")
        if sign:
            metadata[name] = value
        elif token:
            notes.append(_bad_entry(token, "has no ="))
    score = _taken(metadata, _SCORE, _finite, notes)
    interval = _taken(metadata, _INTERVAL, _seconds, notes)
    fixed = _taken(metadata, _FIXED, _seconds, notes)
    depth = _taken(metadata, _MAX_DEPTH, _seconds, notes)
    return Seed(
        url=url,
        score=score,
        fetch_interval=interval if fixed is None else fixed,
        fixed_interval=fixed,
        max_depth=depth,
        metadata=metadata,
        notes=tuple(notes),
    )


def _taken(
    metadata: dict[str, str],
    name: str,
    read: Callable[[str], _Number],
    notes: list[BadLine],
) -> _Number | None:
    text = metadata.pop(name, None)
    if text is None:
        return None
    try:
        return read(text.strip())
    except ValueError as error:
        notes.append(_bad_entry(f"{name}={text}", str(error)))
        return None


def _finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError("is no number") from None
    if not math.isfinite(number) or abs(number) > 3.4e38:
        raise ValueError("is no score")
    return number


def _seconds(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise ValueError("is no whole number") from None
    if not 0 <= number <= _LONGEST_INTERVAL:
        raise ValueError(f"is not between 0 and {_LONGEST_INTERVAL}")
    return number


def _bad_entry(entry: str, why: str) -> BadLine:
    shown = entry if len(entry) <= 60 else entry[:59] + "…"
    return BadLine(reason="metadata", detail=f"{shown!r} {why}; the entry is left out")


@lru_cache(maxsize=_CACHED_HOSTS)
def _is_private(host: str) -> bool:
    bare = host.removeprefix("[").removesuffix("]")
    try:
        return not ipaddress.ip_address(bare.partition("%")[0]).is_global
    except ValueError:
        pass
    # A name without a dot can only be of the local network.
    return "." not in host or host.endswith(tuple("." + name for name in _PRIVATE_NAMES))
