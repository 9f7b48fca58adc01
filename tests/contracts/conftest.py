"""Both engines, and how their answers are compared."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from filbert.engine.base import Collect, Query
from filbert.engine.local import LocalEngine
from filbert.settings.engine import EngineSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from filbert.engine.base import Files, Target, Written

Row = dict[str, Any]


class Executes(Protocol):
    """What both engines share here."""

    def execute(self, query: Query, views: Mapping[str, Files], into: Target) -> Written:
        """Run relational work."""
        ...


class SameRows(Protocol):
    """Runs a query on both engines, asserts that the rows are equal, and returns them."""

    def __call__(self, sql: str, views: Mapping[str, Files] | None = None) -> list[Row]:
        """Return the rows, sorted."""
        ...


@pytest.fixture(scope="session")
def local_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    """The local engine."""
    with LocalEngine(EngineSettings(threads=2), tmp_path_factory.mktemp("local")) as engine:
        yield engine


@pytest.fixture(scope="session")
def spark_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executes]:
    """Spark local[2], started once; tests of it skip aloud without Java or pyspark."""
    pytest.importorskip("pyspark", reason="no pyspark: pip install filbert[spark]")
    if shutil.which("java") is None:
        pytest.skip("no java on the path: Spark needs Java 17")
    path = Path(__file__).with_name("spark_engine.py")
    spec = importlib.util.spec_from_file_location("spark_engine", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.SparkEngine(tmp_path_factory.mktemp("spark")) as engine:
        yield engine


@pytest.fixture
def same_rows(local_engine: Executes, spark_engine: Executes) -> SameRows:
    """Runs a query on both engines and compares the rows, in any order."""

    def compare(sql: str, views: Mapping[str, Files] | None = None) -> list[Row]:
        query = Query(name="contract", sql=sql)
        expected, got = (
            rows_of(engine.execute(query, views or {}, Collect()).table)
            for engine in (local_engine, spark_engine)
        )
        assert got == expected
        return expected

    return compare


def rows_of(table: pa.Table | None) -> list[Row]:
    """Rows as plain values, maps as dicts, sorted."""
    assert table is not None
    rows = [{name: _plain(value) for name, value in row.items()} for row in table.to_pylist()]
    return sorted(rows, key=repr)


def _plain(value: object) -> object:
    # A map is a list of pairs to Arrow; its order is no part of its value.
    if isinstance(value, list) and value and all(isinstance(pair, tuple) for pair in value):
        return dict(sorted(value))
    return value
