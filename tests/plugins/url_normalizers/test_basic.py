"""The normaliser `basic` beside Nutch's BasicURLNormalizer."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.plugins.contracts import Scope
from filbert.plugins.url_normalizers.basic import BasicNormalizer
from filbert.rules.url_parts import split
from filbert.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]
IDN = {"none": "", "toascii": "toAscii", "tounicode": "toUnicode"}


def _normalizer(**urls: object) -> BasicNormalizer:
    settings = Settings.model_validate({"urls": urls})
    return BasicNormalizer(settings.urls)


def _of(row: Row) -> BasicNormalizer:
    conf = {name.removeprefix("urlnormalizer.basic.host."): v for name, v in row["conf"].items()}
    return _normalizer(
        host_idn=IDN[conf.get("idn", "none").lower()],
        host_trim_trailing_dot=conf.get("trim-trailing-dot") == "true",
    )


def _difference(row: Row) -> str:
    """Name why we differ, by a predicate on the inputs; empty if there is no reason."""
    url: str = row["url"].strip()
    if url.startswith("jar:"):
        return "jar: is no scheme that pages have"
    if "\ud800" in url:
        return "half a surrogate pair"
    parts = split(re.sub(r"[\t\n\r]", "", url))
    assert parts is not None
    authority = parts.authority or ""
    if authority.count("@") > 1 or authority.startswith(":") or not authority:
        return "no host that can be asked"
    if re.search(r"[\[|\s]", authority) or "xn--" in authority:
        return "a host that no name server knows; its path is put in order all the same"
    if re.search(r"[\t\n]", url):
        return "a control character in the authority"
    converts = row["conf"].get("urlnormalizer.basic.host.idn", "").lower() == "toascii"
    return "an emoji in a host has an ASCII form" if converts and not authority.isascii() else ""


def test_urls_become_what_nutch_makes_of_them(repository: Path) -> None:
    """Golden table normalizer-basic: every URL, but for at most 2 % by a named decision."""
    unexplained, count, different = [], 0, 0
    with gzip.open(repository / "tests/data/golden/normalizer-basic.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            count += 1
            got = _of(row).normalize(row["url"], Scope.DEFAULT)
            if got != row.get("result"):
                different += 1
                if not _difference(row):
                    unexplained.append((row, got))
    assert unexplained == []
    assert count > 1400
    assert different <= count * 0.02


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://WWW.Example.COM:80/a/../b/./c//d#top", "http://www.example.com/b/c/d"),
        ("http://example.com", "http://example.com/"),
        ("https://u:p@example.com:443/", "https://example.com/"),
        ("ftp://u:p@example.com/", "ftp://u:p@example.com/"),
        ("http://example.com/%7Euser/%c3%a9 x", "http://example.com/~user/%C3%A9%20x"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("mailto:a@b.c", None),
        ("", ""),
    ],
)
def test_examples(url: str, expected: str | None) -> None:
    """Case, port, dots, fragment, user and escapes are brought to one spelling."""
    assert _normalizer().normalize(url, Scope.DEFAULT) == expected


def test_idna2008_and_2003_differ() -> None:
    """The sharp s is a letter in IDNA2008 and two letters in IDNA2003."""
    url = "http://faß.de/"
    assert _normalizer(host_idn="toAscii").normalize(url, Scope.INJECT) == "http://fass.de/"
    newer = _normalizer(host_idn="toAscii", host_idna2008=True)
    assert newer.normalize(url, Scope.INJECT) == "http://xn--fa-hia.de/"


@given(st.text(max_size=60))
def test_normal_forms_are_stable(tail: str) -> None:
    """Normalising twice is normalising once, whatever stands in path and query."""
    normalizer = _normalizer()
    once = normalizer.normalize(f"http://example.com/{tail}", Scope.DEFAULT)
    assert once is not None
    assert normalizer.normalize(once, Scope.DEFAULT) == once


def test_fingerprint_tells_settings_apart() -> None:
    """Two normalisers that may give different answers have different fingerprints."""
    prints = {_normalizer(host_idn=one).fingerprint() for one in ("", "toAscii", "toUnicode")}
    assert len(prints) == 3
