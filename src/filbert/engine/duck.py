"""DuckDB: the connection, views over files, files out of queries, errors in clear words.

Guarantee: a view shows TIMESTAMP columns as bigint epoch milliseconds and only the columns of its
schema; a written file has exactly the columns and types of its schema, and no half file outlives
an error. Errors of DuckDB leave this module as `EngineError` only.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from filbert.engine.base import ColumnStats, WrittenFile
from filbert.engine.functions import duckdb_statements
from filbert.errors import DataError, EngineError
from filbert.model.schemas import Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from filbert.engine.base import Files, WriteFiles
    from filbert.model.schemas import Column, TableSchema

__all__ = [
    "TYPES",
    "bind",
    "connect",
    "copy",
    "names_a_damaged_file",
    "no_rows",
    "parquet",
    "quoted",
    "translated",
]

TYPES = {
    Type.STRING: "varchar",
    Type.BINARY: "blob",
    Type.BOOLEAN: "boolean",
    Type.SMALLINT: "smallint",
    Type.INT: "integer",
    Type.BIGINT: "bigint",
    Type.FLOAT: "float",
    Type.DOUBLE: "double",
    Type.TIMESTAMP: "bigint",
    Type.STRING_MAP: "map(varchar, varchar)",
    Type.STRING_LISTS: "map(varchar, varchar[])",
    Type.STRING_LIST: "varchar[]",
}
"""What DuckDB calls a type; a time is epoch milliseconds, as the rules see it."""

_INTEGERS = frozenset({Type.SMALLINT, Type.INT, Type.BIGINT})
_FLOATS = frozenset({Type.FLOAT, Type.DOUBLE})
_INTERRUPTED = "Query interrupted"  # all that its Python side says after Ctrl-C
_PARQUET = re.compile(r"/[^\"']*?\.parquet")
_NO_SPACE = ("No space left on device", "max_temp_directory_size", "Disk quota exceeded")


def connect(*, memory_limit_mb: int, threads: int, spill_dir: Path) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB of its own in memory that spills to `spill_dir` and knows our functions.

    Raises:
        EngineError: The settings are beyond what the machine allows.
    """
    with translated("start", memory_limit_mb):
        connection = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": f"{memory_limit_mb}MiB",
                "threads": threads,
                "temp_directory": str(spill_dir),
                "preserve_insertion_order": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            },
        )
        connection.execute("set timezone = 'UTC'")
        connection.execute("set enable_progress_bar = false")
        for statement in duckdb_statements():
            connection.execute(statement)
    return connection


def bind(connection: duckdb.DuckDBPyConnection, name: str, files: Files) -> None:
    """Make `files` the view `name`."""
    connection.execute(f"create or replace temp view {_name(name)} as {_view(files)}")


def _view(files: Files) -> str:
    if not files.paths:
        return no_rows((column.name, TYPES[column.type]) for column in files.schema.columns)
    columns = ", ".join(_shown(column) for column in files.schema.columns)
    source = f"select {columns} from {parquet(files.paths)}"
    return f"select * from ({source}) where {files.where}" if files.where else source


def no_rows(columns: Iterable[tuple[str, str]]) -> str:
    """Return a SELECT of columns (name, SQL type) without rows."""
    empty = ", ".join(f"cast(null as {kind}) as {_name(name)}" for name, kind in columns)
    return f"select {empty} where false"


def parquet(paths: Iterable[str], *, filename: bool = False) -> str:
    """Return what stands behind FROM for these files; with their names, if so, as a column."""
    listed = ", ".join(quoted(path) for path in paths)
    named = "filename = true, " if filename else ""
    return f"read_parquet([{listed}], {named}hive_partitioning = false)"


def _shown(column: Column) -> str:
    name = _name(column.name)
    return f"epoch_ms({name}) as {name}" if column.type is Type.TIMESTAMP else name


def copy(connection: duckdb.DuckDBPyConnection, sql: str, target: WriteFiles) -> WrittenFile | None:
    """Write the rows of `sql` as one Parquet file; None if there are none.

    Raises:
        EngineError: A column that the schema requires would hold null.
    """
    target.directory.mkdir(parents=True, exist_ok=True)
    path = target.directory / f"{target.stem}-{uuid.uuid4().hex}.parquet"
    ordered = "true" if target.order_by else "false"
    try:
        connection.execute(f"set preserve_insertion_order = {ordered}")
        connection.execute(_copy_statement(sql, path, target))
        row = connection.fetchone()
        assert row is not None
        _, rows, size, _, statistics, *_ = row
        if rows == 0:
            path.unlink()
            return None
        _require(target.schema, statistics)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    stats = {name: _stats(target.schema[name], statistics) for name in target.schema.stats}
    return WrittenFile(path=path, rows=rows, size=size, stats=stats)


