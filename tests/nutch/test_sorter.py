"""Sorting by runs on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from filbert.nutch.sorter import sorted_records

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


@given(st.lists(st.tuples(st.binary(max_size=2), st.integers()), max_size=60), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_the_order_is_that_of_sorted(
    tmp_path_factory: pytest.TempPathFactory, items: list[tuple[bytes, int]], run: int
) -> None:
    """With runs of any length; equal keys keep their order."""
    folder = tmp_path_factory.getbasetemp()
    got = list(sorted_records(items, lambda one: one[0], folder, run=run))
    assert got == sorted(items, key=lambda one: one[0])


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """The runs are gone, also where nobody asked for the rest."""
    rows = sorted_records(range(100), lambda n: b"%03d" % (99 - n), tmp_path, run=10)
    assert next(rows) == 99
    rows.close()  # type: ignore[attr-defined]
    assert list(tmp_path.iterdir()) == []
