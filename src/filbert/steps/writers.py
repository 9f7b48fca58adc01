"""The index writers of a step: opened together, and what their indexes remember.

Guarantee: leaving by an exception leaves every index as it was at its last commit.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from filbert.plugins.contracts import RememberingWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filbert.plugins.contracts import IndexWriter

__all__ = ["CRAWLDB", "SEGMENTS", "absorbed_segments", "open_writers", "remembering"]

SEGMENTS, CRAWLDB = "segments", "crawldb_version"
"""Names under which an index remembers the segments and the crawldb version it has absorbed."""


def open_writers(writers: Sequence[IndexWriter]) -> ExitStack:
    """Enter all writers; what is not committed is dropped when the stack is left."""
    with ExitStack() as stack:
        for writer in writers:
            stack.enter_context(writer)
        return stack.pop_all()


def remembering(writers: Sequence[IndexWriter]) -> list[RememberingWriter]:
    """Return the writers whose indexes remember what they absorbed."""
    return [writer for writer in writers if isinstance(writer, RememberingWriter)]


def absorbed_segments(writers: Sequence[IndexWriter]) -> frozenset[str]:
    """Return the segments that every index that remembers has absorbed."""
    known = [frozenset(one.memory().get(SEGMENTS, "").split()) for one in remembering(writers)]
    return frozenset.intersection(*known) if known else frozenset()
