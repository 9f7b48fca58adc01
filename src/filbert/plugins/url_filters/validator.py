"""The filter `validator`: only URLs that keep to the letter of RFC 1738 and 2396.

Guarantee: printable ASCII, a host of two labels or an IPv4 address, a plain path, no more `..`
than slashes. Source: Nutch `UrlValidator`; golden table `url-filters`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self

from filbert.model.records import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.settings import Settings

__all__ = ["UrlValidator"]

# RFC 3986, appendix B.
_URL = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_SCHEME = re.compile(r"[A-Za-z]+")
_AUTHORITY = re.compile(r"([A-Za-z0-9.-]*)(:\d*)?(.*)", re.DOTALL)
_IPV4 = re.compile(r"(\d{1,3})[.](\d{1,3})[.](\d{1,3})[.](\d{1,3})")
_PORT = re.compile(r":(\d{1,5})")
_PATH = re.compile(r"(?:/[-\w:@&?=+,.!/~*'%$_;()]*)?", re.ASCII)


class UrlValidator:
    """Keeps URLs that are valid."""

    name = "validator"

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter; it has no settings."""
        del settings, folder
        return cls()

    def fingerprint(self) -> str:
        """Return its version."""
        return "1"

    def judge(self, url: str) -> Verdict:
        """Return whether the URL is valid, and what is wrong with it."""
        fault = _fault(url)
        return Verdict(accepted=not fault, reason="validator", rule=fault)


def _fault(url: str) -> str:
    """Return what is wrong with the URL; empty if nothing is."""
    if not _PRINTABLE.fullmatch(url):
        return "a character is not printable ASCII"
    found = _URL.fullmatch(url)
    assert found is not None
    scheme, authority, path, _, _ = found.groups()
    if not scheme or not _SCHEME.fullmatch(scheme):
        return "the scheme is not made of letters"
    return _authority_fault(authority or "") or _path_fault(path)


def _authority_fault(authority: str) -> str:
    found = _AUTHORITY.fullmatch(authority)
    assert found is not None
    host, port, extra = found.groups()
    if extra.strip():
        return "the authority has other signs than a host has"
    if port and not _PORT.fullmatch(port):
        return "the port has not 1 to 5 digits"
    if octets := _IPV4.fullmatch(host):
        return "" if all(0 <= int(octet) <= 255 for octet in octets.groups()) else "no IPv4 address"
    labels = host.split(".")
    if len(labels) < 2 or "" in labels:
        return "the host has one label, or an empty one"
    top = labels[-1]
    if len(top) < 2 or not top[0].isalpha():
        return "the last label is no top-level domain"
    return ""


def _path_fault(path: str) -> str:
    if not _PATH.fullmatch(path):
        return "the path has a sign that is not allowed"
    slashes, doubles, dots = _count("/", path), _count("//", path), _count("..", path)
    if dots > 0 and slashes - doubles - 1 <= dots:
        return "the path leaves the root"
    return ""


def _count(token: str, text: str) -> int:
    """Count occurrences that may overlap, as Nutch counts them."""
    count, at = 0, text.find(token)
    while at >= 0:
        count += 1
        at = text.find(token, at + 1)
    return count
