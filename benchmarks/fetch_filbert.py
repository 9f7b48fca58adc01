"""filbert's fetch without its queues: robots, guard, decoding, WARC, journal, seal.

Arguments: file of URLs, folder for the segment. Prints one JSON line. One request at a time per
host, no delay.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from pathlib import Path

import uvloop

from filbert.model.clock import SystemClock
from filbert.model.records import CrawlDatum, FetchRecord, FetchRequest
from filbert.model.statuses import FetchStatus
from filbert.plugins.protocols.http import HttpProtocol
from filbert.rules.outcome import fetch_status
from filbert.rules.robots import parse_robots
from filbert.rules.urls import place_of
from filbert.settings import Settings
from filbert.settings.http import HttpSettings
from filbert.store.captures import CaptureLog, CaptureOptions
from filbert.store.seal import seal

SLOTS = 100
SYNC_EVERY_S = 0.5
CLOCK = SystemClock()
DATUM = CrawlDatum(fetch_interval=2_592_000, score=1.0)


def by_host(urls: list[str]) -> list[tuple[str, list[tuple[int, str]]]]:
    """Return the URLs of each host with their positions."""
    hosts: dict[str, list[tuple[int, str]]] = {}
    for position, url in enumerate(urls):
        hosts.setdefault(url.split("/")[2], []).append((position, url))
    return list(hosts.items())


async def fetch_host(
    protocol: HttpProtocol, log: CaptureLog, host: str, urls: list[tuple[int, str]]
) -> int:
    """Fetch the pages of a host one after the other."""
    answer = await protocol.fetch(FetchRequest(url=f"http://{host}/robots.txt", robots=True))
    rules = parse_robots(answer.body, ("bench",))
    kept = 0
    for position, url in urls:
        if not rules.judge(url).allowed:
            continue
        output = await protocol.fetch(FetchRequest(url=url))
        name, domain = place_of(url)
        record = FetchRecord(
            url=url,
            host=name,
            domain=domain,
            hop=0,
            part=0,
            position=position,
            status=fetch_status(output),
            fetch_time=CLOCK.now_ms(),
            datum=DATUM,
            protocol_code=output.status,
            http_status=output.http_status,
            ip=output.ip,
            protocol=output.protocol,
            response_ms=output.response_ms,
        )
        kept += record.status is FetchStatus.FETCH_SUCCESS
        log.append(record, output)
    return kept


async def run(urls: list[str], folder: Path) -> int:
    """Fetch everything; return how many pages were kept."""
    settings = Settings(http=HttpSettings(agent_name="bench", allow_addresses=("loopback",)))
    queue = by_host(urls)
    kept = 0
    options = CaptureOptions.from_settings(settings)

    async def work(protocol: HttpProtocol, log: CaptureLog) -> None:
        nonlocal kept
        while queue:
            got = await fetch_host(protocol, log, *queue.pop())
            kept += got

    async def sync(log: CaptureLog) -> None:
        while True:
            await asyncio.sleep(SYNC_EVERY_S)
            await asyncio.to_thread(log.sync)

    with CaptureLog(folder / "content", folder / "journal", 0, options=options, clock=CLOCK) as log:
        async with (
            HttpProtocol.from_settings(settings, folder) as protocol,
            asyncio.TaskGroup() as g,
        ):
            syncing = g.create_task(sync(log))
            async with asyncio.TaskGroup() as workers:
                for _ in range(SLOTS):
                    workers.create_task(work(protocol, log))
            syncing.cancel()
    return kept


def main() -> None:
    """Fetch, seal, print."""
    folder = Path(sys.argv[2])
    urls = Path(sys.argv[1]).read_text().split()
    started = time.process_time()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    kept = uvloop.run(run(urls, folder))
    sealed = seal(folder / "journal", 0, folder / "scratch")
    cpu_s = time.process_time() - started
    print(json.dumps({"pages": kept, "cpu_s": cpu_s, "rows": sealed.rows}))


if __name__ == "__main__":
    main()
