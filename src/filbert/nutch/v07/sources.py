"""What a path of Nutch 0.6 or 0.7 is: a crawl (`db`, `segments`), a web database, segments.

Guarantee: only looks.
Source: Nutch 0.7 `tools.CrawlTool`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from filbert.nutch.v07.segment import is_old_segment
from filbert.nutch.v07.webdb import is_webdb

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["OldSource"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OldSource:
    """What there is.

    Attributes:
        webdb: The folder of a web database; None: there is none.
        segments: Folders of segments, oldest first.
        empty: A folder called db that is no web database.
    """

    webdb: Path | None = None
    segments: tuple[Path, ...] = ()
    empty: tuple[Path, ...] = ()

    @classmethod
    def find(cls, path: Path) -> Self | None:
        """Return what a path is; None: nothing of Nutch 0.6 or 0.7."""
        webdb = next((folder for folder in (path, path / "db") if is_webdb(folder)), None)
        segments: tuple[Path, ...] = (path,) if is_old_segment(path) else ()
        for parent in (path, path / "segments"):
            if parent.is_dir() and not segments:
                segments = tuple(one for one in sorted(parent.iterdir()) if is_old_segment(one))
        if webdb is None and not segments:
            return None
        empty = (path / "db",) if webdb is None and (path / "db").is_dir() else ()
        return cls(webdb=webdb, segments=segments, empty=empty)
