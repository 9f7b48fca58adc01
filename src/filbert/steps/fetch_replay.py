"""The archive that a fetch is answered from, if it is a replay.

Guarantee: its index is made once, lies in the crawl folder, and fits the files as they are now. A
crawl is not replayed from itself: what it captures would change what it is answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from filbert.errors import UserError
from filbert.store.archive import index_archive, warc_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.steps.context import StepContext
    from filbert.store.archive import ArchiveIndex

__all__ = ["open_archive"]

_log = structlog.get_logger(__name__)


def open_archive(context: StepContext, paths: Sequence[Path]) -> ArchiveIndex | None:
    """Return the index of what is to be replayed; None: the network is asked.

    Raises:
        UserError: There is no such file, or it is of this crawl itself.
        DataError: A file is damaged, and `replay.damaged` does not say to pass over it.
    """
    if not paths:
        return None
    files = _files(context, paths)
    skip = context.settings.replay.damaged == "skip"
    index = index_archive(files, context.crawl.replay_dir, skip_damaged=skip)
    _log.info("fetch.replay", files=len(files), captures=index.captures, damaged=index.damaged)
    return index


def _files(context: StepContext, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files that are to be replayed."""
    files = warc_files(paths)
    own = context.crawl.path.resolve()
    for path in files:
        if path.is_relative_to(own):
            raise UserError(
                f"{path} is of the crawl {context.crawl.path} itself",
                hint="Replay it into a new folder: filbert crawl NEW --replay "
                f"{context.crawl.path} --seeds ...",
            )
    return files
