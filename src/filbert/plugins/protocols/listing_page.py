"""A folder as an HTML page of links: what `file:` and `ftp:` give for one.

Guarantee: each entry is one link that leads to it, whatever bytes its name holds.
Source: Nutch's `FileResponse.list2html`, `FtpResponse.list2html`.
"""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["SAFE_IN_PATH", "ListedEntry", "listing_page"]

SAFE_IN_PATH = b"/~!$&'()*+,;=:@"
"""Reserved in a path of RFC 3986 but harmless in it; everything else is escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEntry:
    """One line: a name, whether it is a folder, and what is known of it, in words."""

    name: bytes
    is_folder: bool
    date: str = ""
    size: str = ""


def listing_page(path: bytes, entries: Iterable[ListedEntry], *, parent: bool) -> bytes:
    """Return the page of a folder.

    Args:
        path: The folder's, as bytes of the file system.
        entries: In the order of the page.
        parent: Link to the folder above.
    """
    title = html.escape(os.fsdecode(path), quote=True).encode("utf-8", "surrogateescape")
    rows = [b"<tr><td><a href='../'>..</a></td></tr>\n"] if parent else []
    rows.extend(map(_row, entries))
    return (
        b"<html><head><title>Index of %s</title></head>\n<body><h1>Index of %s</h1>\n<table>\n"
        b"%s</table>\n</body></html>\n" % (title, title, b"".join(rows))
    )


def _row(entry: ListedEntry) -> bytes:
    slash = b"/" if entry.is_folder else b""
    href = html.escape(quote_from_bytes(entry.name, safe=SAFE_IN_PATH)).encode() + slash
    name = html.escape(os.fsdecode(entry.name)).encode("utf-8", "surrogateescape") + slash
    return b"<tr><td><a href='./%s'>%s</a></td><td>%s</td><td>%s</td></tr>\n" % (
        href,
        name,
        entry.date.encode(),
        entry.size.encode(),
    )
