"""The normaliser `basic`: one spelling of host, port, path and escapes.

Guarantee: gives what Nutch's `BasicURLNormalizer` gives (golden table `normalizer-basic`), None
where that says malformed; and is stable: a URL in normal form stays as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote

from filbert.rules.hosts_idn import to_ascii, to_unicode
from filbert.rules.url_parts import DEFAULT_PORTS, UrlParts, split

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.plugins.contracts import Scope
    from filbert.settings import Settings
    from filbert.settings.urls import UrlsSettings

__all__ = ["BasicNormalizer"]

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NO_HOST = re.compile(r"[\x00-\x1f\x7f/]")
_UNRESERVED = re.compile(r"%([46][1-9A-Fa-f]|[57][0-9Aa]|3[0-9]|2[DdEe]|5[Ff]|7[Ee])")
_LOWER_ESCAPE = re.compile(r"%(?:[0-9A-F][a-f]|[a-f][0-9A-Fa-f])")
_MUST_ESCAPE = re.compile(r"""[^\x21\x23-\x3b=\x3f-\x5a\x5c_\x61-\x7a~]|%(?![0-9A-F]{2})""")
_DOTS = re.compile(r"/[./]|\./")


class BasicNormalizer:
    """Escapes, case, default ports, dot segments, fragments."""

    name = "basic"

    def __init__(self, settings: UrlsSettings) -> None:
        self._idn = settings.host_idn
        self._idna2008 = settings.host_idna2008
        self._trim_dot = settings.host_trim_trailing_dot

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the normaliser; `folder` is not used."""
        del folder
        return cls(settings.urls)

    def fingerprint(self) -> str:
        """Return its version and its settings."""
        return f"1 {self._idn} {self._idna2008} {self._trim_dot}"

    def normalize(self, url: str, scope: Scope) -> str | None:
        """Return the URL in normal form, the same in every scope."""
        del scope
        if not url:
            return url
        text = url.strip(_JAVA_BLANKS)
        parts = split(text)
        if parts is None:
            return None
        if parts.scheme == "file":
            authority: str | None = parts.authority
        else:
            authority = self._authority(parts)
            if authority is None:
                return None
        file = _file(parts.file)
        changed = (
            file != parts.file
            or authority != parts.authority
            or (parts.fragment is not None and parts.scheme != "file")
            or not text.startswith(parts.scheme)
        )
        slashes = f"//{authority}" if authority else ""
        return f"{parts.scheme}:{slashes}{file}" if changed else text

    def _authority(self, parts: UrlParts) -> str | None:
        host = self._host(parts.host)
        if host is None:
            return None
        port = "" if parts.port in {-1, DEFAULT_PORTS[parts.scheme]} else f":{parts.port}"
        user = f"{parts.userinfo}@" if parts.scheme == "ftp" and parts.userinfo else ""
        return f"{user}{host}{port}"

    def _host(self, host: str) -> str | None:
        if "%" in host:
            if _BAD_ESCAPE.search(host):
                return None
            host = unquote(host, errors="replace")
            if _NO_HOST.search(host):
                return None
        host = host.lower()
        if self._idn == "toAscii":
            ascii_host = to_ascii(host, idna2008=self._idna2008)
            if ascii_host is None:
                return None
            host = ascii_host
        elif self._idn == "toUnicode":
            host = to_unicode(host, idna2008=self._idna2008)
        return host[:-1] if self._trim_dot and host.endswith(".") else host


_JAVA_BLANKS = "".join(map(chr, range(0x21)))


def _file(file: str) -> str:
    """Return path and query in normal form; a path that had to be rooted keeps its dots."""
    if not file.startswith("/"):
        return _escaped(f"/{file}")
    file = _escaped(file)
    return _without_dots(file) if _DOTS.search(file) and "\\" not in file else file


def _escaped(file: str) -> str:
    """Decode what needs no escape, spell the other escapes in capitals, escape what needs it."""
    if "%" in file:
        file = _UNRESERVED.sub(lambda found: chr(int(found[1], 16)), file)
        file = _LOWER_ESCAPE.sub(lambda found: found[0].upper(), file)
    return _MUST_ESCAPE.sub(_escape, file)


def _escape(found: re.Match[str]) -> str:
    raw = found[0].encode("utf-8", "replace")
    return "".join(f"%{byte:02X}" for byte in raw)


def _without_dots(file: str) -> str:
    path, mark, query = file.partition("?")
    if mark and path == "/..":
        return file
    return _collapsed(path) + mark + query


def _collapsed(path: str) -> str:
    """Return the path without `.`, `..` and empty segments, as `java.net.URI.normalize`."""
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment not in {"", "."}:
            kept.append(segment)
    tail = "/" if segments[-1] in {"", ".", ".."} and kept else ""
    return "/" + "/".join(kept) + tail
