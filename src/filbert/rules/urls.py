"""Facts about URLs: host, registered domain, hash, resolving, the representative of a redirect.

Guarantee: total functions: whatever the text, they answer and never raise. Links are resolved as
browsers resolve them (WHATWG URL standard, by ada); hosts and domains are those of Nutch's
`URLUtil` over the public suffix list, private suffixes ignored. Nothing asks the network.
Source: WHATWG URL; Nutch `URLUtil`; golden table `url-util`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from hashlib import md5
from typing import TYPE_CHECKING, NamedTuple

import ada_url

from filbert.rules.url_parts import KNOWN_SCHEMES, UrlParts, split

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Place",
    "choose_repr",
    "domain_of",
    "host_of",
    "host_segments",
    "is_same_domain",
    "place_of",
    "resolve",
    "scheme_of",
    "suffix_of",
    "url_hash",
]

_WEB = ("http://", "https://")
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9.+-]*):")
_PLAIN_HOST = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*://([a-z0-9._-]+)(?::\d{1,5})?(?=[/?#]|\Z)")
_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_CACHED_HOSTS = 65_536


class Place(NamedTuple):
    """Where a page lies: its host, lower case, and the registered domain of that host."""

    host: str
    domain: str


def url_hash(url: str) -> int:
    """Return the first 8 hex digits of the URL's MD5 as an unsigned number."""
    digest = md5(url.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big")


def scheme_of(url: str) -> str:
    """Return the scheme in lower case; empty if there is none."""
    if url.startswith(_WEB):
        return url.partition(":")[0]
    found = _SCHEME.match(url)
    return found[1].lower() if found else ""


def host_of(url: str) -> str:
    """Return the host in lower case, without user and port; empty if there is none."""
    if found := _PLAIN_HOST.match(url):
        return found[1]
    parts = split(url, KNOWN_SCHEMES | {scheme_of(url)})
    return "" if parts is None else parts.host.lower()


def domain_of(host: str) -> str:
    """Return the registered domain of a host; the host itself if it has none, as an address."""
    return _domain(host, _suffix_rules())


def place_of(url: str) -> Place:
    """Return host and registered domain of a URL."""
    host = host_of(url)
    return Place(host, domain_of(host))


def suffix_of(host: str) -> str:
    """Return the public suffix of a host, such as `co.uk`; empty if no rule knows it."""
    return _suffix_rules()(host.rstrip("."))[1]


def is_same_domain(url: str, other: str) -> bool:
    """Say whether two URLs lie in the same registered domain."""
    return place_of(url).domain == place_of(other).domain


def host_segments(host: str) -> list[str]:
    """Return the labels of a host; an address is one label."""
    if _IPV4.fullmatch(host):
        return [host]
    return _java_split(host, ".")


def resolve(base: str, href: str, schemes: frozenset[str] = KNOWN_SCHEMES) -> str | None:
    """Return `href` as an absolute URL, as a browser would; None if it is no URL of `schemes`."""
    try:
        target = ada_url.join_url(base, href)
    except (ValueError, UnicodeError):
        return None
    return target if scheme_of(target) in schemes else None


def choose_repr(src: str, dst: str, *, temporary: bool) -> str:
    """Return which end of a redirect stands for both.

    Different domains: the target. Permanent: the source only if it is a root. Temporary: the
    root; of two that are not, the shorter path on one host, or the host with fewer labels.
    Source: Nutch `URLUtil.chooseRepr`.
    """
    source, target = split(src), split(dst)
    if source is None or target is None or not is_same_domain(src, dst):
        return dst
    if not temporary:
        return src if _is_root(source) else dst
    if _is_root(source) != _is_root(target):
        return src if _is_root(source) else dst
    if source.host == target.host and not _is_root(source):
        ranks = [(len(_java_split(p.file, "/")), len(p.file)) for p in (source, target)]
    else:
        ranks = [(len(_java_split(p.host, ".")), 0) for p in (source, target)]
    return dst if ranks[1] < ranks[0] else src


def _is_root(parts: UrlParts) -> bool:
    return parts.file in {"", "/"}


def _java_split(text: str, separator: str) -> list[str]:
    """Split as Java does: empty pieces at the end are dropped, but an empty text is one piece."""
    pieces = text.split(separator)
    while pieces and not pieces[-1] and text:
        pieces.pop()
    return pieces


@lru_cache(maxsize=_CACHED_HOSTS)
def _domain(host: str, rules: Callable[[str], tuple[str, str]]) -> str:
    bare = host.rstrip(".").lower()
    if not bare or bare[0] == "." or ".." in bare or bare[-1] == "]":
        return bare
    return rules(bare)[0] or bare


@cache
def _suffix_rules() -> Callable[[str], tuple[str, str]]:
    """Return a function: host → (registered domain, suffix), by the list shipped in tldextract."""
    from tldextract import TLDExtract

    extract = TLDExtract(suffix_list_urls=(), cache_dir=None)

    def rules(host: str) -> tuple[str, str]:
        found = extract.extract_str(host)
        return found.top_domain_under_public_suffix, found.suffix

    return rules
