"""How a fetch is going, part by part: a small file each that a display reads.

Guarantee: a reader sees a whole file or none; writing it costs nothing that a fetch would feel.
It always says what the queues wait for and, when it can be known, for how long: "0 pages/s" alone
tells nobody whether a fetch is stalled or polite.
Source: Nutch's status line `N threads, Q queues, U URLs queued, P pages, E errors, pages/s`.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from heapq import nlargest, nsmallest
from typing import TYPE_CHECKING

from filbert.rules.host_queue import QueueState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from filbert.fetcher.tally import Tally
    from filbert.rules.host_queue import FetchItemQueue
    from filbert.rules.politeness import HostQueues

__all__ = ["PartProgress", "QueueWait", "measure", "read_progress", "write_progress"]

_SHOWN_QUEUES = 5
_SLOWEST = 50
_MOST_LOOKED_AT = 5_000  # queues looked at for the shortest waits; a display needs no more


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueWait:
    """One queue, and what it waits for.

    Attributes:
        key: Host, domain or address.
        urls: URLs that it holds.
        waits_for: In words.
        until: Epoch ms; None: for an answer.
        delay_ms: Its delay: ours, or a longer one of robots.txt.
        failures: Failures in a row.
        empty_at: When it can be empty at the earliest, epoch ms, by its delay.
    """

    key: str
    urls: int
    waits_for: str
    until: int | None = None
    delay_ms: int = 0
    failures: int = 0
    empty_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PartProgress:
    """How one part is going at one moment.

    Attributes:
        part: Its number.
        listed: URLs of its fetch list.
        ended: URLs that are done: captured, refused or left due, those of earlier runs included.
        pages_per_s: Over the last ten seconds.
        last_wait: When the last of the queues now held will be empty, epoch ms; None: unknown.
        counters: As in `Tally`.
        queues: The queues that are next, and what they wait for.
        slowest: Those that will take longest, the last to be empty first.
    """

    part: int
    now: int
    started: int
    listed: int
    ended: int
    pages: int
    pages_per_s: float
    in_flight: int
    queued: int
    queue_count: int
    last_wait: int | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    queues: tuple[QueueWait, ...] = ()
    slowest: tuple[QueueWait, ...] = ()


def measure(
    queues: HostQueues, tally: Tally, *, part: int, times: tuple[int, int], urls: tuple[int, int]
) -> PartProgress:
    """Return how a part is going.

    Args:
        queues: Its queues.
        tally: Its counters.
        part: Its number.
        times: Now, and when it started.
        urls: How many there are in its list, and how many were done before this run.
    """
    now, started = times
    listed, before = urls
    counters = dict(tally.counters)
    here = sum(n for name, n in counters.items() if name.startswith(("fetch_", "parse_")))
    held = [queue for _, queue in zip(range(_MOST_LOOKED_AT), queues.queues(), strict=False)]
    busy = [queue for queue in held if len(queue) or queue.in_flight]
    last = [_empty_at(queue) for queue in busy if len(queue)]
    return PartProgress(
        part=part,
        now=now,
        started=started,
        listed=listed,
        ended=before + here + counters.get("left_due", 0),
        pages=tally.pages,
        pages_per_s=tally.rate(now),
        in_flight=queues.in_flight,
        queued=queues.waiting,
        queue_count=len(busy),
        last_wait=max(last, default=None),
        counters=counters,
        queues=tuple(_wait(queue, now) for queue in nsmallest(_SHOWN_QUEUES, busy, key=_next_time)),
        slowest=tuple(_wait(queue, now) for queue in nlargest(_SLOWEST, busy, key=_empty_at)),
    )


def write_progress(directory: Path, progress: PartProgress) -> None:
    """Write the file of a part; a disk that is full loses a display, not a fetch."""
    path = _path(directory, progress.part)
    draft = path.with_suffix(".new")
    try:
        draft.write_text(json.dumps(asdict(progress)), encoding="utf-8")
        os.replace(draft, path)  # noqa: PTH105 (each second)
    except OSError:
        return


def read_progress(directory: Path) -> list[PartProgress]:
    """Return how the parts of a segment are going, in order; one that says nothing is left out."""
    found = []
    for path in sorted(directory.glob("part-*.progress")):
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            queues, slowest = (
                tuple(QueueWait(**queue) for queue in values.pop(name))
                for name in ("queues", "slowest")
            )
            found.append(PartProgress(**values, queues=queues, slowest=slowest))
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return found


def _next_time(queue: FetchItemQueue) -> int:
    return queue.ready_at


def _empty_at(queue: FetchItemQueue) -> int:
    """Return when a queue can be empty, should all its requests take no time."""
    return queue.ready_at + len(queue) * queue.effective_delay()


def _wait(queue: FetchItemQueue, now: int) -> QueueWait:
    until: int | None = queue.ready_at if queue.ready_at > now else None
    if queue.in_flight:
        words, until = "an answer", None
    elif queue.parked and not queue.items:
        words, until = "robots.txt", None
    elif queue.state is QueueState.READY:
        words = "a free slot"
    elif queue.backoff_until > queue.next_time:
        words = str(queue.backoff_reason).replace("_", " ")
    else:
        words = "crawl delay" if queue.crawl_delay_ms else "delay"
    if queue.at_gate:
        words, until = f"its address {queue.gate.key if queue.gate else ''}", None
    return QueueWait(
        key=queue.key,
        urls=len(queue),
        waits_for=words,
        until=until,
        delay_ms=queue.effective_delay(),
        failures=queue.failures,
        empty_at=_empty_at(queue),
    )


def _path(directory: Path, part: int) -> Path:
    return directory / f"part-{part:05d}.progress"
