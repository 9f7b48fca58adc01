"""Passes on, again and again, that a lease is still held.

Guarantee: a thread of its own, so that a step that waits for its parts passes it on too; once the
lease is lost it says nothing more, and the parts stop by themselves.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from filbert.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LeaseWatch"]


class LeaseWatch:
    """A context manager.

    Args:
        check: Raises DataError when the lease is lost.
        beat: Says that it is held.
        every_s: Seconds between two looks.
    """

    def __init__(
        self, check: Callable[[], None], beat: Callable[[], None], *, every_s: float
    ) -> None:
        self._check = check
        self._beat = beat
        self._every_s = every_s
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease-watch", daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """End."""
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(self._every_s):
            try:
                self._check()
                self._beat()
            except (DataError, OSError):
                return
