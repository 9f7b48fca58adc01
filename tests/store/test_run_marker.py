"""Where the loop's current run began."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import DataError
from filbert.store.run_marker import RunMarker

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_that_ended_leaves_no_marker(tmp_path: Path) -> None:
    """Begin and end leave nothing behind; a folder without a run has no marker."""
    assert RunMarker.read(tmp_path) is None
    RunMarker.begin(tmp_path, 7)
    RunMarker.end(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_run_is_read_back(tmp_path: Path) -> None:
    """What `begin` noted is what a later process reads."""
    began = RunMarker.begin(tmp_path, 7)
    assert RunMarker.read(tmp_path) == began


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"start_version": "x"}', "\x00\x00"])
def test_a_damaged_marker_says_how_to_go_on(tmp_path: Path, text: str) -> None:
    """Any other content is refused with the file's name and the way on."""
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(DataError, match=r"run\.json is damaged") as caught:
        RunMarker.read(tmp_path)
    assert "Remove it" in caught.value.hint
