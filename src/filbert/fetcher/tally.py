"""What a part has done so far, as numbers under named reasons.

Guarantee: every URL of the fetch list is counted once: as a fetch status, or as left due under a
reason. Further counters (`redirect.…`, `error.…`, `robots.…`, `latency.…`, bytes) say more of
the same.
Source: Nutch's `FetcherStatus` counters.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from filbert.model.statuses import FetchStatus
from filbert.rules.latency import counter_of

if TYPE_CHECKING:
    from filbert.model.records import FetchRecord, ProtocolOutput
    from filbert.rules.host_queue import DropReason

__all__ = ["Tally"]

_RATE_WINDOW_S = 10


class Tally:
    """Counters of a part.

    Attributes:
        counters: Number by name.
        pages: Fetches that ended, redirect hops included, what robots.txt forbade not.
    """

    def __init__(self) -> None:
        self.counters: Counter[str] = Counter()
        self.pages = 0
        self._seconds: deque[list[int]] = deque(maxlen=_RATE_WINDOW_S + 1)  # [second, pages]

    def captured(self, record: FetchRecord, output: ProtocolOutput, now: int) -> None:
        """Count one row of crawl_fetch."""
        name = record.status.label if record.hop == 0 else f"hop.{record.status.label}"
        self.counters[name] += 1
        if record.status in {FetchStatus.FETCH_RETRY, FetchStatus.FETCH_GONE}:
            self.counters[f"error.{record.reason}"] += 1
        if record.redirect_verdict is not None:
            self.counters[f"redirect.{record.redirect_verdict.partition(':')[0]}"] += 1
        if output.rendered_by or output.message.startswith("not_rendered:"):
            self.counters["browser.rendered" if output.rendered_by else "browser.failed"] += 1
        if output.http_status is None:
            return
        self.counters["bytes"] += len(output.raw_body)
        self.counters[counter_of(output.response_ms)] += 1
        self.pages += 1
        second = now // 1000
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1][1] += 1
        else:
            self._seconds.append([second, 1])

    def robots(self, what: str) -> None:
        """Count one request for robots.txt."""
        self.counters["robots.requests"] += 1
        self.counters[f"robots.{what}"] += 1

    def left_due(self, reason: DropReason) -> None:
        """Count a URL of the fetch list that was left to a later round."""
        self.counters["left_due"] += 1
        self.counters[f"left_due.{reason}"] += 1

    def rate(self, now: int) -> float:
        """Return pages per second over the last ten whole seconds."""
        second = now // 1000
        recent = sum(n for at, n in self._seconds if second - _RATE_WINDOW_S <= at < second)
        return recent / _RATE_WINDOW_S

    def last_second(self, now: int) -> int:
        """Return the pages of the last whole second."""
        return sum(n for at, n in self._seconds if at == now // 1000 - 1)
