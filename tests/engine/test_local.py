"""LocalEngine: views, files, statistics, and errors in clear words."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from filbert.engine.base import Collect, ColumnStats, Files, Query, WriteFiles
from filbert.engine.local import LocalEngine
from filbert.errors import EngineError
from filbert.model.schemas import Column, TableSchema, Type
from filbert.settings.engine import EngineSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = TableSchema(
    name="pages",
    key=("url",),
    columns=(
        Column("url", Type.STRING, "", nullable=False),
        Column("seen", Type.TIMESTAMP, ""),
        Column("score", Type.FLOAT, ""),
        Column("retries", Type.SMALLINT, ""),
        Column("metadata", Type.STRING_MAP, ""),
    ),
    stats=("url", "seen", "score", "retries"),
)
ROWS = """
select 'http://b/' as url, cast('1609459200123' as bigint) as seen, cast(0.5 as float) as score,
  2 as retries, map_overlay(empty_map(), empty_map()) as metadata
union all select 'http://a/', null, cast(1.5 as float), 1, null
"""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LocalEngine]:
    """An engine that spills into the test's folder."""
    settings = EngineSettings(memory_limit_mb=256, threads=1)
    with LocalEngine(settings, tmp_path / "scratch") as made:
        yield made


def target(folder: Path, *, order_by: str = "") -> WriteFiles:
    """A target in `folder`."""
    return WriteFiles(schema=PAGES, directory=folder, stem="pages", order_by=order_by)


def test_times_are_timestamps_in_files_and_milliseconds_in_views(
    engine: LocalEngine, tmp_path: Path
) -> None:
    """A TIMESTAMP column is a UTC timestamp on disk and bigint milliseconds in SQL."""
    (file,) = engine.execute(Query(name="make", sql=ROWS), {}, target(tmp_path)).files
    assert pq.read_schema(file.path).field("seen").type == pa.timestamp("us", tz="UTC")
    view = Files(schema=PAGES, paths=(str(file.path),), where="seen is not null")
    query = Query(name="read", sql="select url, seen, typeof(seen) as kind from pages")
    table = engine.execute(query, {"pages": view}, Collect()).table
    assert table is not None
    assert table.to_pylist() == [{"url": "http://b/", "seen": 1609459200123, "kind": "BIGINT"}]


def test_a_file_has_the_types_order_and_statistics_of_its_schema(
    engine: LocalEngine, tmp_path: Path
) -> None:
    """Columns are cast to the schema, rows ordered as asked, bounds given as JSON wants them."""
    written = engine.execute(
        Query(name="make", sql=ROWS), {}, target(tmp_path / "new", order_by="url")
    )
    (file,) = written.files
    table = pq.read_table(file.path)
    assert table.column_names == list(PAGES.names)
    assert table.column("url").to_pylist() == ["http://a/", "http://b/"]
    assert table.schema.field("retries").type == pa.int16()
    assert (written.rows, file.rows, file.size) == (2, 2, file.path.stat().st_size)
    assert file.path.name.startswith("pages-")
    assert file.stats == {
        "url": ColumnStats("http://a/", "http://b/", 0),
        "seen": ColumnStats("2021-01-01T00:00:00.123Z", "2021-01-01T00:00:00.123Z", 1),
        "score": ColumnStats(0.5, 1.5, 0),
        "retries": ColumnStats(1, 2, 0),
    }


def test_an_empty_result_writes_no_file(engine: LocalEngine, tmp_path: Path) -> None:
    """Of no rows comes no file."""
    query = Query(name="none", sql="select * from pages")
    written = engine.execute(query, {"pages": Files(schema=PAGES)}, target(tmp_path / "new"))
    assert written.files == ()
    assert list((tmp_path / "new").iterdir()) == []


