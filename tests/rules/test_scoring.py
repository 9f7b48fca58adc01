"""The chain of scoring plugins."""

from __future__ import annotations

import duckdb
import pytest

from filbert.rules.scoring import chained_score


@pytest.mark.parametrize(
    ("start", "wanted"),
    [("0.25", 5.0), ("3e38", 3.4028234e38), ("-3e38", -3.4028234e38), ("null", None)],
)
def test_a_score_stays_within_a_float(start: str, wanted: float | None) -> None:
    """What a chain gives beyond 32 bits stays at their end; no score stays none."""
    score = chained_score(["score_in * 10", "score_in * 2"], f"cast({start} as double)")
    row = duckdb.execute(f"select {score}").fetchone()
    assert row == (None if wanted is None else pytest.approx(wanted),)
