"""Rows to files and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from filbert.engine.base import ColumnStats, Files
from filbert.errors import DataError, EngineError
from filbert.model.schemas import Column, TableSchema, Type
from filbert.store import parquet
from filbert.store.parquet import ParquetSink, read_rows

if TYPE_CHECKING:
    from pathlib import Path

THINGS = TableSchema(
    name="things",
    key=("name",),
    columns=(
        Column("name", Type.STRING, "", nullable=False),
        Column("made", Type.TIMESTAMP, ""),
        Column("score", Type.FLOAT, ""),
        Column("raw", Type.BINARY, ""),
        Column("facts", Type.STRING_MAP, ""),
        Column("lists", Type.STRING_LISTS, ""),
    ),
    stats=("name", "made", "score"),
)


def paths(sink: ParquetSink) -> Files:
    """Return the sink's files as a view."""
    return Files(schema=THINGS, paths=tuple(str(file.path) for file in sink.files))


def test_rows_come_back_as_they_went(tmp_path: Path) -> None:
    """Times as epoch ms, maps as dicts, bytes as bytes, nulls as None, in order."""
    rows = [
        {
            "name": "a",
            "made": 1_796_000_000_123,
            "score": 0.5,
            "raw": b"\x00\xff",
            "facts": {"k": "v"},
            "lists": {"Set-Cookie": ["1", "2"]},
        },
        {"name": "b", "made": -1, "score": None, "raw": None, "facts": {}, "lists": None},
    ]
    with ParquetSink(THINGS, tmp_path, "x") as sink:
        sink.extend(rows)
    assert list(read_rows(paths(sink))) == rows
    assert [row["name"] for row in read_rows(paths(sink), ["name"], "made < 0")] == ["b"]
    kind = pq.read_schema(sink.files[0].path).field("made").type
    assert str(kind) == "timestamp[us, tz=UTC]"


def test_bounds_cover_all_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Least, greatest and nulls over the whole file; times as ISO text."""
    monkeypatch.setattr(parquet, "_FLUSH_ROWS", 2)
    with ParquetSink(THINGS, tmp_path, "x") as sink:
        sink.extend({"name": f"n{i}", "made": 1000 * i, "score": float(i)} for i in range(5))
        sink.append({"name": "last"})
    (file,) = sink.files
    assert (file.rows, file.size) == (6, file.path.stat().st_size)
    assert file.stats == {
        "name": ColumnStats("last", "n4", 0),
        "made": ColumnStats("1970-01-01T00:00:00.000Z", "1970-01-01T00:00:04.000Z", 1),
        "score": ColumnStats(0.0, 4.0, 1),
    }


def test_no_bounds_for_what_is_not_a_number(tmp_path: Path) -> None:
    """A NaN has no place in an order: the column gets no bounds."""
    with ParquetSink(THINGS, tmp_path, "x") as sink:
        sink.extend([{"name": "a", "score": float("nan")}, {"name": "b", "score": 1.0}])
    assert sink.files[0].stats["score"] == ColumnStats(None, None, 0)


def test_files_end_at_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`max_rows` is exact, whatever the batches are."""
    monkeypatch.setattr(parquet, "_FLUSH_ROWS", 3)
    with ParquetSink(THINGS, tmp_path, "x", max_rows=4) as sink:
        sink.extend({"name": str(i)} for i in range(10))
        assert sink.rows == 10
    assert [file.rows for file in sink.files] == [4, 4, 2]
    assert [row["name"] for row in read_rows(paths(sink))] == [str(i) for i in range(10)]


def test_big_rows_are_written_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by bytes as well as rows: each big row is a group of its own."""
    monkeypatch.setattr(parquet, "_FLUSH_BYTES", 10)
    with ParquetSink(THINGS, tmp_path, "x") as sink:
        sink.extend({"name": "x" * 20} for _ in range(3))
    assert pq.ParquetFile(sink.files[0].path).num_row_groups == 3


def test_no_rows_no_file(tmp_path: Path) -> None:
    """An empty sink writes nothing; an empty view reads nothing."""
    with ParquetSink(THINGS, tmp_path, "x") as sink:
        pass
    assert (sink.files, list(tmp_path.iterdir())) == ((), [])
    assert list(read_rows(Files(schema=THINGS))) == []


def test_an_error_leaves_no_file(tmp_path: Path) -> None:
    """Neither an error of the caller nor a missing required column leaves half a file."""
    with (
        pytest.raises(ZeroDivisionError),
        ParquetSink(THINGS, tmp_path, "x", max_rows=1) as sink,
    ):
        sink.extend({"name": str(1 // (2 - i))} for i in range(3))
    with (
        pytest.raises(EngineError, match="things has no name"),
        ParquetSink(THINGS, tmp_path, "x") as sink,
    ):
        sink.append({"score": 1.0})
    assert list(tmp_path.iterdir()) == []


def test_half_a_surrogate_pair_is_replaced(tmp_path: Path) -> None:
    """Pages can say `&#xD800;` in scripts; no UTF-8 can: the character becomes `?`."""
    with ParquetSink(THINGS, tmp_path, "x") as sink:
        sink.append({"name": "a\ud800b", "facts": {"\ud800": "v"}})
    (row,) = read_rows(paths(sink), ["name", "facts"])
    assert row == {"name": "a?b", "facts": {"?": "v"}}


def test_a_missing_file_is_damaged_data(tmp_path: Path) -> None:
    """The error names the table."""
    files = Files(schema=THINGS, paths=(str(tmp_path / "gone.parquet"),))
    with pytest.raises(DataError, match="a file of things cannot be read"):
        list(read_rows(files))
