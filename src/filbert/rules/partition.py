"""Which part of a segment a host goes to.

Guarantee: all pages of one key (domain, host or address) are in one part, so that one part alone
asks its hosts; the greatest keys are dealt out first, each to the part that has least, so that one
big key does not drag others along. The same counts give the same parts.
Source: Nutch `URLPartitioner`; the greedy is Graham's longest processing time first.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["dealt_out"]


def dealt_out(counts: Mapping[str, int], parts: int) -> dict[str, int]:
    """Return the part (from 0) of each key.

    Args:
        counts: Pages of each key.
        parts: How many parts there are.
    """
    load = [(0, part) for part in range(parts)]
    given: dict[str, int] = {}
    for key in sorted(counts, key=lambda key: (-counts[key], key)):
        pages, part = load[0]
        given[key] = part
        heapq.heapreplace(load, (pages + counts[key], part))
    return given
