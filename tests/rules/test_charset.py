"""Which encoding a page is in."""

from __future__ import annotations

import pytest

from filbert.rules.charset import charset_of, decode, header_charset, sniff_charset

META = b'<meta charset="iso-8859-2">'


@pytest.mark.parametrize(
    ("body", "header", "expected"),
    [
        (b"\xef\xbb\xbfx" + META, "text/html; charset=koi8-r", ("utf-8", "bom")),
        (b"\xff\xfex\x00", "text/html; charset=koi8-r", ("utf-16le", "bom")),
        (META, "text/html; charset=koi8-r", ("koi8-r", "http")),
        (META, "text/html; charset=nonsense", ("iso-8859-2", "meta")),
        (b"<!-- <meta charset=koi8-r> -->" + META, None, ("iso-8859-2", "meta")),
        (
            b'<meta http-equiv=content-type content="text/html; charset=Shift_JIS">',
            None,
            ("shift_jis", "meta"),
        ),
        (b'<?xml version="1.0" encoding="EUC-JP"?>', None, ("euc-jp", "meta")),
        (b"<meta charset=utf-16>", None, ("utf-8", "meta")),
        ("grüße".encode(), None, ("utf-8", "detected")),
        (b"plain", None, ("windows-1252", "default")),
        ("Привет мир, как дела".encode("cp1251"), None, ("windows-1251", "detected")),
    ],
)
def test_order_of_belief(body: bytes, header: str | None, expected: tuple[str, str]) -> None:
    """Byte order mark, HTTP header, meta, detection, default: as browsers do."""
    charset = sniff_charset(body, header, "windows-1252")
    assert (charset.name, charset.source) == expected


@pytest.mark.parametrize(
    ("label", "name", "raw", "text"),
    [
        ("latin1", "windows-1252", b"\x80\x81", "€\x81"),
        ("gb2312", "gbk", "中文".encode("gbk"), "中文"),
        ("euc-kr", "euc-kr", "똠방".encode("cp949"), "똠방"),
        ("x-sjis", "shift_jis", "①".encode("cp932"), "①"),
        ("iso-8859-9", "windows-1254", b"\x80", "€"),
        ("UTF8", "utf-8", b"a\xff", "a\ufffd"),
    ],
)
def test_labels_mean_what_they_mean_on_the_web(
    label: str, name: str, raw: bytes, text: str
) -> None:
    """A label names the encoding that browsers take it for, and every byte decodes."""
    charset = charset_of(label, "http")
    assert charset is not None
    assert (charset.name, decode(raw, charset)) == (name, text)


def test_nonsense_names_nothing() -> None:
    """An unknown label is passed over; an unknown default falls back on UTF-8."""
    assert charset_of("klingon", "http") is None
    assert sniff_charset(b"x", None, "klingon").name == "utf-8"
    assert header_charset("text/html") is None