def test_an_empty_view_has_the_types_of_its_schema(engine: LocalEngine) -> None:
    """A view without files can be joined and added up like any other."""
    query = Query(name="sum", sql="select sum(seen + retries) as s, count(*) as n from pages")
    table = engine.execute(query, {"pages": Files(schema=PAGES)}, Collect()).table
    assert table is not None
    assert table.to_pylist() == [{"s": None, "n": 0}]


def test_views_of_one_query_are_gone_for_the_next(engine: LocalEngine) -> None:
    """A query sees the views it names, never those of an earlier one."""
    engine.execute(Query(name="a", sql="select 1 as x"), {"pages": Files(schema=PAGES)}, Collect())
    with pytest.raises(EngineError, match=r"the query b failed: .*pages"):
        engine.execute(Query(name="b", sql="select * from pages"), {}, Collect())


def test_a_required_column_cannot_be_null(engine: LocalEngine, tmp_path: Path) -> None:
    """A null where the schema forbids it is an error, and no file stays."""
    sql = (
        "select cast(null as string) as url, 1 as seen, 1 as score, 1 as retries, null as metadata"
    )
    with pytest.raises(EngineError, match="1 rows for pages have no url"):
        engine.execute(Query(name="bad", sql=sql), {}, target(tmp_path / "new"))
    assert list((tmp_path / "new").iterdir()) == []


def test_a_query_that_breaks_half_way_leaves_no_file(engine: LocalEngine, tmp_path: Path) -> None:
    """Whatever goes wrong while writing, the half file goes."""
    sql = (
        "select cast(case when i < 299999 then '1' else 'x' end as int) as retries, 'u' as url,"
        " 1 as seen, 1 as score, null as metadata from range(300000) t(i)"
    )
    with pytest.raises(EngineError, match=r"the query half failed: .*INT"):
        engine.execute(Query(name="half", sql=sql), {}, target(tmp_path / "new"))
    assert list((tmp_path / "new").iterdir()) == []


def test_a_missing_column_is_named(engine: LocalEngine, tmp_path: Path) -> None:
    """A query that does not give a column of the schema fails and says which."""
    with pytest.raises(EngineError, match="seen"):
        engine.execute(Query(name="few", sql="select 'u' as url"), {}, target(tmp_path))


def test_too_little_memory_is_said_with_the_setting_to_raise(tmp_path: Path) -> None:
    """Out of memory and out of spill room names the setting."""
    settings = EngineSettings(memory_limit_mb=128, threads=1)
    sql = "select list(i) as l from range(20000000) t(i)"
    with (
        LocalEngine(settings, tmp_path) as engine,
        pytest.raises(EngineError, match="needs more than its 128 MB") as caught,
    ):
        engine.execute(Query(name="big", sql=sql), {}, Collect())
    assert "engine.memory_limit_mb" in caught.value.hint


def test_what_was_spilled_goes_with_the_engine(tmp_path: Path) -> None:
    """Leaving the engine empties its spill folder."""
    with LocalEngine(EngineSettings(), tmp_path / "scratch") as engine:
        engine.execute(Query(name="one", sql="select 1 as x"), {}, Collect())
    assert not list(tmp_path.glob("scratch/*"))


def test_paths_with_quotes_are_read(engine: LocalEngine, tmp_path: Path) -> None:
    """A folder name with a quote, a blank or an equals sign is a folder like any other."""
    folder = tmp_path / "it's a=b"
    (file,) = engine.execute(Query(name="make", sql=ROWS), {}, target(folder)).files
    view = Files(schema=PAGES, paths=(str(file.path),))
    query = Query(name="count", sql="select count(*) as n from pages")
    table = engine.execute(query, {"pages": view}, Collect()).table
    assert table is not None
    assert table.to_pylist() == [{"n": 2}]


def test_ctrl_c_ends_a_query_as_it_ends_anything(engine: LocalEngine) -> None:
    """An interrupt in the middle of a query is an interrupt, not an error of the engine."""
    endless = "select count(*) n from range(9999999) a, range(9999999) b where a.range < b.range"
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        engine.execute(Query(name="endless", sql=endless), {}, Collect())
