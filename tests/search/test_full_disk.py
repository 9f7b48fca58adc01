"""A full disk: the index of the last commit stays, and going on works once there is room."""

from __future__ import annotations

import os
import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from filbert.errors import EngineError
from filbert.model.records import Document
from filbert.search.searcher import SearchIndex
from filbert.search.writer import EmbeddedWriter
from filbert.settings.search import SearchSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETTINGS = SearchSettings(writer_memory_mb=16)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 600 KB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small file system can be mounted by root only")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def write(path: Path, first: int, end: int) -> None:
    """Write pages of 2,000 words that are not the same twice."""
    words = random.Random(first)
    with EmbeddedWriter(path, SETTINGS) as writer:
        for number in range(first, end):
            text = " ".join(f"w{words.randrange(10**9)}" for _ in range(2000))
            writer.write(Document(url=f"http://a.test/{number}", fields={"content": (text,)}))
        writer.commit()


def test_full_disk_leaves_the_last_commit(small_disk: Path) -> None:
    """The error says that the disk is full; nothing of the commit that broke is left behind."""
    path = small_disk / "index"
    write(path, 0, 2)
    with pytest.raises(EngineError, match="the disk is full"):
        write(path, 2, 200)
    kept = SearchIndex.open(path, SETTINGS).urls()
    write(path, 2, 3)
    got = (kept, SearchIndex.open(path, SETTINGS).count())
    assert got == (["http://a.test/0", "http://a.test/1"], 3)
