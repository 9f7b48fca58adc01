"""Sorting more records than fit into memory: runs on disk, merged.

Guarantee: stable; memory for one run, and one record of each run while they are merged.
Source: Nutch 0.7 and Hadoop `SequenceFile.Sorter` (there in memory by bytes, here by records).
"""

from __future__ import annotations

import heapq
import pickle
import tempfile
from itertools import islice
from typing import IO, TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

__all__ = ["sorted_records"]

_Item = TypeVar("_Item")
_RUN = 100_000


def sorted_records(
    items: Iterable[_Item], key: Callable[[_Item], bytes], folder: Path, *, run: int = _RUN
) -> Iterator[_Item]:
    """Yield records by a key.

    Args:
        items: The records.
        key: What they are ordered by.
        folder: Where runs are put while they are needed.
        run: Records of a run.
    """
    rest = iter(items)
    first = sorted(islice(rest, run), key=key)
    runs: list[IO[bytes]] = []
    try:
        while later := sorted(islice(rest, run), key=key):
            file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed below
            runs.append(file)
            for item in later:
                pickle.dump(item, file, pickle.HIGHEST_PROTOCOL)
            file.seek(0)
        yield from heapq.merge(first, *map(_items, runs), key=key)
    finally:
        for file in runs:
            file.close()


def _items(file: IO[bytes]) -> Iterator[_Item]:
    """Yield what we put into a file ourselves."""
    while True:
        try:
            item: _Item = pickle.load(file)  # noqa: S301 - our own, and nobody else can open it
        except EOFError:
            return
        yield item
