"""Redirect targets that were followed lately are not followed again."""

from __future__ import annotations

from filbert.rules.recent_targets import RecentTargets

A, B, C = (f"http://a.test/{name}" for name in "abc")


def _target(url: str) -> tuple[str, bytes]:
    return url, url.encode()


def test_a_target_counts_for_its_time() -> None:
    """From when it was followed, not from when it was last met."""
    recent = RecentTargets(100, 10)
    got = [recent.repeats(_target(A), now) for now in (0, 50, 100, 101, 150)]
    assert got == [False, True, True, False, True]


def test_another_spelling_is_another_target() -> None:
    """A server that answers one spelling and not the other is asked in both."""
    recent = RecentTargets(100, 10)
    assert not recent.repeats((A, b"http://a.test/%61"), 0)
    assert not recent.repeats((A, A.encode()), 0)


def test_the_oldest_go() -> None:
    """Memory has a bound."""
    recent = RecentTargets(1_000, 2)
    assert [recent.repeats(_target(url), 0) for url in (A, B, C, A, C)] == [
        False,
        False,
        False,
        False,
        True,
    ]


def test_it_can_be_off() -> None:
    """A negative time, or no room: each is followed."""
    for recent in (RecentTargets(-1_000, 10), RecentTargets(1_000, 0)):
        assert [recent.repeats(_target(A), 0) for _ in "12"] == [False, False]
