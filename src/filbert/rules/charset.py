"""Which encoding a page is in, and its text.

Guarantee: a total function: every body becomes text. Order of belief, as browsers': byte order
mark, charset of the HTTP header, `<meta>` in the first bytes, then detection, then the default.
(Nutch lets the header win over a byte order mark, and does not detect.)
Source: WHATWG HTML, "determining the character encoding"; WHATWG Encoding.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

__all__ = ["Charset", "charset_of", "decode", "header_charset", "sniff_charset"]

_PRESCAN = 8192
"""Bytes searched for `<meta>`; Nutch's number, where browsers take 1024 and then start over."""

_DETECT = 131_072
"""Bytes at most that the detector reads."""

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))

# Codec as resiliparse names it: WHATWG's name, and the Python codec that decodes as browsers do.
_CODECS = {
    "cp1252": ("windows-1252", "cp1252"),
    "euc_kr": ("euc-kr", "cp949"),
    "euc_jp": ("euc-jp", "euc_jp"),
    "iso2022_jp": ("iso-2022-jp", "iso2022_jp"),
    "shift_jis": ("shift_jis", "cp932"),
    "gbk": ("gbk", "gb18030"),
    "big5": ("big5", "big5hkscs"),
    "mac-roman": ("macintosh", "mac-roman"),
    "mac-cyrillic": ("x-mac-cyrillic", "mac-cyrillic"),
    "utf-16-le": ("utf-16le", "utf-16-le"),
    "utf-16-be": ("utf-16be", "utf-16-be"),
    "iso8859-11": ("windows-874", "cp874"),
    "iso8859-9": ("windows-1254", "cp1254"),
}

# What the detector takes short Western texts for, and hardly a page is in.
_RARE = frozenset(f"iso-8859-{number}" for number in (3, 10, 13, 14, 15, 16))

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(rb"<meta[\s/]([^>]*)", re.IGNORECASE)
_META_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._:-]+)[\"']")
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Charset:
    """An encoding: its WHATWG name in lower case, the codec, and what named it."""

    name: str
    codec: str
    source: str


def charset_of(label: str, source: str) -> Charset | None:
    """Return the encoding that a label names on the web; None if it names none."""
    try:
        codec = map_encoding_to_html5(label.strip(), fallback_utf8=False)
    except (UnicodeError, LookupError):
        return None
    if codec is None:
        return None
    name, python = _CODECS.get(codec, (codec.replace("iso8859", "iso-8859"), codec))
    if name.startswith("cp125"):
        name = name.replace("cp", "windows-")
    return Charset(name.replace("_", "-") if name != "shift_jis" else name, python, source)


def header_charset(content_type: str | None) -> str | None:
    """Return the charset parameter of a Content-Type header."""
    found = _HEADER.search(content_type or "")
    return found[1] if found else None


def sniff_charset(body: bytes, content_type: str | None, default: str) -> Charset:
    """Return the encoding of a body.

    Args:
        body: The body, decoded from its content codings.
        content_type: The Content-Type header, if there was one.
        default: Label of the encoding when nothing else tells.
    """
    for mark, label in _BOMS:
        if body.startswith(mark):
            return _known(label, "bom")
    if declared := charset_of(header_charset(content_type) or "", "http"):
        return declared
    if declared := _declared(body):
        return declared
    return _detected(body) or charset_of(default, "default") or _known("utf-8", "default")


def decode(body: bytes, charset: Charset) -> str:
    """Return the body as text; what cannot be read becomes U+FFFD, a byte order mark goes."""
    if charset.codec == "cp1252":
        text = body.decode("cp1252", "filbert_c1")
    else:
        text = body.decode(charset.codec, "replace")
    return text.removeprefix("\ufeff")


def _declared(body: bytes) -> Charset | None:
    head = body[:_PRESCAN]
    if found := _XML.match(head):
        return _as_declared(found[1])
    for meta in _META.finditer(_COMMENT.sub(b"", head)):
        label = _META_CHARSET.search(meta[1])
        if label and (charset := _as_declared(label[1])):
            return charset
    return None


def _as_declared(label: bytes) -> Charset | None:
    """A page that can be read this far is not UTF-16, whatever it says (WHATWG)."""
    charset = charset_of(label.decode("latin-1"), "meta")
    if charset is not None and charset.name.startswith("utf-16"):
        return _known("utf-8", "meta")
    return charset


def _detected(body: bytes) -> Charset | None:
    """Return what the bytes look like; None for plain ASCII, which tells nothing."""
    if body.isascii():
        return None
    sample = body[:_DETECT]
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(sample) - 4 and len(body) > _DETECT:
            return _known("utf-8", "detected")
    else:
        return _known("utf-8", "detected")
    label = detect_encoding(sample, max_len=_DETECT, html5_compatible=True)
    charset = charset_of(label, "detected") if label and label != "utf-8" else None
    return None if charset is None or charset.name in _RARE else charset


def _known(label: str, source: str) -> Charset:
    charset = charset_of(label, source)
    assert charset is not None
    return charset


def _c1(error: UnicodeError) -> tuple[str, int]:
    """Decode the five bytes that windows-1252 leaves open as browsers do: to C1 controls."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(map(chr, error.object[error.start : error.end])), error.end


codecs.register_error("filbert_c1", _c1)
