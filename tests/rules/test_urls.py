"""URL facts beside Nutch's URLUtil and java.net.URL."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import ada_url
import pytest

from filbert.rules.url_parts import join, split
from filbert.rules.urls import (
    Place,
    choose_repr,
    domain_of,
    host_of,
    host_segments,
    is_same_domain,
    place_of,
    resolve,
    scheme_of,
    suffix_of,
    url_hash,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Row = dict[str, Any]


@pytest.fixture(scope="module")
def table(repository: Path) -> list[Row]:
    """Golden table `url-util`."""
    with gzip.open(repository / "tests/data/golden/url-util.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def _parts(url: str) -> Row | None:
    parts = split(url)
    if parts is None:
        return None
    return {
        "protocol": parts.scheme,
        "userinfo": parts.userinfo,
        "host": parts.host,
        "port": parts.port,
        "path": parts.path,
        "query": parts.query,
        "ref": parts.fragment,
        "file": parts.file,
        "authority": parts.authority,
        "string": join(parts),
    }


def _of_url(fact: Callable[[str], object]) -> Callable[[str], object]:
    return lambda url: fact(url) if split(url) else None


FUNCTIONS: dict[str, Callable[..., object]] = {
    "java.net.URL": _parts,
    "URLUtil.chooseRepr": lambda a, b, temporary: choose_repr(a, b, temporary=temporary),
    "URLUtil.getHost": _of_url(host_of),
    "URLUtil.getProtocol": _of_url(scheme_of),
    "URLUtil.getHostSegments": lambda url: host_segments(p.host) if (p := split(url)) else None,
    "URLUtil.getDomainName": _of_url(lambda url: place_of(url).domain),
    "URLUtil.getDomainSuffix": _of_url(lambda url: suffix_of(host_of(url)) or None),
    "URLUtil.isSameDomainName": lambda a, b: (
        is_same_domain(a, b) if split(a) and split(b) else None
    ),
    "URLUtil.resolveURL": resolve,
}
NOT_BUILT = {
    "TableUtil.reverseUrl": "no table here has reversed URLs as keys",
    "TableUtil.unreverseUrl": "the same",
    "TableUtil.reverseHost": "the same",
    "TableUtil.getReversedHost": "the same",
    "URLUtil.toASCII": "hosts are converted by the normaliser (normalizer-basic)",
    "URLUtil.toUNICODE": "the same",
    "URLUtil.getTopLevelDomainName": "hosts are grouped by suffix, domain or host",
    "URLUtil.isHomePageOf": "only Nutch's hostdb asks it",
    "URLUtil.getPage": "nobody asks it",
    "StringUtil.cleanField": "the index accepts U+FFFD",
}


def _difference(row: Row, got: object) -> str:
    """Name why we differ, by a predicate on the inputs; empty if there is no reason."""
    url, expected = str(row["args"][0]), row.get("result")
    host = host_of(url)
    if url.startswith("jar:"):
        return "jar: is no scheme that pages have"
    if row["function"] == "URLUtil.getDomainSuffix":
        rule = isinstance(expected, str) and expected[:1] in "*!"
        return "Nutch gives the rule, not the suffix" if rule else _spelling(url)
    if row["function"] == "URLUtil.getDomainName":
        return _odd_host(host)
    return _resolving(url, str(row["args"][1]), got, expected)


def _odd_host(host: str) -> str:
    if "\u3002" in host:
        return "an ideographic full stop parts labels, as in browsers"
    if host.startswith("."):
        return "a host that begins with a dot is no host: it stays"
    return "a label of over 63 letters" if max(map(len, host.split("."))) > 63 else ""


def _spelling(url: str) -> str:
    host = split(url)
    assert host is not None
    if not host.host.islower() or not host.host.isascii():
        return "Nutch's suffix look-up knows lower-case ASCII hosts only"
    return "a leading dot" if host.host.startswith(".") else ""


def _resolving(base: str, href: str, got: object, expected: object) -> str:
    def browser(url: object) -> str | None:
        try:
            return str(ada_url.normalize_url(str(url)))
        except ValueError:
            return None

    if got is not None and browser(expected) == got:
        return "one URL, spelled as browsers spell it"
    if got is None and browser(expected) is None:
        return "no URL to a browser"
    if "\\" in href or "\t" in href or "\n" in href or "|" in href:
        return "browsers turn backslashes into slashes and drop tabs and line ends"
    if href.startswith(("//", "http:", "https:")):
        return "browsers read an authority after any number of slashes"
    if base.startswith("file:") or href.startswith("file:"):
        return "file URLs of browsers have an empty host and a drive"
    return ""


def test_facts_are_those_of_nutch(table: list[Row]) -> None:
    """URL parts, hosts, domains, segments and representatives are Nutch's, but by decision."""
    unexplained, reasons, seen = [], Counter[str](), Counter[str]()
    for row in table:
        function = row["function"]
        if function in NOT_BUILT:
            continue
        seen[function] += 1
        got = FUNCTIONS[function](*row["args"])
        if got != row.get("result"):
            reason = _difference(row, got)
            reasons[f"{function}: {reason}"] += 1
            if not reason:
                unexplained.append((row, got))
    assert unexplained == []
    assert set(seen) == set(FUNCTIONS)
    different = Counter[str]()
    for reason, count in reasons.items():
        different[reason.partition(":")[0]] += count
    assert different["java.net.URL"] <= 1
    assert different["URLUtil.chooseRepr"] == 0
    assert different["URLUtil.getDomainName"] <= 7


