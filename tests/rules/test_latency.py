"""Response times as counters, and percentiles out of them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.rules.latency import BOUNDS_MS, buckets_of, counter_of, percentiles


@pytest.mark.parametrize(
    ("ms", "counter"),
    [(0, "latency.1"), (1, "latency.1"), (2, "latency.2"), (9, "latency.10"), (101, "latency.126"),
     (10**6, "latency.1000000"), (10**9, "latency.1000000")],
)  # fmt: skip
def test_each_time_has_one_bucket(ms: int, counter: str) -> None:
    """The least bound that is not below it; what is longer than all goes into the last."""
    assert counter_of(ms) == counter


def test_percentiles_of_nothing() -> None:
    """No request, no answer."""
    assert percentiles({"bytes": 3}, (0.5,)) is None


def test_parts_add_up() -> None:
    """Counters of two parts are those of both."""
    one, other = (
        Counter({"latency.10": 3, "bytes": 9}),
        Counter({"latency.10": 1, "latency.100": 4}),
    )
    assert buckets_of(one + other) == [(10, 4), (100, 4)]
    assert percentiles(one + other, (0.5, 0.51, 1.0)) == [10, 100, 100]


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=200), st.floats(0.01, 1.0))
def test_a_percentile_is_right_to_a_quarter(times: list[int], share: float) -> None:
    """Beside the exact value of the sorted list."""
    counted = Counter(counter_of(ms) for ms in times)
    found = percentiles(counted, (share,))
    assert found is not None
    rank = max(0, -int(-share * len(times) // 1) - 1)
    exact = sorted(times)[min(rank, len(times) - 1)]
    assert exact <= found[0] <= max(exact * 1.26 + 1, BOUNDS_MS[0])
