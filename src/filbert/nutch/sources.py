"""What a path of Nutch 1.x is: a whole crawl, or a part of one.

Guarantee: only looks; what it is, is judged by what lies in it, not by its name. What is not whole
is told.
Source: Nutch 1.22: `crawldb/current`, `linkdb/current`, `segments/<time>`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from filbert.errors import UserError
from filbert.nutch.data import CorruptDataError
from filbert.nutch.parts import part_files
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.v1.folders import CURRENT_NAME, RecordFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.nutch.damage import Damage
    from filbert.nutch.writable import Writable

__all__ = ["SEGMENT_PARTS", "Source", "has_part"]

SEGMENT_PARTS = (
    "crawl_generate",
    "crawl_fetch",
    "crawl_parse",
    "content",
    "parse_data",
    "parse_text",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A crawl of Nutch 1.x, or what there is of one.

    Attributes:
        crawldb, linkdb: Folders of parts; None: not there.
        segments: Folders of segments, oldest first.
        empty: Folders called crawldb or linkdb that hold nothing that counts: no `current`.
        damage: Takes what is left out; None: damage is an error.
    """

    crawldb: Path | None = None
    linkdb: Path | None = None
    segments: tuple[Path, ...] = ()
    empty: tuple[Path, ...] = ()
    damage: Damage | None = None

    @classmethod
    def find(cls, path: Path, *, damage: Damage | None = None) -> Self:
        """Find out what a path is.

        Raises:
            UserError: There is nothing of Nutch 1.x.
        """
        if not path.exists():
            raise UserError(f"there is no {path}")
        crawldb = _database(path, "crawldb", ".CrawlDatum")
        linkdb = _database(path, "linkdb", ".Inlinks")
        segments = tuple(_segments(path))
        if crawldb is None and linkdb is None and not segments:
            raise UserError(
                f"{path} is nothing of Nutch 1.x",
                hint="Name a crawl folder (with crawldb/ and segments/), or one of them.",
            )
        named = ((crawldb, path / "crawldb"), (linkdb, path / "linkdb"))
        return cls(
            crawldb=crawldb,
            linkdb=linkdb,
            segments=segments,
            empty=tuple(folder for found, folder in named if found is None and folder.is_dir()),
            damage=damage,
        )

    def records(self, folder: Path, cls: type[Writable]) -> RecordFolder:
        """Return a reader of a folder of parts."""
        return RecordFolder(folder, cls, damage=self.damage)


def has_part(segment: Path, name: str) -> bool:
    """Say whether a segment has a part."""
    return bool(part_files(segment / name))


def _database(path: Path, name: str, value_class: str) -> Path | None:
    """Return the folder of the parts of a crawldb or linkdb, at a path or in it."""
    below = path / name / CURRENT_NAME
    if part_files(below):
        return below
    if path.name in SEGMENT_PARTS:
        return None
    folders = (path, path / CURRENT_NAME)
    return next((one for one in folders if _value_class(one).endswith(value_class)), None)


def _segments(path: Path) -> Iterator[Path]:
    if _is_segment(path):
        yield path
        return
    for parent in (path, path / "segments"):
        if parent.is_dir():
            yield from (one for one in sorted(parent.iterdir()) if _is_segment(one))


def _is_segment(path: Path) -> bool:
    return path.is_dir() and any(has_part(path, name) for name in SEGMENT_PARTS)


def _value_class(folder: Path) -> str:
    """Return the class of the values of a folder of parts; empty if it is none."""
    for path in part_files(folder):
        try:
            with SequenceFile(path, verify=False) as file:
                return file.header.value_class
        except CorruptDataError:
            continue
    return ""
