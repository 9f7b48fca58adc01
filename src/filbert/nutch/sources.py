"""What a path of Nutch 1.x is: a whole crawl, or a part of one.

Guarantee: only looks; what it is, is judged by what lies in it, not by its name.
Source: Nutch 1.22: `crawldb/current`, `linkdb/current`, `segments/<time>`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from filbert.errors import UserError
from filbert.nutch.parts import part_files, records
from filbert.nutch.sequence_file import SequenceFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.nutch.sequence_file import Record, Skipped

__all__ = ["SEGMENT_PARTS", "Source"]

SEGMENT_PARTS = (
    "crawl_generate",
    "crawl_fetch",
    "crawl_parse",
    "content",
    "parse_data",
    "parse_text",
)
_CURRENT = "current"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A crawl of Nutch 1.x, or what there is of one.

    Attributes:
        crawldb, linkdb: Folders of parts; None: not there.
        segments: Folders of segments, oldest first.
        skip_bad: Go on behind damage.
        skipped: What was left out.
    """

    crawldb: Path | None = None
    linkdb: Path | None = None
    segments: tuple[Path, ...] = ()
    skip_bad: bool = False
    skipped: list[Skipped] = field(default_factory=list)

    @classmethod
    def find(cls, path: Path, *, skip_bad: bool = False) -> Self:
        """Find out what a path is.

        Raises:
            UserError: There is nothing of Nutch 1.x.
        """
        if not path.exists():
            raise UserError(f"there is no {path}")
        crawldb, linkdb = None, None
        for folder in (
            path,
            path / _CURRENT,
            *(path / n / _CURRENT for n in ("crawldb", "linkdb")),
        ):
            held = _value_class(folder)
            crawldb = folder if held.endswith(".CrawlDatum") else crawldb
            linkdb = folder if held.endswith(".Inlinks") else linkdb
        segments = tuple(_segments(path))
        if crawldb is None and linkdb is None and not segments:
            raise UserError(
                f"{path} is nothing of Nutch 1.x",
                hint="Name a crawl folder (with crawldb/ and segments/), or one of them.",
            )
        return cls(crawldb=crawldb, linkdb=linkdb, segments=segments, skip_bad=skip_bad)

    def records(self, folder: Path) -> Iterator[Record]:
        """Yield the records of a folder of parts."""
        return records(folder, skip_bad=self.skip_bad, skipped=self.skipped)

    def is_parsed(self, segment: Path) -> bool:
        """Say whether a segment was parsed."""
        return bool(part_files(segment / "parse_data"))


def _segments(path: Path) -> Iterator[Path]:
    if _is_segment(path):
        yield path
        return
    for parent in (path, path / "segments"):
        if parent.is_dir():
            yield from (one for one in sorted(parent.iterdir()) if _is_segment(one))


def _is_segment(path: Path) -> bool:
    return path.is_dir() and any(part_files(path / name) for name in SEGMENT_PARTS)


def _value_class(folder: Path) -> str:
    """Return the class of the values of a folder of parts; empty if it is none."""
    for path in part_files(folder):
        if _begins_well(path):
            with SequenceFile(path, verify=False) as file:
                return file.header.value_class
    return ""


def _begins_well(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(3) == b"SEQ"