def _copy_statement(sql: str, path: Path, target: WriteFiles) -> str:
    columns = ", ".join(_written(column) for column in target.schema.columns)
    order = f" order by {target.order_by}" if target.order_by else ""
    codec = "snappy" if target.scratch else "zstd"
    groups = f", row_group_size {target.row_group_rows}" if target.row_group_rows else ""
    return (
        f"copy (select {columns} from (\n{sql}\n) as result{order}) to {quoted(str(path))}"
        f" (format parquet, compression {codec}, return_stats{groups})"
    )


def _written(column: Column) -> str:
    name = _name(column.name)
    if column.type is Type.TIMESTAMP:
        return f"make_timestamptz(cast({name} as bigint) * 1000) as {name}"
    return f"cast({name} as {TYPES[column.type]}) as {name}"


def _require(schema: TableSchema, statistics: Mapping[str, Mapping[str, str]]) -> None:
    for column in schema.columns:
        nulls = int(statistics[_name(column.name)].get("null_count", "0"))
        if nulls and not column.nullable:
            raise EngineError(f"{nulls} rows for {schema.name} have no {column.name}")


def _stats(column: Column, statistics: Mapping[str, Mapping[str, str]]) -> ColumnStats:
    found = statistics[_name(column.name)]
    nulls = int(found.get("null_count", "0"))
    if found.get("has_nan") == "true" or "min" not in found or "max" not in found:
        return ColumnStats(None, None, nulls)
    return ColumnStats(_value(column.type, found["min"]), _value(column.type, found["max"]), nulls)


def _value(kind: Type, text: str) -> str | int | float:
    """Return a bound as Delta's log wants it: numbers as numbers, times in ISO 8601."""
    if kind in _INTEGERS:
        return int(text)
    if kind in _FLOATS:
        return float(text)
    if kind is Type.TIMESTAMP:
        day, clock = text.removesuffix("+00").split(" ")
        seconds, _, fraction = clock.partition(".")
        return f"{day}T{seconds}.{fraction[:3]:0<3}Z"
    return text


@contextlib.contextmanager
def translated(what: str, memory_limit_mb: int) -> Iterator[None]:
    """Turn errors of DuckDB inside the block into `EngineError`; `what` names the query."""
    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise
    except duckdb.Error as error:
        text = str(error)
        if any(sign in text for sign in _NO_SPACE):
            raise _disk_full(what) from error
        if isinstance(error, duckdb.OutOfMemoryException):
            raise EngineError(
                f"the query {what} needs more than its {memory_limit_mb} MB of memory",
                hint="raise engine.memory_limit_mb, or give engine.spill_dir more room",
            ) from error
        if names_a_damaged_file(error):
            raise _damaged_file(text.splitlines()[0]) from error
        raise EngineError(f"the query {what} failed: {text}") from error
    except BrokenPipeError:  # who reads the answer went away; DuckDB has no pipe
        raise
    except OSError as error:
        raise _os_failure(what, error) from error


def _os_failure(what: str, error: OSError) -> EngineError:
    if error.errno == 28:
        return _disk_full(what)
    return EngineError(f"the query {what} failed: {error}")


def names_a_damaged_file(error: duckdb.Error) -> bool:
    """Say whether a Parquet file is missing, cut short or overwritten."""
    kinds = (duckdb.InvalidInputException, duckdb.IOException, duckdb.PermissionException)
    return isinstance(error, kinds) and ".parquet" in str(error).splitlines()[0]


def _damaged_file(reason: str) -> DataError:
    found = _PARQUET.search(reason)
    if found is not None and not Path(found[0]).exists():
        what = f"is missing: {found[0]}"
    else:
        what = f"is damaged: {reason}"
    return DataError(
        f"a file of the crawl folder {what}",
        hint="restore that file from a copy; nothing was changed",
    )


def _disk_full(what: str) -> EngineError:
    return EngineError(
        f"the disk is full: the query {what} could not write its result",
        hint="nothing was changed; make room and run the same command again",
    )


def quoted(text: str) -> str:
    """Return `text` as a SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
