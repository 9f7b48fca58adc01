"""The spelling of robots.txt: bytes to lines, values to tokens and patterns, URLs to paths.

Guarantee: pure and total. A pattern and a path are brought to one spelling, so that they compare
octet by octet: UTF-8 outside ASCII percent-encoded, encoded unreserved characters decoded, hex
digits in upper case (RFC 9309 section 2.2.2). `*` and a `$` at the end of a pattern stay special
(section 2.2.3); in a path, and elsewhere in a pattern, they are spelled %2A and %24. Of a file that
is HTML the lines between its tags are read, as crawler-commons does.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Line", "agent_token", "path_of", "pattern_of", "read_lines"]

# Misspellings that google/robotstxt and crawler-commons read as what was meant.
_FIELDS = {
    "user-agent": r"user[- ]?agent",
    "allow": r"allow",
    "disallow": r"diss?all?ow|diasllow|disallaw",
    "crawl-delay": r"crawl[- ]?delay",
    "sitemap": r"site-?map",
    "content-usage": r"content-usage",
    "content-signal": r"content-signal",
}
_NAMED = "|".join(f"(?P<{name.replace('-', '_')}>{form})" for name, form in _FIELDS.items())
# Without a colon, one word must follow: `Disallow /private`.
_LINE = re.compile(rf"\s*(?:{_NAMED})\s*(?::(.*)|\s(\s*\S+\s*)\Z)", re.IGNORECASE)
# A sitemap whose author forgot to say so.
_BARE_SITEMAP = re.compile(r"\s*(https?://\S*sitemap\S*)\s*\Z", re.IGNORECASE)
_HTML = re.compile(r"<(?:html|head|body)\s*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END = re.compile(r"\r\n|\r|\n")
_TOKEN_END = re.compile(r"[\s/]")
_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*|//[^/?#]*")
_CODED = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#\[\]@!&'()+,;=%*$]|[*$]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Line(NamedTuple):
    """One line that means something: number from 1, field in lower case, value."""

    number: int
    field: str
    value: str


def read_lines(body: bytes) -> Iterator[Line]:
    """Yield the lines with a known field; comments and all else are passed over."""
    text = _decode(body)
    is_html = _HTML.search(text) is not None
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if found := _read(number, _TAG.sub("", line) if is_html else line):
            yield found


def _read(number: int, text: str) -> Line | None:
    text = text.partition("#")[0]
    if found := _LINE.match(text):
        field = next(name for name, text in found.groupdict().items() if text)
        value = found[found.lastindex or 0]
        return Line(number, field.replace("_", "-"), value.strip().strip("\x00"))
    if found := _BARE_SITEMAP.match(text):
        return Line(number, "sitemap", found[1])
    return None


def agent_token(name: str) -> str:
    """Return the product token of an agent's name in lower case, without version or comment."""
    return _TOKEN_END.split(name.strip().lower(), maxsplit=1)[0]


def pattern_of(value: str) -> str:
    """Return the value of an Allow or Disallow line as a pattern; empty: it says nothing.

    Nothing is what an empty value says, and one that begins with neither `/` nor `*`.
    """
    if not value:
        return ""
    anchored = value.endswith("$")
    body = _CODED.sub(_spell_pattern, value[:-1] if anchored else value)
    while "**" in body:
        body = body.replace("**", "*")
    if not body.startswith(("/", "*")):
        return ""
    return f"{body}$" if anchored else body


def path_of(url: str) -> str:
    """Return path and query of an absolute URL as patterns are compared with."""
    found = _AUTHORITY.match(url)
    rest = (url[found.end() :] if found else url).partition("#")[0]
    path = _CODED.sub(_spell_path, rest)
    return path if path.startswith("/") else f"/{path}"


def _decode(body: bytes) -> str:
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(
                encoding, "surrogateescape" if len(bom) == 3 else "replace"
            )
    if body[1:2] == b"\0" and body[:1] != b"\0":
        return body.decode("utf-16-le", "replace")
    if body[:1] == b"\0" and body[1:2] != b"\0":
        return body.decode("utf-16-be", "replace")
    return body.decode("utf-8", "surrogateescape")


def _spell_pattern(found: re.Match[str]) -> str:
    text = found[0]
    return "*" if text == "*" else _spell_path(found)


def _spell_path(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) == 3:
        char = chr(int(text[1:], 16))
        return char if char in _UNRESERVED else text.upper()
    octets = text.encode("utf-8", "surrogateescape" if "\udc80" <= text <= "\udcff" else "replace")
    return "".join(f"%{octet:02X}" for octet in octets)
