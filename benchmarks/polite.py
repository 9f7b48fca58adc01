"""Politeness at its price: many hosts at a delay, and lists that do not fit into memory.

    python -m benchmarks.polite --hosts 5000 --urls 5

First: 5,000 loopback hosts with a delay of 5 s are fetched for real; what is compared is the time
from the end of each request to the start of the next on the same host with the delay that had to be
kept (aim: 97 % of the rate that politeness allows). The burst at the start, when every host is
ready at once, is told apart: it is paid once. Then: fetch lists of 1 M and 10 M rows go through
feeder and queues, each request taking no time; the peak memory of the process (aim: it does not
grow with the list).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.fetch_site import page_urls, serve
from benchmarks.jobs import peak_mb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from filbert.fetcher.alarm import Alarm, LoopTime
    from filbert.rules.politeness import HostQueues

DELAY_S = 5.0
LISTED_HOSTS = 5_000
AIM = 0.97


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=5_000)
    parser.add_argument("--urls", type=int, default=5, help="of each host")
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--feed", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.feed:
        print(json.dumps(fed(given.feed)))
        return
    if given.hosts:
        at_a_delay(given.hosts, given.urls)
    for rows in given.rows:
        command = [sys.executable, "-m", "benchmarks.polite", "--feed", str(rows)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(done.stdout.splitlines()[-1])
        print(
            f"fed {rows:>12,} rows: peak {found['peak_mb']:.0f} MB, "
            f"{found['cpu_s'] / rows * 1e6:.1f} CPU µs a row",
            flush=True,
        )


# ------------------------------------------------------------------ the rate


def at_a_delay(hosts: int, urls: int) -> None:
    """Fetch, and say how much of the allowed rate was used."""
    import structlog

    from filbert.steps import fetch, generate, inject
    from filbert.steps.context import open_context

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    settings = (
        "http.agent_name=bench",
        f"fetcher.server_delay_s={DELAY_S}",
        "fetcher.threads=256",
        "generate.num_fetchers=1",
    )
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        with serve(root / "site") as (port, server):
            (root / "urls.txt").write_text("\n".join(page_urls(hosts, hosts * urls, port)))
            with open_context(root / "crawl", settings, {}, create=True) as context:
                inject.run(context, inject.InjectOptions(seeds=(str(root / "urls.txt"),)))
                generate.run(context, generate.GenerateOptions())
                began = time.monotonic()
                fetch.run(context, fetch.FetchOptions())
                wall = time.monotonic() - began
                (segment,) = context.crawl.segments()
                gaps = list(_gaps(segment.table("crawl_fetch").files()))
    least = urls * DELAY_S  # robots.txt, then each page after a delay
    late = sorted(gap - DELAY_S for gap in gaps)
    kept = DELAY_S / (sum(gaps) / len(gaps))
    print(f"{hosts:,} hosts x {urls} URLs, delay {DELAY_S:g} s, server {server}, 256 slots")
    print(
        f"  {kept:.1%} of the rate that politeness allows (aim {AIM:.0%}); "
        f"late by {late[len(late) // 2] * 1000:.0f} ms (half), "
        f"{late[len(late) * 99 // 100] * 1000:.0f} ms (99 %)"
    )
    print(
        f"  {wall:.1f} s in all, where the delays make {least:.0f} s: {least / wall:.0%} with the "
        "start and the burst of ready hosts"
    )
    print(f"  earliest by {-min(late[0], 0) * 1000:.0f} ms", flush=True)


def _gaps(files: object) -> Iterator[float]:
    """Yield the seconds from the end of a request to the start of the next, host by host."""
    from filbert.store.parquet import read_rows

    ends: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in read_rows(files, ("host", "fetch_time", "response_ms")):  # type: ignore[arg-type]
        ends[row["host"]].append((row["fetch_time"], row["response_ms"] or 0))
    for times in ends.values():
        times.sort()
        for (before, _), (end, took) in pairwise(times):
            yield (end - took - before) / 1000


# ------------------------------------------------------------------ the memory


def fed(rows: int) -> dict[str, float]:
    """Feed a list; return what it took."""
    import resource

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "list.parquet"
        command = [sys.executable, "-c", _LIST, str(rows), str(path)]
        subprocess.run(command, check=True)
        count = asyncio.run(_feed(path))
    assert count == rows, f"{count} of {rows} rows came"
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"peak_mb": peak_mb(), "cpu_s": used.ru_utime + used.ru_stime}


# In a process of its own: what it takes to make a list is not what it takes to read it.
_LIST = f"""
import sys, duckdb
from filbert.engine.duck import parquet
from filbert.model.schemas import CRAWL_GENERATE, Type
from filbert.engine.duck import TYPES
rows, path = int(sys.argv[1]), sys.argv[2]
host = "'h' || (i % {LISTED_HOSTS}) || '.test'"
known = {{
    "url": f"'http://' || {{host}} || '/some/path/of/usual/length/' || i || '.html'",
    "host": host, "domain": host, "part": "0", "position": "i", "status": "1", "score": "1.0",
    "fetch_time": "make_timestamptz(1700000000000000)", "fetch_interval": "2592000",
    "retries": "0", "bucket": "0", "seq": "0",
}}
columns = ", ".join(
    f"cast({{known.get(c.name, 'null')}} as "
    f"{{'timestamptz' if c.type is Type.TIMESTAMP else TYPES[c.type]}}) as {{c.name}}"
    for c in CRAWL_GENERATE.columns
)
select = f"select {{columns}} from range({{rows}}) t(i)"
duckdb.execute(f"copy ({{select}}) to '{{path}}' (format parquet)")
"""


async def _feed(path: Path) -> int:
    """Let a list go through feeder and queues; return how many items came out."""
    from filbert.engine.base import Files
    from filbert.fetcher.alarm import Alarm, LoopTime
    from filbert.fetcher.feeder import QueueFeeder
    from filbert.fetcher.partition import PartShare
    from filbert.model.clock import SystemClock
    from filbert.model.schemas import CRAWL_GENERATE
    from filbert.rules.host_queue import PolitenessPolicy
    from filbert.rules.politeness import HostQueues
    from filbert.settings import Settings
    from filbert.settings.fetcher import FetcherSettings
    from filbert.store.frames import Bitmap
    from filbert.store.parquet import read_rows

    files = Files(schema=CRAWL_GENERATE, paths=(str(path),))
    PartShare(files, 0, 2)
    chosen = Settings(fetcher=FetcherSettings(server_delay_s=0.0))
    queues = HostQueues(PolitenessPolicy.from_settings(chosen, started=0))
    clock = LoopTime(SystemClock(), asyncio.get_running_loop())
    alarm, room = Alarm(clock), Alarm(clock)

    def rows_from(start: int) -> Iterator[Mapping[str, object]]:
        return read_rows(files, where=f"part = 0 and position >= {start}")

    async def key_of(item: object) -> str:
        return item.host  # type: ignore[attr-defined, no-any-return]

    def offer(item: object, key: str) -> None:
        queues.offer(item, key, clock.now_ms())  # type: ignore[arg-type]
        alarm.ring()

    feeder = QueueFeeder(rows_from, Bitmap(), queues, key_of=key_of, offer=offer, room=room)
    async with asyncio.TaskGroup() as group:
        group.create_task(feeder.run())
        return await _drained(queues, clock, room)


async def _drained(queues: HostQueues, clock: LoopTime, room: Alarm) -> int:
    """End every fetch at once; return how many there were."""
    from filbert.rules.fetch_actions import Done, Fetch
    from filbert.rules.host_queue import Outcome

    count = 0
    while not isinstance(action := queues.next_action(clock.now_ms()), Done):
        if isinstance(action, Fetch):
            count += 1
            queues.finished(action.key, clock.now_ms(), Outcome.ANSWERED)
            room.ring()
        else:
            await asyncio.sleep(0)
    return count


if __name__ == "__main__":
    main()
