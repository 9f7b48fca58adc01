"""The engine functions and the common SQL mean the same on DuckDB and on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.engine.base import Files
from filbert.engine.functions import FUNCTIONS
from filbert.model.schemas import Column, TableSchema, Type
from filbert.rules.sql import literal
from filbert.rules.urls import url_hash
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contracts.conftest import SameRows

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]

MAPS = TableSchema(
    name="maps",
    key=(),
    columns=(Column("a", Type.STRING_MAP, ""), Column("b", Type.STRING_MAP, "")),
)


def values(same_rows: SameRows, *expressions: str) -> list[object]:
    """The expressions' values, the same on both engines."""
    columns = ", ".join(f"{sql} as v{n}" for n, sql in enumerate(expressions))
    (row,) = same_rows(f"select {columns}")
    return list(row.values())


def test_there_are_at_most_ten_functions() -> None:
    """A new function must earn its place among ten."""
    assert len(FUNCTIONS) <= 10
    assert len({function.name for function in FUNCTIONS}) == len(FUNCTIONS)


def test_url_hash_is_pythons(same_rows: SameRows) -> None:
    """SQL and Python put a URL into the same bucket."""
    urls = ["http://a.example/", "", "http://日本.example/?q=é"]
    got = values(same_rows, *(f"url_hash({literal(url)})" for url in urls))
    assert got == [url_hash(url) for url in urls]


def test_int_div_rounds_towards_zero(same_rows: SameRows) -> None:
    """Whole division is Java's, and null by zero."""
    got = values(same_rows, "int_div(7, 2)", "int_div(-7, 2)", "int_div(7, 0)", "int_div(null, 1)")
    assert got == [3, -3, None, None]


def test_maps_are_laid_over_each_other(same_rows: SameRows, tmp_path: Path) -> None:
    """The newer entry wins; a null map counts for nothing; keys can be taken out."""
    with ParquetSink(MAPS, tmp_path, "maps") as sink:
        sink.append({"a": {"x": "1", "y": "2"}, "b": {"y": "3", "z": "4"}})
    view = Files(schema=MAPS, paths=tuple(str(file.path) for file in sink.files))
    expected = {
        "map_overlay(a, b)": {"x": "1", "y": "3", "z": "4"},
        "map_overlay(a, null)": {"x": "1", "y": "2"},
        "map_overlay(null, b)": {"y": "3", "z": "4"},
        "map_overlay(a, empty_map())": {"x": "1", "y": "2"},
        "map_without(a, 'x')": {"y": "2"},
        "map_without(a, 'none')": {"x": "1", "y": "2"},
        "types_overlay(a, b, null)": {"x": "1"},
        "types_overlay(a, b, b)": {"x": "1", "y": "3", "z": "4"},
        "types_overlay(a, null, null)": {"x": "1", "y": "2"},
        "types_overlay(null, a, b)": {"y": "3", "z": "4"},
        "map_overlay(a, b)['y']": "3",
        "a['none']": None,
        "cardinality(map_overlay(a, b))": 3,
        "cardinality(empty_map())": 0,
    }
    columns = ", ".join(f"{sql} as v{n}" for n, sql in enumerate(expected))
    (row,) = same_rows(f"select {columns} from maps", {"maps": view})
    assert list(row.values()) == list(expected.values())


def test_percent_decode_gives_back_what_it_cannot_read(same_rows: SameRows) -> None:
    """Good escapes are decoded, a plus stays, bad escapes and bytes leave the text as it is."""
    texts = ["a%20b", "a+b", "%C3%A9", "%C3", "%zz%20", "100%", ""]
    got = values(same_rows, *(f"percent_decode({literal(text)})" for text in texts))
    assert got == ["a b", "a+b", "é", "%C3", "%zz%20", "100%", ""]


def test_percentile_is_interpolated(same_rows: SameRows) -> None:
    """The quantile between two values lies between them."""
    rows = same_rows("select percentile(x, 0.5) as m from (select 1 as x union all select 2) t")
    assert rows == [{"m": 1.5}]


@pytest.mark.parametrize(
    "value", ["it's", "a\\b", "tab\t$ ${x}", "é", 0.1, 2**40, -1, b"\x00x", None]
)
def test_literals_mean_the_same(same_rows: SameRows, value: str | float | bytes | None) -> None:
    """A literal is the same value on both engines."""
    (got,) = values(same_rows, literal(value))
    assert got == value


def test_float32_arithmetic_and_rounding_are_javas(same_rows: SameRows) -> None:
    """Products of floats are float32, casts after floor are exact, halves go up."""
    got = values(
        same_rows,
        "cast(cast(7776001 as float) * cast(cast('1.5' as double) as float) as double)",
        "cast(floor(cast('2.5' as double) + cast('0.5' as double)) as int)",
        "cast(round(cast('2.7' as double)) as int)",
    )
    assert got == [11664002.0, 3, 3]
