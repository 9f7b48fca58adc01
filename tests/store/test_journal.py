"""The journal gives back the longest whole prefix of what was written, and nothing else."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from filbert.errors import DataError
from filbert.store.journal import JournalWriter, encode_frame, read_frames

if TYPE_CHECKING:
    from pathlib import Path

PAYLOADS: list[list[object]] = [[1, "ä", b"\xff", None, 2.5], [2, {"a": "b"}], [3, list(range(99))]]


def _written(path: Path) -> bytes:
    with JournalWriter(path) as journal:
        for payload in PAYLOADS:
            journal.append(payload)
    return path.read_bytes()


def _read(path: Path) -> list[list[object]]:
    return [frame.payload for frame in read_frames(path)]


def test_frames_come_back_in_order(tmp_path: Path) -> None:
    """What was appended is read in the same order, with the offset behind each frame."""
    data = _written(tmp_path / "j")
    assert _read(tmp_path / "j") == PAYLOADS
    assert [frame.end for frame in read_frames(tmp_path / "j")][-1] == len(data)


def test_a_missing_journal_is_empty(tmp_path: Path) -> None:
    """No file, no frames."""
    assert _read(tmp_path / "none") == []


def test_every_torn_tail_is_dropped(tmp_path: Path) -> None:
    """Cut at any byte, the whole frames before the cut remain and no other."""
    path = tmp_path / "j"
    data = _written(path)
    ends = [frame.end for frame in read_frames(path)]
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        assert len(_read(path)) == sum(end <= cut for end in ends)


@pytest.mark.parametrize(
    "tail",
    [bytes(1), bytes(4096), b"\x01\x00\x00\x00", encode_frame([4])[:-1], b"\xff" * 64],
    ids=["zero", "zeros", "half a head", "short frame", "noise"],
)
def test_a_damaged_tail_ends_the_journal(tmp_path: Path, tail: bytes) -> None:
    """Zeros, noise and half frames behind the last frame are no frames."""
    path = tmp_path / "j"
    path.write_bytes(_written(path) + tail)
    assert _read(path) == PAYLOADS


def test_a_changed_byte_ends_the_journal_before_its_frame(tmp_path: Path) -> None:
    """A frame whose checksum fails is not read, nor is anything behind it."""
    path = tmp_path / "j"
    data = bytearray(_written(path))
    ends = [0, *(frame.end for frame in read_frames(path))]
    rng = random.Random(7)
    for _ in range(50):
        place = rng.randrange(8, len(data))
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        frame = max(i for i, end in enumerate(ends) if end <= place)
        assert _read(path) == PAYLOADS[:frame]


def test_writing_goes_on_at_the_cut(tmp_path: Path) -> None:
    """A writer opened at an end drops what lies behind it."""
    path = tmp_path / "j"
    _written(path)
    first = next(iter(read_frames(path)))
    with JournalWriter(path, end=first.end) as journal:
        journal.append([9])
    assert _read(path) == [PAYLOADS[0], [9]]


def test_a_full_disk_leaves_the_journal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that fails half-way is undone, says so, and the next one succeeds."""
    path = tmp_path / "j"
    real_write = os.write
    with JournalWriter(path) as journal:
        journal.append([1])
        calls = iter([3])

        def half_then_full(fd: int, data: bytes) -> int:
            room = next(calls, None)
            if room is None:
                raise OSError(28, "No space left on device")
            return real_write(fd, bytes(data[:room]))

        monkeypatch.setattr(os, "write", half_then_full)
        with pytest.raises(DataError, match="No space left"):
            journal.append([2])
        monkeypatch.undo()
        journal.append([3])
    assert _read(path) == [[1], [3]]
