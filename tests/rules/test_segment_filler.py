"""The sequential pass of generate, URL by URL."""

from __future__ import annotations

import pytest

from filbert.rules.segment_filler import SegmentFiller


def places(keys: str, **limits: int | None) -> list[int]:
    """The segments of URLs with these keys, one letter each, until all is full."""
    filler = SegmentFiller(
        top_n=limits.get("top_n"),
        max_count=limits.get("max_count") or -1,
        segments=limits.get("segments") or 1,
    )
    found = []
    for key in keys:
        if filler.is_full:
            break
        found.append(filler.place(key).segment)
    return found


@pytest.mark.parametrize(
    ("keys", "limits", "wanted"),
    [
        ("abc", {}, [1, 1, 1]),
        ("abcde", {"top_n": 2, "segments": 2}, [1, 1, 2, 2]),
        ("aaab", {"max_count": 2}, [1, 1, 0, 1]),
        ("aaaaab", {"max_count": 2, "segments": 2}, [1, 1, 2, 2, 0, 1]),
        ("aab", {"top_n": 1, "max_count": 1, "segments": 2}, [1, 2]),
        # A full segment sends b on; there this URL does not count, so that b has two in segment 2.
        ("abbb", {"top_n": 1, "max_count": 1, "segments": 3}, [1, 2, 3]),
        ("aabbb", {"top_n": 2, "max_count": 2, "segments": 2}, [1, 1, 2, 2]),
        ("abc", {"top_n": 0}, []),
    ],
)
def test_places(keys: str, limits: dict[str, int], wanted: list[int]) -> None:
    """A host's URLs go to the first segment that has room for it and that it is not over in."""
    assert places(keys, **limits) == wanted


def test_the_url_that_meets_a_full_segment_is_not_counted_in_the_next() -> None:
    """Nutch's quirk: so a host may have one more than max_count there."""
    assert places("abbb", top_n=1, max_count=1, segments=2) == [1, 2]
    assert places("aabbbb", top_n=2, max_count=1, segments=2) == [1, 2, 1, 2]
    assert places("acbbb", top_n=2, max_count=1, segments=2) == [1, 1, 2, 2]


def test_peeking_changes_nothing() -> None:
    """What a peek says, the next place does."""
    filler = SegmentFiller(top_n=3, max_count=1, segments=2)
    for key in "aabbab":
        peeked = filler.peek(key)
        assert filler.peek(key) == peeked
        assert filler.place(key) == peeked
