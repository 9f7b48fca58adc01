"""Which part a host goes to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from filbert.rules.partition import dealt_out

COUNTS = st.dictionaries(st.text(max_size=4), st.integers(1, 1000), max_size=40)


def test_a_big_domain_drags_no_other_along() -> None:
    """The greatest key is alone as long as the others fit beside it."""
    got = dealt_out({"big": 90, "a": 20, "b": 20, "c": 20, "d": 20}, 2)

    assert got == {"big": 0, "a": 1, "b": 1, "c": 1, "d": 1}


@given(COUNTS, st.integers(1, 8))
def test_parts_are_balanced(counts: dict[str, int], parts: int) -> None:
    """Every key has a part; no part has more than a fair share and the greatest key besides."""
    given_parts = dealt_out(counts, parts)
    load = [0] * parts
    for key, part in given_parts.items():
        load[part] += counts[key]

    assert given_parts.keys() == counts.keys()
    assert max(load) <= sum(counts.values()) / parts + max(counts.values(), default=0)


@given(COUNTS)
def test_the_order_of_the_counts_says_nothing(counts: dict[str, int]) -> None:
    """The same counts give the same parts."""
    backwards = dict(reversed(counts.items()))

    assert dealt_out(backwards, 3) == dealt_out(counts, 3)