@pytest.mark.parametrize("url", ["http://example.org/", "http://example.com/é", ""])
def test_url_hash_is_the_head_of_the_md5(url: str) -> None:
    """The hash is the first 8 hex digits of the MD5, as the engine function says it in SQL."""
    assert f"{url_hash(url):08x}" == hashlib.md5(url.encode()).hexdigest()[:8]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.example.co.uk/", Place("www.example.co.uk", "example.co.uk")),
        ("https://U:p@WWW.Example.org:8443/x", Place("www.example.org", "example.org")),
        ("http://user.blogspot.com/", Place("user.blogspot.com", "blogspot.com")),
        ("http://127.0.0.1:8080/", Place("127.0.0.1", "127.0.0.1")),
        ("http://[::1]:80/", Place("[::1]", "[::1]")),
        ("http://localhost/", Place("localhost", "localhost")),
        ("http://com/", Place("com", "com")),
        ("foo://host/x", Place("host", "host")),
        ("file:/x", Place("", "")),
        ("nonsense", Place("", "")),
    ],
)
def test_place(url: str, expected: Place) -> None:
    """The place of a URL is its lower-case host and the domain somebody registered."""
    assert place_of(url) == expected


def test_domains_ignore_private_suffixes() -> None:
    """A private suffix such as github.io is a domain like any other, as in Nutch."""
    assert domain_of("somebody.github.io") == "github.io"


@pytest.mark.parametrize("href", ["mailto:a@b.c", "javascript:void(0)", "data:,x", "http://[", ""])
def test_resolve_gives_pages_only(href: str) -> None:
    """A link that leads to no page is None, an empty one leads to the page itself."""
    expected = "http://a.com/x" if href == "" else None
    assert resolve("http://a.com/x", href) == expected


def test_resolve_keeps_a_query_on_the_page() -> None:
    """`?x` keeps the last segment of the path (RFC 3986; Nutch's fixPureQueryTargets)."""
    assert resolve("http://a.com/d/p.html?y", "?x") == "http://a.com/d/p.html?x"


@pytest.mark.parametrize(
    ("digits", "port"),
    [("0" * 5000 + "8080", 8080), ("9" * 5000, None), ("2147483647", 2**31 - 1)],
)
def test_a_port_may_have_any_number_of_digits(digits: str, port: int | None) -> None:
    """One that no int holds makes the URL none, as in Java; nothing is raised."""
    parts = split(f"http://a.com:{digits}/")
    assert (parts.port if parts else None) == port
