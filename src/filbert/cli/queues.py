"""`filbert queues`: what the queues of a running fetch wait for."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from filbert.cli.numbers import Whole
from filbert.cli.options import common_options, crawl_dir_argument, format_option

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.fetcher.progress import QueueWait

__all__ = ["command"]

_COLUMNS = ("key", "urls", "waits_for", "seconds", "delay_s", "failures", "empty_in_s")
_STALE_MS = 10_000


@click.command()
@crawl_dir_argument
@click.option(
    "--slowest", "most", type=Whole(1), default=20, show_default=True, help="Queues to show."
)
@common_options
@format_option()
def command(crawl_dir: Path, most: int, overrides: tuple[str, ...], form: str) -> int | None:
    r"""Show how the fetch of CRAWL_DIR is going, and which of its queues will take longest.

    For another terminal while a crawl runs: each queue with what it waits for and for how long,
    its delay, and when it can be empty at the earliest. Ends with exit code 1 if no fetch is going
    on.
    """
    from filbert.cli.crawl_display import progress_lines
    from filbert.cli.output import print_rows
    from filbert.model.clock import SystemClock
    from filbert.reports.queues import running_fetch
    from filbert.store.crawl import CrawlFolder

    del overrides
    clock = SystemClock()
    fetch = running_fetch(CrawlFolder.open(crawl_dir, clock=clock))
    if fetch is None:
        click.echo(f"no fetch of {crawl_dir} is going on", err=True)
        return 1
    if form == "table":
        click.echo(f"segment {fetch.segment}: {progress_lines(fetch.parts)[0]}")
        age = clock.now_ms() - fetch.said_at
        if age > _STALE_MS:
            click.echo(f"(said {age / 1000:.0f} s ago: the fetch was stopped, or is stuck)")
    now = fetch.said_at
    print_rows([_row(queue, now) for queue in fetch.slowest(most)], form, _COLUMNS)
    return None


def _row(queue: QueueWait, now: int) -> dict[str, object]:
    waiting = None if queue.until is None else round(max(0, queue.until - now) / 1000, 1)
    return asdict(queue) | {
        "seconds": waiting,
        "delay_s": queue.delay_ms / 1000,
        "empty_in_s": round(max(0, queue.empty_at - now) / 1000, 1),
    }
