"""Rows to Parquet files and back, for page work.

Guarantee: memory is bounded by rows and by bytes; a file has exactly the columns of its schema;
an error leaves no file behind. Times are epoch milliseconds on this side and UTC timestamps in the
files. Rows come back in the order in which they were written.
"""

from __future__ import annotations

import contextlib
import math
import uuid
from typing import TYPE_CHECKING, Any, Self

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from filbert.engine.base import ColumnStats, WrittenFile
from filbert.errors import DataError, EngineError
from filbert.model.clock import iso
from filbert.model.schemas import Type
from filbert.store import durable
from filbert.store.delta import arrow_schema, arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from filbert.engine.base import Files
    from filbert.model.schemas import Column, TableSchema

__all__ = ["ParquetSink", "read_rows"]

_FLUSH_ROWS = 10_000
_FLUSH_BYTES = 32 << 20
_MAPS = frozenset({Type.STRING_MAP, Type.STRING_LISTS})


class ParquetSink:
    """Writes rows into Parquet files (zstd); a context manager.

    Args:
        schema: Columns of the files.
        directory: Where they are written: a scratch folder.
        stem: Beginning of their names.
        max_rows: Rows after which the next file begins.
    """

    def __init__(
        self, schema: TableSchema, directory: Path, stem: str, *, max_rows: int = 1_000_000
    ) -> None:
        self._schema = schema
        self._directory = directory
        self._stem = stem
        self._max_rows = max_rows
        self._rows: list[Mapping[str, Any]] = []
        self._bytes = 0
        self._open: _OpenFile | None = None
        self._done: list[WrittenFile] = []

    @property
    def files(self) -> tuple[WrittenFile, ...]:
        """The files, in order; complete after the context is left."""
        return tuple(self._done)

    @property
    def rows(self) -> int:
        """Rows taken so far."""
        opened = self._open.rows if self._open else 0
        return sum(file.rows for file in self._done) + opened + len(self._rows)

    def __enter__(self) -> Self:
        self._directory.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            try:
                self._flush()
                self._close()
            except BaseException:
                self._abandon()
                raise
        else:
            self._abandon()

    def append(self, row: Mapping[str, Any]) -> None:
        """Take one row; a column that it does not name is null.

        Raises:
            EngineError: A required column is null.
            DataError: The disk is full.
        """
        self._rows.append(row)
        for value in row.values():
            if value.__class__ is str or value.__class__ is bytes:
                self._bytes += len(value)
        if len(self._rows) >= _FLUSH_ROWS or self._bytes >= _FLUSH_BYTES:
            self._flush()

    def extend(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take several rows."""
        for row in rows:
            self.append(row)

    def _flush(self) -> None:
        rows, self._rows, self._bytes = self._rows, [], 0
        while rows:
            with durable.room(f"writing {self._schema.name}"):
                self._open = self._open or _OpenFile(self._schema, self._next_path())
                space = self._max_rows - self._open.rows
                self._open.write(rows[:space])
            rows = rows[space:]
            if self._open.rows >= self._max_rows:
                self._close()

    def _next_path(self) -> Path:
        number = len(self._done)
        return self._directory / f"{self._stem}-{number:04d}-{uuid.uuid4().hex}.parquet"

    def _close(self) -> None:
        if self._open is not None:
            with durable.room(f"writing {self._schema.name}"):
                self._done.append(self._open.close())
            self._open = None

    def _abandon(self) -> None:
        if self._open is not None:
            with contextlib.suppress(OSError):
                self._open.close()
            self._open.path.unlink(missing_ok=True)
            self._open = None
        for file in self._done:
            file.path.unlink(missing_ok=True)
        self._done.clear()


class _OpenFile:
    """A Parquet file that is being written."""

    def __init__(self, schema: TableSchema, path: Path) -> None:
        self.path = path
        self.rows = 0
        self._schema = schema
        self._stats = {name: _Bounds() for name in schema.stats}
        self._writer = pq.ParquetWriter(path, arrow_schema(schema), compression="zstd")

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        unknown = {name for row in rows for name in row} - set(self._schema.names)
        assert not unknown, f"{self._schema.name} has no column {sorted(unknown)}"
        arrays = []
        for column in self._schema.columns:
            values = [row.get(column.name) for row in rows]
            if not column.nullable and any(value is None for value in values):
                raise EngineError(f"a row for {self._schema.name} has no {column.name}: {rows[0]}")
            array = _array(column, values)
            if column.name in self._stats:
                self._stats[column.name].take(array)
            arrays.append(array)
        batch = pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(self._schema))
        self._writer.write_batch(batch)
        self.rows += len(rows)

    def close(self) -> WrittenFile:
        self._writer.close()
        return WrittenFile(
            path=self.path,
            rows=self.rows,
            size=self.path.stat().st_size,
            stats={name: bounds.stats() for name, bounds in self._stats.items()},
        )


class _Bounds:
    """Least and greatest value of a column so far."""

    def __init__(self) -> None:
        self._low: Any = None
        self._high: Any = None
        self._nulls = 0
        self._nan = False

    def take(self, array: pa.Array) -> None:
        self._nulls += array.null_count
        if pa.types.is_timestamp(array.type):
            array = pc.divide(array.cast(pa.int64()), 1000)
            found = pc.min_max(array).as_py()
            found = {key: None if ms is None else iso(ms) for key, ms in found.items()}
        else:
            self._nan = self._nan or (
                pa.types.is_floating(array.type) and bool(pc.any(pc.is_nan(array)).as_py())
            )
            found = pc.min_max(array).as_py()
        if found["min"] is not None:
            self._low = found["min"] if self._low is None else min(self._low, found["min"])
            self._high = found["max"] if self._high is None else max(self._high, found["max"])

    def stats(self) -> ColumnStats:
        if self._nan or (isinstance(self._low, float) and not math.isfinite(self._low)):
            return ColumnStats(None, None, self._nulls)
        return ColumnStats(self._low, self._high, self._nulls)


def _array(column: Column, values: list[Any]) -> pa.Array:
    """Return the values as Arrow has them in files."""
    if column.type is Type.TIMESTAMP:
        micros = pc.multiply(pa.array(values, pa.int64()), 1000)
        return micros.cast(pa.timestamp("us", tz="UTC"))
    kind = arrow_type(column.type)
    if column.type in _MAPS:
        values = [None if value is None else list(value.items()) for value in values]
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        # Half a surrogate pair, as pages write it in character references: no UTF-8 can say it.
        return pa.array([_sayable(value) for value in values], kind)


def _sayable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, tuple):
        return tuple(_sayable(item) for item in value)
    if isinstance(value, list):
        return [_sayable(item) for item in value]
    return value


def read_rows(
    files: Files, columns: Sequence[str] | None = None, where: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `files`, in their order; times as epoch milliseconds, maps as dicts.

    Args:
        files: Which files, with their own predicate.
        columns: Which columns; None: all.
        where: A further SQL predicate over the schema's columns.

    Raises:
        DataError: A file is gone or damaged.
    """
    if not files.paths:
        return
    names = tuple(columns) if columns is not None else files.schema.names
    with contextlib.closing(duckdb.connect(":memory:", config={"threads": 1})) as connection:
        connection.execute("set timezone = 'UTC'")
        connection.execute("set enable_progress_bar = false")  # it would be written to stdout
        try:
            cursor = connection.execute(_select(files, names, where))
            while batch := cursor.fetchmany(1000):
                for row in batch:
                    yield dict(zip(names, row, strict=True))
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0]
            raise DataError(f"a file of {files.schema.name} cannot be read: {reason}") from error


def _select(files: Files, names: Sequence[str], where: str) -> str:
    shown = ", ".join(
        f'epoch_ms("{c.name}") as "{c.name}"' if c.type is Type.TIMESTAMP else f'"{c.name}"'
        for c in files.schema.columns
    )
    paths = ", ".join("'" + path.replace("'", "''") + "'" for path in files.paths)
    asked = ", ".join(f'"{name}"' for name in names)
    predicate = " and ".join(f"({text})" for text in (files.where, where) if text)
    source = f"select {shown} from read_parquet([{paths}], hive_partitioning = false)"
    return f"select {asked} from ({source})" + (f" where {predicate}" if predicate else "")
