"""The only door by which values enter SQL text."""

from __future__ import annotations

import duckdb
import pytest

from filbert.rules.sql import SqlValue, literal, render


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (-7, "(-7)"),
        (2**31, "cast('2147483648' as bigint)"),
        (0.1, "cast('0.1' as double)"),
        (b"\x00\xff", "unhex('00ff')"),
        ("plain", "'plain'"),
        ("it's", "'it''s'"),
        ("", "''"),
        ("\\", "chr(92)"),
        ("a\\b\n${c}", "('a' || chr(92) || 'b' || chr(10) || chr(36) || '{c}')"),
    ],
)
def test_a_literal_is_typed_and_means_the_same_everywhere(value: SqlValue, sql: str) -> None:
    """Quotes, backslashes and dollar signs cannot leave the literal they stand in."""
    assert literal(value) == sql


@pytest.mark.parametrize(
    "value", ["'; drop table x; --", "日本\\'", "\x01$", b"", 2**63 - 1, 1e-300]
)
def test_a_literal_read_back_is_the_value(value: SqlValue) -> None:
    """What goes in comes out."""
    row = duckdb.execute(f"select {literal(value)}").fetchone()
    assert row == (value,)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**63])
def test_no_literal_for_what_is_no_number(value: float) -> None:
    """NaN, infinity and numbers over 64 bits are refused."""
    with pytest.raises(ValueError, match=str(value)):
        literal(value)


def test_render_wants_exactly_the_fragments_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fragment forgotten, or one too many, is an error that names it."""
    monkeypatch.setattr("filbert.rules.sql._text", lambda _: "select {{a}} from {{b}}\n")
    assert render("x.sql", a="1", b="t") == "select 1 from t"
    with pytest.raises(LookupError, match=r"x\.sql: .*: b, c"):
        render("x.sql", a="1", c="t")
