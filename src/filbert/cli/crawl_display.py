"""What a crawl shows while it runs: a live display on a terminal, plain lines elsewhere.

Guarantee: it always says which step is at work and, in a fetch, how many pages a second come,
what the queues wait for and until when. It reads small files that the fetch writes; a display
that fails costs nothing.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from filbert.fetcher.progress import read_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from filbert.fetcher.progress import PartProgress
    from filbert.steps.context import StepResult
    from filbert.store.crawl import CrawlFolder

__all__ = ["CrawlWatch", "progress_lines", "watching"]

_LIVE_S = 0.5
_PLAIN_S = 10.0


@contextmanager
def watching(crawl: CrawlFolder, *, live: bool = True) -> Iterator[CrawlWatch]:
    """Show a crawl inside the block: live if stderr is a terminal, else one line now and then.

    Args:
        crawl: The crawl folder.
        live: Whether it may be live; not where other lines are written to stderr meanwhile.
    """
    console = Console(stderr=True)
    if not (live and console.is_terminal):
        watch = CrawlWatch(crawl, console)
        with _ticking(_PLAIN_S, watch.print_line):
            yield watch
        return
    with Live(console=console, auto_refresh=False, transient=True) as display:
        watch = CrawlWatch(crawl, console)
        with _ticking(_LIVE_S, lambda: display.update(watch.picture(), refresh=True)):
            yield watch


@contextmanager
def _ticking(seconds: float, tick: Callable[[], None]) -> Iterator[None]:
    done = threading.Event()

    def run() -> None:
        while not done.wait(seconds):
            tick()

    thread = threading.Thread(target=run, name="filbert-display", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class CrawlWatch:
    """Looks on at a crawl; made by `watching`.

    Args:
        crawl: The crawl folder.
        console: Where lines go.
    """

    def __init__(self, crawl: CrawlFolder, console: Console) -> None:
        self._crawl = crawl
        self._console = console
        self._step = ""
        self._round = 0
        self._began = time.monotonic()

    def started(self, step: str, round_number: int) -> None:
        """A step begins."""
        self._step, self._round, self._began = step, round_number, time.monotonic()

    def ended(self, result: StepResult) -> None:
        """A step is done: one line that stays."""
        seconds = time.monotonic() - self._began
        where = f"round {self._round}" if result.step != "inject" else "       "
        if result.message and not result.nothing_to_do:
            line = Text(f"{where}  {result.step:<11} {result.message}  ({seconds:.1f} s)")
            self._console.print(line, soft_wrap=True)
        self._step = ""

    def picture(self) -> Group:
        """Return the live display of this moment."""
        seconds = time.monotonic() - self._began
        head = Text(f"round {self._round}  {self._step}  {seconds:.0f} s", style="bold")
        return Group(head, *(Text("  " + line) for line in self._fetch_lines()))

    def print_line(self) -> None:
        """Print one line of a fetch that is going on."""
        lines = self._fetch_lines()
        if lines:
            self._console.print(Text(f"round {self._round}  {lines[0]}"), soft_wrap=True)

    def _fetch_lines(self) -> Sequence[str]:
        segments = self._crawl.segments() if self._step == "fetch" else []
        return progress_lines(read_progress(segments[-1].journal_dir)) if segments else ()


def progress_lines(parts: Sequence[PartProgress]) -> list[str]:
    """Return how a fetch is going, in words: a line of figures, then the queues that are next."""
    if not parts:
        return []
    now = max(part.now for part in parts)
    listed, ended = sum(part.listed for part in parts), sum(part.ended for part in parts)
    rate = sum(part.pages_per_s for part in parts)
    errors = sum(
        count for part in parts for name, count in part.counters.items() if name == "fetch_retry"
    )
    queued, queues = sum(p.queued for p in parts), sum(p.queue_count for p in parts)
    flight = sum(part.in_flight for part in parts)
    figures = (
        f"{ended:,} of {listed:,} URLs · {rate:.1f} pages/s · {errors:,} errors · "
        f"{queues:,} queues hold {queued:,} URLs · {flight:,} in flight"
    )
    lines = [figures + _eta(parts, now, rate)]
    waits = sorted(
        (queue for part in parts for queue in part.queues), key=lambda queue: queue.until or 0
    )
    for queue in waits[:5]:
        until = "" if queue.until is None else f" for {max(0, queue.until - now) / 1000:.1f} s"
        lines.append(f"{queue.key}: {queue.urls:,} URLs, waits for {queue.waits_for}{until}")
    return lines


def _eta(parts: Sequence[PartProgress], now: int, rate: float) -> str:
    """Return when the fetch will end: as politeness allows, or as fast as it goes."""
    left = sum(part.listed - part.ended for part in parts)
    polite = max((part.last_wait - now for part in parts if part.last_wait is not None), default=0)
    seconds = max(polite / 1000, left / rate if rate else 0.0)
    return f" · about {seconds:.0f} s to go" if left and seconds >= 1 else ""
