"""How many slots a bandwidth target wants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.rules.bandwidth import slots_for


@pytest.mark.parametrize(
    ("used", "slots", "queues", "wanted"),
    [
        (500.0, 10, 100, 20),  # 50 each: ten more make 1,000
        (500.0, 10, 10, 10),  # no queue would use one more
        (990.0, 10, 100, 10),
        (2_000.0, 10, 100, 5),
        (90_000.0, 10, 100, 1),  # never none
        (10.0, 10, 100, 50),  # never above the most
        (0.0, 10, 100, 10),  # nothing came: nothing is known of what a slot takes
    ],
)
def test_the_target_decides(used: float, slots: int, queues: int, wanted: int) -> None:
    """As many as take the target, by what each took."""
    got = slots_for(target=1_000.0, used=used, slots=slots, most=50, queues=queues)
    assert got == wanted


@given(
    st.floats(0, 1e12), st.floats(0, 1e12), st.integers(1, 500), st.integers(1, 500), st.integers(0)
)
def test_there_is_always_a_slot(
    target: float, used: float, slots: int, more: int, queues: int
) -> None:
    """Between one and the most, whatever was measured."""
    most = slots + more
    assert 1 <= slots_for(target=target, used=used, slots=slots, most=most, queues=queues) <= most
