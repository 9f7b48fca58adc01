"""Redirect targets followed lately: what many pages redirect to is fetched once.

Guarantee: bounded; times are arguments.
Source: Nutch `FetcherThread.redirectDeduplicated` (`fetcher.redirect.dedupcache.*`).
"""

from __future__ import annotations

from collections import OrderedDict

__all__ = ["RecentTargets"]


class RecentTargets:
    """The targets of a part.

    Args:
        window_ms: How long a target counts; negative: never.
        size: Targets remembered at most; the oldest go.
    """

    def __init__(self, window_ms: int, size: int) -> None:
        self._window_ms = window_ms
        self._size = size
        self._followed: OrderedDict[tuple[str, bytes], int] = OrderedDict()

    def repeats(self, target: tuple[str, bytes], now: int) -> bool:
        """Say whether a target was followed lately; if not, note that it is being followed.

        Args:
            target: Its key, and the bytes that are asked for.
            now: The time, epoch ms.
        """
        if self._window_ms < 0 or self._size == 0:
            return False
        before = self._followed.get(target)
        if before is not None and now - before <= self._window_ms:
            return True
        self._followed[target] = now
        self._followed.move_to_end(target)
        while len(self._followed) > self._size:
            self._followed.popitem(last=False)
        return False
