"""Our schemas and statistics in the words of Delta Lake's log.

Guarantee: pure translation, no I/O. A bound that cannot be said exactly is left out or widened,
never wrong: a file is at worst read in vain. All columns are nullable to other readers; what is
required is kept by the writers.
Source: the Delta transaction log protocol, "Per-file Statistics" and "Schema Serialization".
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import Schema
from deltalake.transaction import AddAction

from filbert.model.clock import iso
from filbert.model.schemas import Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from filbert.engine.base import ColumnStats, WrittenFile
    from filbert.model.schemas import TableSchema

__all__ = ["add_action", "arrow_schema", "arrow_type", "delta_schema"]

_ARROW = {
    Type.STRING: pa.string(),
    Type.BINARY: pa.binary(),
    Type.BOOLEAN: pa.bool_(),
    Type.SMALLINT: pa.int16(),
    Type.INT: pa.int32(),
    Type.BIGINT: pa.int64(),
    Type.FLOAT: pa.float32(),
    Type.DOUBLE: pa.float64(),
    Type.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    Type.STRING_MAP: pa.map_(pa.string(), pa.string()),
    Type.STRING_LISTS: pa.map_(pa.string(), pa.list_(pa.string())),
    Type.STRING_LIST: pa.list_(pa.string()),
}
# Sorts after every text that begins with what precedes it (Delta writers agree on it).
_GREATEST = "\U0010ffff"
_LONGEST = 64


@lru_cache(maxsize=64)
def arrow_schema(schema: TableSchema) -> pa.Schema:
    """Return the Arrow schema of a table's files."""
    return pa.schema([pa.field(column.name, _ARROW[column.type]) for column in schema.columns])


def arrow_type(kind: Type) -> pa.DataType:
    """Return the Arrow type of a column type in files."""
    return _ARROW[kind]


def delta_schema(schema: TableSchema) -> Schema:
    """Return the schema as Delta's log says it."""
    return Schema.from_arrow(arrow_schema(schema))


def add_action(schema: TableSchema, name: str, file: WrittenFile, now_ms: int) -> AddAction:
    """Return the log's line for a file that lies in the table's folder as `name`."""
    return AddAction(
        path=name,
        size=file.size,
        partition_values={},
        modification_time=now_ms,
        data_change=True,
        stats=_stats(schema, file.rows, file.stats),
    )


def _stats(schema: TableSchema, rows: int, stats: Mapping[str, ColumnStats]) -> str:
    least: dict[str, str | float] = {}
    greatest: dict[str, str | float] = {}
    nulls: dict[str, int] = {}
    for name in schema.stats:
        found = stats.get(name)
        if found is None:
            continue
        nulls[name] = found.nulls
        low, high = _value(schema, name, found.minimum), _value(schema, name, found.maximum)
        if low is not None and high is not None:
            least[name], greatest[name] = _shorter(low), _shorter(high, end=_GREATEST)
    return json.dumps(
        {"numRecords": rows, "minValues": least, "maxValues": greatest, "nullCount": nulls}
    )


def _value(schema: TableSchema, name: str, value: str | float | None) -> str | float | None:
    """Return a bound as JSON says it: times as ISO text, whether they come so or as epoch ms."""
    if value is None or isinstance(value, str):
        return value
    if schema[name].type is Type.TIMESTAMP:
        return iso(int(value))
    return value if math.isfinite(value) else None


def _shorter(value: str | float, end: str = "") -> str | float:
    if isinstance(value, str) and len(value) > _LONGEST:
        return value[:_LONGEST] + end
    return value
