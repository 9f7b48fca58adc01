"""What a document is: from its bytes first, then its name, then what the server says.

Guarantee: a total function. A pattern in the bytes that is sure wins over every claim; name and
declaration only narrow what the bytes leave open (text into CSS, a zip into a document), so a
server that calls everything text/plain, or a page text/javascript, is not believed blindly.
Source: WHATWG mimesniff; Nutch `MimeUtil.autoResolveContentType`; golden table `mime`.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from filbert.rules.mime_types import ALIASES, EXTENSIONS, OCTETS, is_kind_of

__all__ = ["clean_type", "sniff", "type_by_name", "type_of"]

_LOOK = 8192
"""Bytes of the body that are looked at; browsers take 1445, Tika 64 KiB."""

_FEW, _NEAR = 4, 64

_TOKEN = r"[A-Za-z0-9!#$&^_.+-]+"  # noqa: S105 - no password
_DECLARED = re.compile(rf"\s*({_TOKEN}/{_TOKEN})\s*(?:;.*)?", re.DOTALL)
_NOTHING_SAID = frozenset({OCTETS, "application/x-unknown", "unknown/unknown", "content/unknown"})

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"%!PS-Adobe-", "application/postscript"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"\x00\x00\x01\x00", "image/vnd.microsoft.icon"),
    (8, b"WEBPVP", "image/webp"),
    (8, b"WAVE", "audio/vnd.wave"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/x-flac"),
    (0, b"FLV\x01", "video/x-flv"),
    (0, b"CWS", "application/x-shockwave-flash"),
    (0, b"FWS", "application/x-shockwave-flash"),
    (0, b"\x1aE\xdf\xa3", "video/x-matroska"),
    (4, b"ftyp", "video/mp4"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"7z\xbc\xaf'\x1c", "application/x-7z-compressed"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"Rar!\x1a\x07", "application/x-rar-compressed"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-tika-msoffice"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"MZ", "application/x-dosexec"),
    (0, b"\xca\xfe\xba\xbe", "application/java-vm"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"WARC/", "application/warc"),
    (0, b"<?php", "text/x-php"),
    (0, b"MThd", "audio/midi"),
    (0, b"OggS", "audio/vorbis"),
    (8, b"AIFF", "audio/x-aiff"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
    (0, b"AT&TFORM", "image/vnd.djvu"),
    (0, b"\x00\x00\x01\xba", "video/mpeg"),
    (0, b"0&\xb2u\x8ef\xcf\x11", "video/x-ms-asf"),
    (0, b"\x00\x01\x00\x00\x00", "application/x-font-ttf"),
    (0, b"SQLite format 3\x00", "application/x-sqlite3"),
    (0, b"d8:announce", "application/x-bittorrent"),
    (0, b"BEGIN:VCALENDAR", "text/calendar"),
    (0, b"BEGIN:VCARD", "text/x-vcard"),
    (0, b"#!/bin/", "application/x-sh"),
    (0, b"#!/usr/bin/", "application/x-sh"),
    (0, b"\\documentclass", "application/x-tex"),
)

# The same patterns by offset: one look for most documents, which have none.
_STARTS = tuple(
    (offset, tuple(pattern for at, pattern, _ in _MAGIC if at == offset))
    for offset in sorted({at for at, _, _ in _MAGIC})
)

# Tags by which WHATWG mimesniff, and Tika, know HTML. A comment says nothing yet.
_HTML = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|h1|iframe|table|div|a|style|br|script)"
    rb"(?=[\s/>])",
    re.IGNORECASE,
)
_PROLOGUE = re.compile(
    rb"(?:\s|<!--.*?-->|<\?(?!xml\s).*?\?>|<!DOCTYPE\s+(?!html)[^>]*>)*", re.DOTALL
)
_XML = re.compile(rb"<\?xml\s[^>]*\?>")
_ROOT = re.compile(rb"<([A-Za-z_][\w.:-]*)")
_ROOTS = {
    b"html": "application/xhtml+xml",
    b"rss": "application/rss+xml",
    b"feed": "application/atom+xml",
    b"rdf:RDF": "application/rdf+xml",
    b"svg": "image/svg+xml",
    b"svg:svg": "image/svg+xml",
}
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def type_of(declared: str | None, url: str, body: bytes, *, magic: bool = True) -> str:
    """Return the media type of a document, lower case, without parameters.

    Args:
        declared: The Content-Type header.
        url: Its URL; the extension of the path counts.
        body: The document.
        magic: Look into the body.
    """
    said, named = clean_type(declared), type_by_name(url)
    if not magic:
        return said or named or OCTETS
    kind = sniff(body)
    for claim in (named, said):
        if claim and is_kind_of(claim, kind):
            kind = claim
    if kind == OCTETS and said:
        return said
    return kind


def clean_type(declared: str | None) -> str | None:
    """Return a declared type without parameters under its common name; None if it says nothing."""
    found = _DECLARED.fullmatch(declared or "")
    if found is None:
        return None
    kind = found[1].lower()
    kind = ALIASES.get(kind, kind)
    return None if kind in _NOTHING_SAID else kind


def type_by_name(url: str) -> str | None:
    """Return the type that the extension of a URL's path tells; None if it tells none."""
    path = url.partition("#")[0].partition("?")[0]
    before, slash, name = path.rpartition("/")
    if slash and before.endswith(":/") and before.count("/") == 1:
        return None
    _, dot, extension = (unquote(name) if "%" in name else name).rpartition(".")
    return EXTENSIONS.get(extension.lower()) if dot else None


