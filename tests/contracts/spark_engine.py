"""A test double of the Spark engine: the same `execute`, on local[2].

Guarantee: binds and writes as the local engine does (TIMESTAMP columns are bigint epoch
milliseconds in SQL), so that a query's rows can be held beside DuckDB's.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Self

import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own habit
from pyspark.sql.types import StructType

from filbert.engine.base import Collect, Files, Query, Target, WriteFiles, Written, WrittenFile
from filbert.engine.functions import spark_statements
from filbert.model.schemas import TableSchema, Type

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class SparkEngine:
    """Runs queries on a Spark of its own. A context manager."""

    def __init__(self, folder: Path) -> None:
        self._spark: Any = (
            SparkSession.builder.master("local[2]")
            .appName("filbert contracts")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.mapKeyDedupPolicy", "LAST_WIN")
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
            .config("spark.driver.memory", "1g")
            .getOrCreate()
        )
        self._spark.sparkContext.setLogLevel("ERROR")
        for statement in spark_statements():
            self._spark.sql(statement)

    def __enter__(self) -> Self:
        """Return the engine."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Stop Spark."""
        self._spark.stop()

    def execute(self, query: Query, views: Mapping[str, Files], into: Target) -> Written:
        """Run a query over `views`."""
        for name, files in views.items():
            self._bind(name, files)
        frame = self._spark.sql(query.sql)
        if isinstance(into, Collect):
            return Written(table=frame.toArrow())
        return self._write(frame, into)

    def _bind(self, name: str, files: Files) -> None:
        if not files.paths:
            fields = ", ".join(f"`{c.name}` {_sql_type(c.type)}" for c in files.schema.columns)
            frame = self._spark.createDataFrame([], StructType.fromDDL(fields))
        else:
            frame = self._spark.read.parquet(*files.paths)
        frame = frame.select(*(_shown(files.schema, column) for column in files.schema.names))
        if files.where:
            frame = frame.where(files.where)
        frame.createOrReplaceTempView(name)

    def _write(self, frame: Any, into: WriteFiles) -> Written:
        frame = frame.select(*(_stored(into.schema, column) for column in into.schema.names))
        frame = frame.coalesce(1)
        if into.order_by:
            frame.createOrReplaceTempView("written")
            frame = self._spark.sql(f"select * from written sort by {into.order_by}")
        folder = into.directory / f"{into.stem}-{uuid.uuid4().hex}"
        frame.write.option("compression", "snappy" if into.scratch else "zstd").parquet(str(folder))
        written = [
            WrittenFile(
                path=path, rows=pq.read_metadata(path).num_rows, size=path.stat().st_size, stats={}
            )
            for path in folder.glob("part-*.parquet")
        ]
        return Written(files=tuple(file for file in written if file.rows))


def _sql_type(kind: Type) -> str:
    return str(kind)


def _shown(schema: TableSchema, name: str) -> Any:
    column = F.col(f"`{name}`")
    if schema[name].type is not Type.TIMESTAMP:
        return column
    return F.unix_millis(column).alias(name)


def _stored(schema: TableSchema, name: str) -> Any:
    column = F.col(f"`{name}`")
    if schema[name].type is Type.TIMESTAMP:
        return F.timestamp_millis(column).alias(name)
    return column.cast(_sql_type(schema[name].type)).alias(name)
