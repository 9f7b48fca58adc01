"""A segment of old: a fetch list, and what its fetch left, record by record in step.

Guarantee: record i of `fetcher`, `content`, `parse_text` and `parse_data` are of one page. What
Nutch 0.6 wrote is told from what 0.7 did by the version of its records, and keeps its status.
Source: Nutch 0.7 `segment.SegmentReader`, `segment.SegmentWriter`, `fetcher.Fetcher.outputPage`.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from filbert.errors import UserError
from filbert.nutch.array_file import ArrayFile, ArrayFileWriter
from filbert.nutch.data import CorruptDataError, DataInput
from filbert.nutch.map_file import DATA, is_map_file
from filbert.nutch.parts import read_part
from filbert.nutch.sequence_writer import OLD, Form
from filbert.nutch.v07.fetched import Content, FetcherOutput, FetcherOutput06
from filbert.nutch.v07.page import FetchListEntry
from filbert.nutch.v07.parsed import ParseData, ParseData06, ParseText

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.nutch.damage import Damage
    from filbert.nutch.sequence_file import Record
    from filbert.nutch.writable import Writable

__all__ = [
    "Captured",
    "OldSegment",
    "OldSegmentWriter",
    "Span",
    "is_old_segment",
    "write_fetch_list",
]

_FORM = Form(version=OLD, checksums=False)
_OUTPUTS = (FetcherOutput.DIR_NAME, Content.DIR_NAME, ParseText.DIR_NAME, ParseData.DIR_NAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """One page of a fetch.

    Attributes:
        output: What became of it, as 0.7 reads it.
        content, text, data: None where a segment has not that part.
        old_status: The status that 0.6 wrote (`status.OLD_CODES`), which knows "can't parse"; None:
            0.7 wrote it.
    """

    output: FetcherOutput
    content: Content | None
    text: ParseText | None
    data: ParseData | None
    old_status: int | None = None

    def of_06(self) -> tuple[FetcherOutput06, ParseData06]:
        """Return output and data as 0.6 wrote them.

        Raises:
            UserError: 0.7 wrote them: that has statuses which 0.6 has not.
        """
        if self.old_status is None:
            raise UserError(f"{self.output.entry.page.url} was not fetched by Nutch 0.6")
        entry, md5, date = self.output.entry, self.output.md5, self.output.fetch_date
        data = self.data or ParseData()
        return (
            FetcherOutput06(entry=entry, md5=md5, status=self.old_status, fetch_date=date),
            ParseData06(title=data.title, outlinks=data.outlinks, metadata=data.metadata),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """How many pages a fetch has, and when the first and the last of them came, epoch ms."""

    count: int = 0
    started: int = 0
    finished: int = 0


def is_old_segment(path: Path) -> bool:
    """Say whether a folder is a segment of old."""
    names = (FetchListEntry.DIR_NAME, FetcherOutput.DIR_NAME, FetcherOutput.DIR_NAME_NP)
    return any(is_map_file(path / name) for name in names)


class OldSegment:
    """A reader.

    Args:
        path: The segment.
        damage: Takes what is left out of the fetch list; None: damage is an error. (Parts in step
            cannot leave out: a lost record would put one page's text to another.)
    """

    def __init__(self, path: Path, *, damage: Damage | None = None) -> None:
        self.path = path
        self._damage = damage

    def has(self, name: str) -> bool:
        """Say whether the segment has a part."""
        return is_map_file(self.path / name)

    @property
    def is_fetched(self) -> bool:
        """Whether it has what a fetch leaves."""
        return self._output_name() is not None

    @property
    def is_parsed(self) -> bool:
        """Whether its pages were parsed as they were fetched, or since."""
        return self.has(FetcherOutput.DIR_NAME)

    def span(self) -> Span:
        """Return how many pages it has, and when they came; zeros if it was not fetched."""
        name = self._output_name()
        if name is None:
            return Span()
        with ArrayFile(self.path / name) as file:
            last = file.final_key()
            if last is None:
                return Span()
            started, finished = (
                FetcherOutput.from_bytes(one or b"").fetch_date
                for one in (file.at(0), file.get(last))
            )
        count = DataInput(last.to_bytes()).read_long() + 1
        return Span(count=count, started=started, finished=finished)

    def fetch_list(self) -> Iterator[FetchListEntry]:
        """Yield the lines of the fetch list."""
        path = self.path / FetchListEntry.DIR_NAME / DATA
        return read_part(path, lambda _: _entry, damage=self._damage)

    def captures(self) -> Iterator[Captured]:
        """Yield the pages of the fetch.

        Raises:
            CorruptDataError: A part is shorter than another, or damaged.
        """
        name = self._output_name()
        if name is None:
            return
        with ExitStack() as stack:
            files: list[ArrayFile | None] = [
                stack.enter_context(ArrayFile(self.path / part)) if self.has(part) else None
                for part in (name, *_OUTPUTS[1:])
            ]
            number = 0
            while (values := self._next(files, number)) is not None:
                yield _captured(values)
                number += 1

    def _next(self, files: list[ArrayFile | None], number: int) -> list[bytes | None] | None:
        records = [None if file is None else file.next() for file in files]
        ended = [
            file
            for file, one in zip(files, records, strict=True)
            if file is not None and one is None
        ]
        if records[0] is None and len(ended) == sum(file is not None for file in files):
            return None
        if ended:
            raise CorruptDataError(
                f"{ended[0].path} has {number} records, and another part of the segment has more"
            )
        return [None if one is None else one.value for one in records]

    def _output_name(self) -> str | None:
        names = (FetcherOutput.DIR_NAME, FetcherOutput.DIR_NAME_NP)
        return next((name for name in names if self.has(name)), None)


def _entry(record: Record) -> FetchListEntry:
    return FetchListEntry.from_bytes(record.value)


def _captured(values: list[bytes | None]) -> Captured:
    output, content, text, data = values
    assert output is not None
    read = FetcherOutput.from_bytes(output)
    is_06 = DataInput(output).read_byte() < FetcherOutput.CUR_VERSION
    return Captured(
        output=read,
        content=None if content is None else Content.from_bytes(content),
        text=None if text is None else ParseText.from_bytes(text),
        data=None if data is None else ParseData.from_bytes(data),
        old_status=FetcherOutput06.from_bytes(output).status if is_06 else None,
    )


class OldSegmentWriter:
    """Writes what a fetch leaves. A context manager.

    Args:
        path: The segment; it has none of the four parts yet.

    Raises:
        UserError: A part is there already.
    """

    def __init__(self, path: Path) -> None:
        classes = ("FetcherOutput", "Content", "ParseText", "ParseData")
        self._stack = ExitStack()
        self._files = [
            self._stack.enter_context(ArrayFileWriter(path / name, value_class, _FORM))
            for name, value_class in zip(_OUTPUTS, classes, strict=True)
        ]

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the files."""
        self._stack.close()

    def output_page(
        self,
        output: FetcherOutput | FetcherOutput06,
        content: Content,
        text: ParseText,
        data: ParseData | ParseData06,
    ) -> None:
        """Write one page into the four parts (`outputPage`)."""
        records: tuple[Writable, ...] = (output, content, text, data)
        for file, record in zip(self._files, records, strict=True):
            file.add(record.to_bytes())


def write_fetch_list(path: Path, entries: Iterator[FetchListEntry]) -> int:
    """Write the fetch list of a new segment; return its length."""
    count = 0
    with ArrayFileWriter(path / FetchListEntry.DIR_NAME, "FetchListEntry", _FORM) as file:
        for entry in entries:
            count = file.add(entry.to_bytes()) + 1
    return count
