"""What `readseg -list` prints, character for character."""

from __future__ import annotations

from pathlib import Path

from filbert.nutch.v1.text_segments import segments_list, stats_of

GOLDEN = Path(__file__).parents[2] / "data" / "nutch1"


def test_readseg_list() -> None:
    """Counts and times of each segment, in the order given."""
    segments = sorted((GOLDEN / "segments").iterdir(), reverse=True)
    wanted = (GOLDEN / "expected-segments-list.txt").read_text(encoding="utf-8")
    assert "".join(segments_list(segments)) == wanted


def test_parts_that_are_missing(tmp_path: Path) -> None:
    """They are question marks."""
    (tmp_path / "20260101000000").mkdir()
    got = list(segments_list([tmp_path / "20260101000000"]))
    assert got[1] == "20260101000000\t?\t\t?\t\t?\t?\t?\n"


def test_pages_that_could_not_be_parsed() -> None:
    """They are counted, too."""
    stats = stats_of(GOLDEN / "segments" / "20261130203037")
    assert (stats.parsed, stats.parse_errors) == (64, 0)
