"""The index filter `more`: dates, length, media type, and a title from the file name.

Guarantee: `date` is always there: the Last-Modified date, else when the page last changed, else
when it was fetched. `type` is the detected media type, then its two halves (unless
`index.more_mime_type_parts` is off); what is no media type gives none.
Source: Nutch `MoreIndexingFilter`; golden table `indexing`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from filbert.plugins.index_filters.dates import parse_date
from filbert.rules.url_parts import split

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.records import Document
    from filbert.plugins.contracts import IndexInput
    from filbert.settings import Settings

__all__ = ["MoreIndexFilter"]

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_FILE_NAMES = (
    re.compile(r"\bfilename=['\"](.+)['\"]"),
    re.compile(r"\bfilename=(\S+)\b"),
)
_UNKNOWN = "application/octet-stream"
_OFFICE = "application/vnd.openxmlformats-officedocument."
_BY_ENDING = {  # for a page that came without a type
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
    "txt": "text/plain",
    "xml": "application/xml",
    "json": "application/json",
    "csv": "text/csv",
    "pdf": "application/pdf",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "docx": f"{_OFFICE}wordprocessingml.document",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "pptx": f"{_OFFICE}presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text",
    "zip": "application/zip",
    "gz": "application/gzip",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "svg": "image/svg+xml",
}


class MoreIndexFilter:
    """Adds lastModified, date, contentLength, type, and a title where there is none."""

    name = "more"

    def __init__(self, *, type_parts: bool) -> None:
        self._type_parts = type_parts

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter from `index.more_mime_type_parts`."""
        del folder  # it has no rule file
        return cls(type_parts=settings.index.more_mime_type_parts)

    def filter(self, document: Document, page: IndexInput) -> Document | None:
        """Return the document with its fields."""
        fields: dict[str, tuple[str | int | float, ...]] = dict(document.fields)
        fields.update(_dates(page))
        if length := (_metadata(page, "Content-Length") or "").strip():
            fields["contentLength"] = (length,)
        if media_type := _media_type(page):
            parts = media_type.split("/") if self._type_parts else []
            fields["type"] = (media_type, *parts)
        file_name = _file_name(_metadata(page, "Content-Disposition") or "")
        if file_name and "title" not in fields:
            fields["title"] = (file_name,)
        return replace(document, fields=fields)


def _metadata(page: IndexInput, name: str) -> str | None:
    """Return the first value of a name: the parser's, else the reply's, in any case."""
    for metadata in (page.parse_metadata, page.content_metadata):
        values = metadata.get(name) or metadata.get(name.lower())
        if values:
            return values[0]
    return None


def _dates(page: IndexInput) -> dict[str, tuple[int]]:
    header = _metadata(page, "Last-Modified")
    time = parse_date(header) if header is not None else None
    if time is None:
        return {"date": (page.modified_time or page.fetch_time,)}
    # Nutch's -1 means "none", and it shows no time before 1970 as lastModified.
    return {"date": (time,)} if time < 0 else {"lastModified": (time,), "date": (time,)}


def _media_type(page: IndexInput) -> str:
    declared = page.content_type
    if declared is None:
        declared = _metadata(page, "Content-Type")
    if declared is None:
        return _type_of_name(page.url)
    media_type = declared.partition(";")[0].strip().lower()
    return media_type if _MEDIA_TYPE.fullmatch(media_type) else ""


def _type_of_name(url: str) -> str:
    parts = split(url)
    name = parts.path.rpartition("/")[2] if parts else ""
    return _BY_ENDING.get(name.rpartition(".")[2].lower(), _UNKNOWN)


def _file_name(disposition: str) -> str:
    for pattern in _FILE_NAMES:
        found = pattern.search(disposition)
        if found:
            return found[1]
    return ""
