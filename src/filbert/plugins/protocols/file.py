"""The file protocol: documents and folders of this machine, in the words of HTTP.

200 a document, or a folder as an HTML listing; 304 not changed since `modified_time`; 401 not
readable; 404 missing; 300 the path is not canonical (a symlink, `..`, a folder without its slash).
Guarantee: `fetch` never raises for what the file system does; an entry of a folder that cannot be
looked at is listed all the same, and fails alone when it is fetched. There is no robots.txt.
Source: Nutch's protocol-file (`FileResponse`, `File`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from dataclasses import replace
from email.utils import formatdate
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.listing_page import SAFE_IN_PATH, ListedEntry, listing_page

if TYPE_CHECKING:
    from filbert.model.records import FetchRequest
    from filbert.settings import Settings
    from filbert.settings.file import FileSettings

__all__ = ["FileProtocol"]

_MOST_REDIRECTS = 5
_STATUSES = {
    200: ProtocolStatus.SUCCESS,
    300: ProtocolStatus.MOVED,
    304: ProtocolStatus.NOTMODIFIED,
    401: ProtocolStatus.ACCESS_DENIED,
    404: ProtocolStatus.NOTFOUND,
}


class FileProtocol:
    """Fetches file URLs. An async context manager, though it keeps nothing open."""

    name = "file"
    schemes = frozenset({"file"})
    robots = False

    def __init__(self, settings: FileSettings) -> None:
        self._settings = settings

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:  # noqa: ARG003 - the contract
        """Make the plugin."""
        return cls(settings.file)

    async def __aenter__(self) -> Self:
        """Open nothing."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close nothing."""

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        """Read one file or folder, in a thread: a disk may be slow."""
        start = time.monotonic()
        output = await asyncio.to_thread(self._answer, request)
        return replace(output, response_ms=round((time.monotonic() - start) * 1000))

    def _answer(self, request: FetchRequest) -> ProtocolOutput:
        parts = urlsplit(request.url)
        if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
            return _output(404, "not_here: only files of this machine can be read")
        raw = unquote_to_bytes(parts.path)
        if b"\0" in raw or not raw.startswith(b"/"):
            return _output(404, "malformed_url: no absolute path")
        try:
            return self._read(raw, request)
        except OSError as error:
            return _failed(error)

    def _read(self, raw: bytes, request: FetchRequest) -> ProtocolOutput:
        path = raw
        for _ in range(_MOST_REDIRECTS):
            canonical = _canonical(path)
            if canonical == path:
                break
            if self._settings.redirect_noncanonical:
                return replace(_output(300, ""), location=_url_of(canonical).encode())
            path = canonical
        plain = Path(os.fsdecode(path))
        status = plain.stat()
        modified_ms = int(status.st_mtime * 1000)
        if request.modified_time is not None and modified_ms <= request.modified_time:
            return replace(_output(304, ""), headers=_headers(status, None))
        limit = self._limit(request)
        if stat.S_ISDIR(status.st_mode):
            return _document(self._listing(path), status, "text/html; charset=utf-8", limit)
        if not stat.S_ISREG(status.st_mode):
            return _output(404, "no_document: neither a file nor a folder")
        with plain.open("rb") as file:
            body = file.read() if limit is None else file.read(limit + 1)
        return _document(body, status, guess_type(plain.name)[0], limit)

    def _limit(self, request: FetchRequest) -> int | None:
        limit = self._settings.content_limit
        if request.content_limit is not None:
            limit = request.content_limit
        return limit if limit >= 0 else None

    def _listing(self, path: bytes) -> bytes:
        """Return a folder as an HTML page, in the order of names."""
        with os.scandir(path) as entries:
            listed = [_listed(entry) for entry in sorted(entries, key=lambda one: one.name)]
        return listing_page(path, listed, parent=self._settings.crawl_parent and path != b"/")


def _canonical(path: bytes) -> bytes:
    """Return the path without symlinks and dots, with a slash behind a folder."""
    real = os.path.realpath(path, strict=True)
    return real + b"/" if real != b"/" and Path(os.fsdecode(real)).is_dir() else real


def _url_of(path: bytes) -> str:
    return "file://" + quote_from_bytes(path, safe=SAFE_IN_PATH)


def _listed(entry: os.DirEntry[bytes]) -> ListedEntry:
    """Return an entry's line; what cannot be learnt of it is blank."""
    is_folder = _is_folder(entry)
    date, size = "", ""
    with contextlib.suppress(OSError):  # no permission, or gone since the folder was read
        facts = entry.stat(follow_symlinks=False)
        date = _date(facts)
        size = "0" if is_folder else str(facts.st_size)
    return ListedEntry(name=entry.name, is_folder=is_folder, date=date, size=size)


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself, or where nobody may look
        return False


def _date(status: os.stat_result) -> str:
    """Return when a file was changed, in the words of HTTP; "" if no calendar has that year."""
    try:
        return formatdate(status.st_mtime, usegmt=True)
    except (ValueError, OverflowError, OSError):
        return ""


def _output(code: int, message: str) -> ProtocolOutput:
    return ProtocolOutput(status=_STATUSES[code], http_status=code, message=message)


def _failed(error: OSError) -> ProtocolOutput:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return _output(404, f"missing: {error.strerror}")
    if isinstance(error, PermissionError):
        return _output(401, f"unreadable: {error.strerror}")
    message = f"read_failed: {error.strerror}"
    return ProtocolOutput(status=ProtocolStatus.EXCEPTION, message=message)


def _headers(status: os.stat_result, content_type: str | None) -> tuple[tuple[str, str], ...]:
    date = _date(status)
    headers = [("Last-Modified", date)] if date else []
    if content_type is not None:
        headers.append(("Content-Type", content_type))
    return tuple(headers)


def _document(
    body: bytes, status: os.stat_result, content_type: str | None, limit: int | None
) -> ProtocolOutput:
    cut = limit is not None and len(body) > limit
    kept = body[:limit] if cut else body
    return replace(
        _output(200, ""),
        headers=_headers(status, content_type),
        raw_body=kept,
        body=kept,
        content_type=content_type,
        protocol="file",
        truncated="length" if cut else None,
    )
