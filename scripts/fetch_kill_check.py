"""Does one long fetch survive `kill -9`, and stay polite over it?

    python scripts/fetch_kill_check.py

Fetches 20,000 pages of a synthetic web, redirects followed at once and errors among them, with 20
kills at random instants (seeded); after each kill the same command goes on. In the end every URL of
the fetch list has one row or was left due; no capture is lost or doubled; the server saw no page
more often than it was kept, but for those in flight at a kill; and no host was asked before its
delay was over.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from kill_check import capture_faults, in_flight, run_and_kill
from politeness_check import CLOCK_SLACK_MS, too_close
from scene import Request, command_of, free_port, rows, run, serve

from filbert.fetcher.left_due import read_left_due
from filbert.testing.synthetic_web import SyntheticWeb, WebSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scene import Web


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check; 0 if nothing was lost, doubled or rude."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--pages", type=int, default=100, help="of each host")
    parser.add_argument("--delay", type=float, default=0.3, help="seconds")
    parser.add_argument("--seed", type=int, default=5)
    chosen = parser.parse_args(arguments)
    chosen.port = free_port()
    with tempfile.TemporaryDirectory(prefix="filbert-kill-") as name:
        folder = Path(name)
        log = folder / "requests.jsonl"
        with serve(log, chosen) as web:
            listed = prepare(folder, web, chosen)
            began = time.monotonic()
            kills = fetch(folder / "crawl", web, chosen)
            seconds = time.monotonic() - began
            seen = web.requests()
        faults = [
            *unended(folder / "crawl", listed),
            *capture_faults(folder / "crawl"),
            *asked_too_often(folder / "crawl", seen, kills),
            *too_close(seen, chosen.delay * 1000 - CLOCK_SLACK_MS),
        ]
    print(f"{listed} URLs, {len(seen)} requests, {seconds:.0f} s")
    for fault in faults[:30]:
        print("  fault:", fault)
    print(f"{len(kills)} kills: " + ("nothing lost, doubled or rude" if not faults else "FAULTS"))
    return bool(faults) or len(kills) < chosen.kills


def settings(chosen: argparse.Namespace) -> tuple[str, ...]:
    """Return the settings of the fetch."""
    return (
        f"fetcher.server_delay_s={chosen.delay}",
        "fetcher.threads=60",
        "fetcher.max_exceptions_per_queue=-1",
        "http.redirect_max=3",
        "generate.num_fetchers=2",
        "urls.filters=validator",
        "robots.defer_delay_ms=1000",
    )


def prepare(folder: Path, web: Web, chosen: argparse.Namespace) -> int:
    """Make a fetch list of every page of the web; return how long it is."""
    pages = SyntheticWeb(WebSpec(hosts=chosen.hosts, pages=chosen.pages, seed=chosen.seed)).urls()
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(pages), encoding="utf-8")
    crawl, given = folder / "crawl", settings(chosen)
    run(command_of("inject", crawl, web, str(seeds), settings=given))
    run(command_of("generate", crawl, web, settings=given))
    return len(pages)


def fetch(crawl: Path, web: Web, chosen: argparse.Namespace) -> list[int]:
    """Fetch with kills; return when they were, epoch ms."""
    chance, kills = random.Random(chosen.seed), list[int]()
    command = command_of("fetch", crawl, web, settings=settings(chosen))
    # As long as an unbroken fetch takes at the least, each run's start besides.
    seconds = chosen.pages * chosen.delay / chosen.kills
    for _ in range(chosen.kills):
        if not run_and_kill(command, 1.0 + chance.uniform(0.2, 1.5) * seconds, kills):
            break
    run(command)
    return kills


def unended(crawl: Path, listed: int) -> list[str]:
    """Return URLs of the fetch list that ended in no way, or in two."""
    ended = Counter(str(row["url"]) for row in rows(crawl, "select url from fetches where hop = 0"))
    for folder in crawl.glob("segments/*/left_due"):
        ended.update(left.url for left in read_left_due(folder))
    faults = [f"{url} ended {times} times" for url, times in ended.items() if times > 1]
    return faults + ([f"{len(ended)} of {listed} ended"] if len(ended) != listed else [])


def asked_too_often(crawl: Path, seen: Sequence[Request], kills: Sequence[int]) -> list[str]:
    """Return pages asked for more often than they were kept, kills aside; or kept unasked."""
    kept = Counter(
        str(row["url"]).removeprefix("http://")
        for row in rows(crawl, "select url from fetches where http_status is not null")
    )
    asked: dict[str, list[Request]] = defaultdict(list)
    for one in seen:
        if one.path != "/robots.txt":
            asked[one.host + one.path].append(one)
    faults = [f"{page} kept, not asked for" for page in kept.keys() - asked.keys()]
    for page, requests in asked.items():
        settled = sum(not in_flight(one, kills) for one in requests)
        if not settled <= kept[page] <= len(requests):
            faults.append(f"{page}: {len(requests)} requests, {settled} settled, {kept[page]} kept")
    return faults


if __name__ == "__main__":
    raise SystemExit(main())
