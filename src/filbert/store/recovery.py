"""Putting a crawl folder in order after a crash.

Guarantee: only what no table version lists and no live process owns is removed; recovery never
touches captures or journals of a segment that has a fetch list. Running it again changes nothing.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from filbert.store import layout
from filbert.store.process import Process
from filbert.store.scratch import left_over
from filbert.store.segments import Segment

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.clock import Clock

__all__ = ["recover"]

_ABANDONED_MS = 24 * 3600 * 1000


def recover(crawl_path: Path, *, clock: Clock) -> list[str]:
    """Remove left-overs of dead processes; return what was done, in words."""
    now_ms = clock.now_ms()
    done = []
    for path in left_over(crawl_path, now_ms):
        shutil.rmtree(path, ignore_errors=True)
        step = path.name.rpartition("@")[2].rpartition("-")[0]
        done.append(f"removed unfinished files of {step}")
    for path in _half_made(crawl_path / layout.SEGMENTS, now_ms, clock):
        shutil.rmtree(path, ignore_errors=True)
        done.append(f"removed the segment {path.name}, whose fetch list was never finished")
    return done


def _half_made(segments: Path, now_ms: int, clock: Clock) -> list[Path]:
    if not segments.is_dir():
        return []
    return sorted(path for path in segments.iterdir() if _is_abandoned(path, now_ms, clock))


def _is_abandoned(path: Path, now_ms: int, clock: Clock) -> bool:
    if path.name.startswith(layout.MAKING):
        owner = Process.parse(path.name.removeprefix(f"{layout.MAKING}-").rpartition("-")[0])
    elif layout.is_segment_name(path.name):
        segment = Segment(path, clock=clock)
        if segment.is_made() or segment.content_dir.exists() or segment.journal_dir.exists():
            return False
        owner = segment.owner()
    else:
        return False
    if owner is not None and owner.is_here():
        return owner.is_dead()
    return now_ms - path.stat().st_mtime * 1000 > _ABANDONED_MS
