"""What an engine is: two methods, and the values that go through them.

Guarantee: an engine writes files to a fresh place and commits nothing; only `store` commits. The
same query over the same files gives the same rows on every engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from filbert.model.schemas import TableSchema

__all__ = [
    "Collect",
    "ColumnStats",
    "Engine",
    "Files",
    "PageTask",
    "Part",
    "PartResult",
    "Query",
    "Target",
    "WriteFiles",
    "Written",
    "WrittenFile",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One complete SELECT over named views, in the SQL that all engines share."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The Parquet files behind a view, and what their columns are.

    Columns of type TIMESTAMP are bound as bigint epoch milliseconds. No paths: an empty view.
    `where` is a SQL predicate that narrows the view when it is bound, e.g. `bucket = 3`.
    """

    schema: TableSchema
    paths: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFiles:
    """Write the result as Parquet (zstd) into `directory`, file names beginning with `stem`.

    The query's columns must be the schema's, by name; bigint columns of type TIMESTAMP become
    UTC timestamps. `order_by` (SQL) orders the rows of the file. An empty result writes no file.
    `scratch`: the file lives no longer than the step; it is compressed less, and faster.
    """

    schema: TableSchema
    directory: Path
    stem: str
    order_by: str = ""
    row_group_rows: int | None = None
    scratch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Collect:
    """Give the result back as an Arrow table: for counts and small answers only."""


Target = WriteFiles | Collect


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Least and greatest value of a column in one file, and how many are null."""

    minimum: str | int | float | None
    maximum: str | int | float | None
    nulls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """One Parquet file that an engine or a page task wrote and nobody has committed yet."""

    path: Path
    rows: int
    size: int
    stats: Mapping[str, ColumnStats] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a query gave: files (WriteFiles) or a table (Collect)."""

    files: tuple[WrittenFile, ...] = ()
    table: pa.Table | None = None

    @property
    def rows(self) -> int:
        """Rows written to files."""
        return sum(file.rows for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One unit of page work: its number, and the value that tells the task what to do."""

    number: int
    payload: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """What came of a part: files by table name, and counters by name."""

    number: int
    files: Mapping[str, tuple[WrittenFile, ...]] = field(default_factory=dict)
    counters: Mapping[str, int] = field(default_factory=dict)
    payload: object = None


class PageTask(Protocol):
    """Page work: a picklable callable that does one part in a process of its own."""

    def __call__(self, part: Part) -> PartResult:
        """Do the part."""
        ...


class Engine(Protocol):
    """Where work runs: DuckDB and a process pool, or Spark."""

    def execute(self, query: Query, views: Mapping[str, Files], into: Target) -> Written:
        """Run relational work.

        Raises:
            EngineError: The engine ran out of memory or disk, or the query is broken.
        """
        ...

    def run(self, task: PageTask, parts: Sequence[Part]) -> Iterator[PartResult]:
        """Run page work, yielding results as parts end.

        Raises:
            EngineError: A worker died; says which part.
        """
        ...
