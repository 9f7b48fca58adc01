"""What a fetched page costs, step by step, beside the budget that a throw-away kernel set.

    python -m benchmarks.fetch_budget --pages 5000

Each step is timed by itself, on the same pages, in this process: CPU microseconds a page. The last
line is what the whole step costs (`benchmarks.fetch`), less all of these: tasks, feeder, counters,
commits. The kernel's figures were taken on another machine; compare the shape, not the digits.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop

from benchmarks.fetch_site import ROBOTS, page_urls, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from filbert.model.records import FetchItem, FetchRecord, ProtocolOutput
    from filbert.plugins.protocols.reply import Received

KERNEL = {
    "exchange": "80 to 90",
    "decode": "52 (isal)",
    "queues": "1 to 2.5",
    "robots": "10 to 12, with guard and limits",
    "row": "-",
    "WARC": "87, digests 10 to 20 more",
    "journal": "2.4 to 4",
    "seal": "6 to 13",
}


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5_000)
    pages = parser.parse_args(arguments).pages
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        with serve(root / "site") as (port, server):
            urls = page_urls(200, pages, port)
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(exchanges(urls[:500]))  # warm up: server, imports
                received, spent = runner.run(exchanges(urls))
        steps = {"exchange": spent, **after(urls, received, root)}
    print(f"what a page costs, {pages:,} pages, server {server}: CPU µs a page")
    print(f"  {'step':<10}{'filbert':>9}   the kernel of the first measurements")
    for step, spent in steps.items():
        print(f"  {step:<10}{spent / pages * 1e6:>9.1f}   {KERNEL[step]}")
    print(f"  {'together':<10}{sum(steps.values()) / pages * 1e6:>9.1f}   231")


async def exchanges(urls: Sequence[str]) -> tuple[list[Received], float]:
    """Ask for every page, a hundred at a time; nothing is decoded."""
    from filbert.model.records import FetchRequest
    from filbert.plugins.protocols.guard import AddressGuard
    from filbert.plugins.protocols.request import HeaderMaker, target_of
    from filbert.plugins.protocols.transfer import Errand, TransferPool
    from filbert.settings.http import HttpSettings

    settings = HttpSettings(agent_name="bench", allow_addresses=("loopback",))
    pool = TransferPool(settings, AddressGuard.from_settings(settings), 2_000)
    makers = HeaderMaker(settings)
    found: list[Received] = []
    left = iter(urls)

    async def work() -> None:
        for url in left:
            request = FetchRequest(url=url)
            target = target_of(request)
            errand = Errand(target, makers.lines(request, target.host), 5_000_000)
            found.append(await pool.perform(errand, (target.host, target.port)))

    began = time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(100):
            group.create_task(work())
    spent = time.process_time() - began
    await pool.close()
    return found, spent


def after(urls: Sequence[str], received: Sequence[Received], root: Path) -> dict[str, float]:
    """Time what is done with the answers, each step over all pages."""
    from filbert.fetcher.capture import fetch_record
    from filbert.plugins.protocols.reply import output_of
    from filbert.rules.robots import parse_robots
    from filbert.store.warc import capture_members
    from filbert.store.warc_codec import Codec, WarcOptions
    from filbert.testing.records import fetch_item

    items = [fetch_item(url, position=number) for number, url in enumerate(urls)]
    outputs: list[ProtocolOutput] = []
    records: list[FetchRecord] = []
    rules = parse_robots(ROBOTS, ("bench",))
    codec, options = Codec(WarcOptions()), WarcOptions()
    head = b"GET / HTTP/1.1\r\n\r\n"

    def decode() -> None:
        outputs.extend(
            output_of(one, request_head=head, limit=5_000_000, keep_partial=False)
            for one in received
        )

    def rows() -> None:
        records.extend(map(fetch_record, items, outputs, repeat(1_700_000_000_000)))

    def robots() -> None:
        for url in urls:
            rules.judge(url)

    def warc() -> None:
        for record, output in zip(records, outputs, strict=True):
            capture_members(record, output, codec, options)

    spent = {"decode": timed(decode), "queues": timed(lambda: queues(items))}
    spent |= {"robots": timed(robots), "row": timed(rows), "WARC": timed(warc)}
    appended, sealed = kept(records, root)
    return spent | {"journal": appended, "seal": sealed}


def timed(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def queues(items: Sequence[FetchItem]) -> None:
    """Let every item through the queues, each ended at once."""
    from filbert.rules.fetch_actions import Fetch
    from filbert.rules.host_queue import Outcome, PolitenessPolicy
    from filbert.rules.politeness import HostQueues
    from filbert.settings import Settings
    from filbert.settings.fetcher import FetcherSettings

    chosen = Settings(fetcher=FetcherSettings(server_delay_s=0.0))
    line = HostQueues(PolitenessPolicy.from_settings(chosen, started=0))
    for item in items:
        line.offer(item, item.host, 0)
    while isinstance(action := line.next_action(0), Fetch):
        line.finished(action.key, 0, Outcome.ANSWERED)


def kept(records: Sequence[FetchRecord], root: Path) -> tuple[float, float]:
    """Time the journal and its seal, without the captures themselves."""
    from filbert.model.clock import SystemClock
    from filbert.settings import Settings
    from filbert.store.captures import CaptureLog, CaptureOptions
    from filbert.store.seal import seal

    options = CaptureOptions.from_settings(Settings(), "bench")
    content, journal, into = root / "content", root / "journal", root / "sealed"
    into.mkdir()
    with CaptureLog(content, journal, 0, options=options, clock=SystemClock()) as log:
        appended = timed(lambda: [log.append(record) for record in records])
    return appended, timed(lambda: seal(journal, 0, into))


if __name__ == "__main__":
    main()
