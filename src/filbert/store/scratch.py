"""Folders for files that nobody has committed yet.

Guarantee: a scratch folder lies on the file system of the crawl folder, so that a commit moves and
does not copy; it is removed at exit, and after a crash by recovery. Its name says whose it is, so
that the folder of a running process is never taken.
"""

from __future__ import annotations

import contextlib
import shutil
import uuid
from typing import TYPE_CHECKING

from filbert.store import durable, layout
from filbert.store.process import Process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["left_over", "scratch"]

# A folder of another host cannot be asked whether its process lives; its age must do.
_FOREIGN_MS = 7 * 24 * 3600 * 1000


@contextlib.contextmanager
def scratch(crawl_path: Path, step: str) -> Iterator[Path]:
    """Make a fresh folder for `step` and remove it at exit."""
    name = f"{Process.this()}@{step}-{uuid.uuid4().hex[:8]}"
    path = crawl_path / layout.SCRATCH / name
    with durable.room(f"{step}: making a scratch folder"):
        path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(OSError):
            path.parent.rmdir()


def left_over(crawl_path: Path, now_ms: int) -> list[Path]:
    """Return the scratch folders whose process is gone."""
    folder = crawl_path / layout.SCRATCH
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _is_left(path, now_ms))


def _is_left(path: Path, now_ms: int) -> bool:
    owner = Process.parse(path.name.rpartition("@")[0])
    if owner is not None and owner.is_here():
        return owner.is_dead()
    try:
        return now_ms - path.stat().st_mtime * 1000 > _FOREIGN_MS
    except FileNotFoundError:
        return False
