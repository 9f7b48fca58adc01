"""What a document is."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from filbert.rules.mime import clean_type, sniff, type_by_name, type_of
from filbert.rules.mime_types import OCTETS, PARENTS, is_kind_of

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]

DECISIONS = {
    "py": "a script is called by its interpreter's line in Tika, by its name here",
    "mail": "Tika knows mail by its header lines",
    "robots": "Tika has a type of its own for robots.txt",
    "rssnodecl": "a feed without an XML declaration is a feed",
    "script": "a page may begin with a script (WHATWG mimesniff)",
    "woff": "fonts are told by their signature",
    "pdfjunk": "a PDF begins with %PDF",
    "jar": "a zip with META-INF is a Java archive",
    "mkv": "Matroska has its type as video",
    "font": "the signature of TrueType is shared with others",
    "rar": "a type has no parameters here",
    "exe": "programs are told by their name in Tika",
    "bin": "font/woff2 and Makefile by name",
    "latin1": "text in an old encoding is text",
    "text": "unknown/unknown says nothing, so the name counts",
    "swf": "three letters are no signature unless something binary follows",
    "psd": "the same for four letters",
    "zeros": "application/x-unknown says nothing, so the name counts",
    "pdf": "content/unknown says nothing, so the name counts",
    "html5": "the same",
    "xhtml": "the same",
}
"""Kind of document in the table → why we differ there."""


def _body(row: Row) -> bytes:
    if "content_base64" in row:
        return base64.b64decode(row["content_base64"])
    return (row.get("content") or "").encode()


def test_types_are_those_of_nutch(repository: Path) -> None:
    """Golden table mime: at most 10 % of the made-up contradictions are decided differently."""
    different, count = Counter[str](), 0
    with gzip.open(repository / "tests/data/golden/mime.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            if row["function"] != "autoResolveContentType":
                continue
            count += 1
            magic = row["conf"].get("mime.type.magic") != "false"
            if type_of(row["type"], row["url"], _body(row), magic=magic) != row["result"]:
                different[row["kind"]] += 1
    assert set(different) - set(DECISIONS) == set()
    assert count > 500
    assert different.total() <= count * 0.1


@pytest.mark.parametrize(
    ("declared", "url", "body", "expected"),
    [
        ("text/html; charset=utf-8", "http://a/", b"<p>x", "text/html"),
        ("text/plain", "http://a/", b"<!DOCTYPE html><p>x", "text/html"),
        ("text/html", "http://a/x.pdf", b"%PDF-1.4", "application/pdf"),
        ("application/pdf", "http://a/", b"<html>not found</html>", "text/html"),
        (None, "http://a/a.css", b"p{}", "text/css"),
        ("application/octet-stream", "http://a/a.docx", b"PK\x03\x04rest", None),
        ("image/png", "http://a/", b"plain words", "text/plain"),
        ("nonsense", "http://a/", b"", OCTETS),
        ("text/html", "http://a/", b"", "text/html"),
        (None, "http://a/", b"BMW is a car", "text/plain"),
        (None, "http://a/", b"\xff\xfeh\x00i\x00", "text/plain"),
        (None, "http://a/", b"\x00\x01\x02", OCTETS),
        ("text/x-mine", "http://a/", b"\x00\x01\x02", "text/x-mine"),
    ],
)
def test_bytes_before_names_before_claims(
    declared: str | None, url: str, body: bytes, expected: str | None
) -> None:
    """A sure pattern wins; name and declaration only narrow what the bytes leave open."""
    docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    got = type_of(declared, url, body)
    assert got == (expected or docx) or (expected is None and got == "application/zip")


def test_declared_types_are_cleaned() -> None:
    """Parameters go, other spellings become one, and nonsense is nothing."""
    assert clean_type("TEXT/HTML; x=y") == "text/html"
    assert clean_type("application/x-javascript") == "text/javascript"
    assert clean_type("html") is None
    assert clean_type("application/octet-stream") is None


def test_the_name_is_the_paths_last_segment() -> None:
    """Only the extension of the path counts: no query, no host."""
    assert type_by_name("http://a.com/x.html?y=z.pdf") == "text/html"
    assert type_by_name("http://example.zip") is None
    assert type_by_name("http://a.com/a%2Epdf") == "application/pdf"


def test_kinds_form_a_tree() -> None:
    """Every type leads to octets, so that the walk ends."""
    for kind in PARENTS:
        assert is_kind_of(kind, OCTETS)
    assert not is_kind_of("image/png", "text/plain")


def test_a_book_names_itself() -> None:
    """EPUB and ODF name their type in the first entry of the zip."""
    head = b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/epub+zipPK"
    assert sniff(head) == "application/epub+zip"
