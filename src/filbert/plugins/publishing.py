"""Telling publishers, whatever they do with it.

Guarantee: a publisher that cannot be opened or that raises is counted and passed over; nothing that
is told of is lost or stopped by it.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

import structlog

from filbert.model.records import FetchEvent

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable
    from typing import Literal

    from filbert.plugins.contracts import Publisher

__all__ = ["Publishing"]

_log = structlog.get_logger(__name__)


class Publishing:
    """The publishers of a part. A context manager.

    Args:
        publishers: In order; none: telling costs nothing.
        errors: Counts, under `publisher_<name>`, the events that one failed to take.
    """

    def __init__(self, publishers: Iterable[Publisher], errors: Counter[str]) -> None:
        self._errors = errors
        self._given = tuple(publishers)
        self._open: list[Publisher] = []
        self._stack = ExitStack()

    def __bool__(self) -> bool:
        """Say whether anybody listens."""
        return bool(self._open)

    def __enter__(self) -> Self:
        """Open the publishers that can be opened."""
        for publisher in self._given:
            try:
                self._open.append(self._stack.enter_context(publisher))
            except Exception as error:  # noqa: BLE001 - a stranger's code must not stop a fetch
                self._failed(publisher, error)
        return self

    def __exit__(self, *exc: object) -> None:
        """Close them."""
        self._open.clear()
        try:
            self._stack.close()
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("publish.failed", error=f"{type(error).__name__}: {error}")

    def tell(
        self, kind: Literal["start", "end", "report"], url: str, now: int, **facts: object
    ) -> None:
        """Tell everybody of one event."""
        if not self._open:
            return
        event = FetchEvent(kind=kind, url=url, time=now, facts=facts)
        for publisher in self._open:
            try:
                publisher.publish(event)
            except Exception as error:  # noqa: BLE001 - as above
                self._failed(publisher, error)

    def _failed(self, publisher: Publisher, error: Exception) -> None:
        name = f"publisher_{publisher.name}"
        if not self._errors[name]:
            words = f"{type(error).__name__}: {error}"
            _log.warning("publish.failed", publisher=publisher.name, error=words)
        self._errors[name] += 1