def sniff(body: bytes) -> str:
    """Return what the bytes are: a sure type, text/plain, a zip, XML, or octets."""
    head = body[:_LOOK]
    if not head:
        return OCTETS
    begins = any(head.startswith(patterns, offset) for offset, patterns in _STARTS)
    for offset, pattern, kind in _MAGIC if begins else ():
        if head.startswith(pattern, offset) and _is_sure(pattern, head):
            return _inside_zip(body) if kind == "application/zip" else kind
    if head.startswith(_BOMS[1:]):
        return "text/plain"
    text = head.removeprefix(_BOMS[0])
    markup = _markup(text)
    if markup is not None:
        return markup
    return OCTETS if _BINARY.search(text) else "text/plain"


def _is_sure(pattern: bytes, head: bytes) -> bool:
    """A few letters are a signature only if what follows is no text: BMW is no picture."""
    return len(pattern) > _FEW or not pattern.isalnum() or bool(_BINARY.search(head, 0, _NEAR))


def _markup(text: bytes) -> str | None:
    start = _PROLOGUE.match(text)
    rest = text[start.end() :] if start else text
    if _HTML.match(rest):
        return "text/html"
    declaration = _XML.match(rest)
    if declaration is None:
        root = _ROOT.match(rest)
        return _ROOTS.get(root[1]) if root and root[1] in {b"rss", b"feed", b"rdf:RDF"} else None
    start = _PROLOGUE.match(rest, declaration.end())
    rest = rest[start.end() :] if start else b""
    if rest[:9].lower() == b"<!doctype":
        return "application/xhtml+xml" if b"html" in rest[:200].lower() else "application/xml"
    root = _ROOT.match(rest)
    return _ROOTS.get(root[1], "application/xml") if root else "application/xml"


def _inside_zip(body: bytes) -> str:
    """Look at the names in a zip: office documents and books are zips."""
    head = body[:_LOOK]
    if head[30:38] == b"mimetype":
        kind = re.match(rb"application/[\w.+-]+", head[38:138])
        if kind:
            return kind[0].decode().removesuffix("PK")
    if b"[Content_Types].xml" in head:
        return "application/x-tika-ooxml"
    if b"META-INF/" in head:
        return "application/java-archive"
    return "application/zip"
