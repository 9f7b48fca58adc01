"""Does a crawl survive `kill -9`?

    python scripts/kill_check.py --kills 30

Crawls a synthetic web once unbroken, then again with kills at random instants (seeded) of all
steps; after each kill the same command goes on. In the end both crawls must agree on every URL's
status, retries, interval, signature and score, on anchors and documents; no capture is lost or
doubled; and the server saw no page twice except those in flight at a kill.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from scene import Request, Web, crawl_command, free_port, rows, run, serve

from filbert.search.searcher import SearchIndex
from filbert.settings.search import SearchSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

KILLS_PER_CRAWL = 6
FLIGHT_MS = 150  # a reply that left the server so shortly before a kill may not have been kept
SETTINGS = (
    "fetcher.server_delay_s=0.02",
    "fetcher.threads=20",
    "fetcher.max_exceptions_per_queue=-1",  # whether a queue is given up depends on the clock
    "generate.num_fetchers=2",
    "store.buckets=4",
)
PAGES = (
    "select url, status, retries, fetch_interval, hex(signature) as signature, score "
    "from crawldb order by url"
)
LINKS = "select url, from_url, anchor from inlinks order by url, from_url, anchor"
CAPTURES = (
    "select url, part, position, hop, segment, warc_file, warc_offset from fetches"
    " where warc_file is not null"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a crawl ended in."""

    pages: dict[str, dict[str, object]]
    links: list[dict[str, object]]
    documents: set[str]
    faults: list[str] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check; 0 if nothing was lost, doubled or different."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--rounds", default="4")
    parser.add_argument("--seed", type=int, default=3)
    chosen = parser.parse_args(arguments)
    chosen.port = free_port()  # one for all crawls: the port is part of every URL
    chance = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory(prefix="filbert-kill-") as name:
        folder = Path(name)
        wanted, seconds = unbroken(folder, chosen)
        print(f"unbroken: {len(wanted.pages)} URLs, {len(wanted.links)} links, {seconds:.1f} s")
        faults = list(wanted.faults)
        done, number = 0, 0
        while done < chosen.kills:
            planned = min(KILLS_PER_CRAWL, chosen.kills - done)
            got, killed = broken(folder, chosen, number, planned, seconds, chance)
            found = [*got.faults, *differences(wanted, got)]
            print(f"crawl {number}: {killed} kills, {len(found)} faults")
            faults += found
            done, number = done + killed, number + 1
    for fault in faults[:30]:
        print("  fault:", fault)
    print(f"{done} kills: " + ("nothing lost, doubled or different" if not faults else "FAULTS"))
    return bool(faults)


def unbroken(folder: Path, chosen: argparse.Namespace) -> tuple[Outcome, float]:
    """Crawl without a kill; return what it ended in, and how long it took."""
    log = folder / "unbroken.jsonl"
    with serve(log, chosen) as web:
        command = crawl_command(
            folder / "unbroken", web, rounds=chosen.rounds, seeds=3, settings=SETTINGS
        )
        began = time.monotonic()
        run(command)
        seconds = time.monotonic() - began
        return outcome(folder / "unbroken", web, []), seconds


def broken(
    folder: Path,
    chosen: argparse.Namespace,
    number: int,
    planned: int,
    seconds: float,
    chance: random.Random,
) -> tuple[Outcome, int]:
    """Crawl with kills; return what it ended in, and how many kills met it at work."""
    crawl = folder / f"broken-{number}"
    log = folder / f"broken-{number}.jsonl"
    kills: list[int] = []
    with serve(log, chosen) as web:
        command = crawl_command(crawl, web, rounds=chosen.rounds, seeds=3, settings=SETTINGS)
        for _ in range(planned):
            at = chance.uniform(0.3, 0.3 + 1.6 * seconds / planned)
            if not run_and_kill(command, at, kills):
                break
        run(command)
        return outcome(crawl, web, kills), len(kills)


def run_and_kill(command: Sequence[str], at: float, kills: list[int]) -> bool:
    """Start the crawl and kill its whole session after `at` seconds; False: it was done before."""
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(at)
        except subprocess.TimeoutExpired:
            subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
            kills.append(time.time_ns() // 1_000_000)
            return True
        return False


def outcome(crawl: Path, web: Web, kills: Sequence[int]) -> Outcome:
    """Read what a crawl ended in, and hold its captures against the files and the server's log."""
    pages = {str(row["url"]): row for row in rows(crawl, PAGES)}
    links, documents = rows(crawl, LINKS), set(indexed(crawl))
    faults = [*capture_faults(crawl), *asked_twice(web.requests(), kills)]
    return Outcome(pages=pages, links=links, documents=documents, faults=faults)


def indexed(crawl: Path) -> list[str]:
    """Return the URLs of all documents in the index."""
    return SearchIndex.open(crawl / "index", SearchSettings()).urls()


def capture_faults(crawl: Path) -> list[str]:
    """Return captures that are lost (a row without a record) or doubled (a record too many)."""
    from warcio.archiveiterator import ArchiveIterator

    known: dict[tuple[str, str], set[int]] = defaultdict(set)
    twice: Counter[tuple[str, str]] = Counter()
    for row in rows(crawl, CAPTURES):
        known[str(row["segment"]), str(row["warc_file"])].add(int(str(row["warc_offset"])))
        place = f"part {row['part']}, position {row['position']}, hop {row['hop']}"
        twice[str(row["segment"]), f"{row['url']}: {place}"] += 1
    faults = [f"{key} has {count} rows" for key, count in twice.items() if count > 1]
    for path in sorted(crawl.glob("segments/*/content/*.warc.gz")):
        there = set()
        with path.open("rb") as file:
            records = ArchiveIterator(file)
            there = {records.offset for one in records if one.rec_type == "response"}
        wanted = known.pop((path.parent.parent.name, path.name), set())
        faults += [f"{path.name}: no record at {offset}" for offset in sorted(wanted - there)]
        faults += [f"{path.name}: a record too many at {offset}" for offset in there - wanted]
    return faults + [f"{key}: the file is not there" for key in known]


def asked_twice(seen: Sequence[Request], kills: Sequence[int]) -> list[str]:
    """Return pages asked for twice though the first reply had time to be kept."""
    by_page: dict[str, list[Request]] = defaultdict(list)
    for one in seen:
        if one.path != "/robots.txt":
            by_page[one.host + one.path].append(one)
    return [
        f"{page} asked for {len(requests)} times"
        for page, requests in by_page.items()
        if any(not in_flight(one, kills) for one in requests[:-1])
    ]


def in_flight(one: Request, kills: Sequence[int]) -> bool:
    """Tell whether a request was on its way at a kill."""
    return any(one.start_ms - FLIGHT_MS <= kill <= one.end_ms + FLIGHT_MS for kill in kills)


def differences(wanted: Outcome, got: Outcome) -> list[str]:
    """Return where two crawls ended differently."""
    faults = [f"{url} is missing" for url in wanted.pages.keys() - got.pages.keys()]
    faults += [f"{url} is too many" for url in got.pages.keys() - wanted.pages.keys()]
    for url in wanted.pages.keys() & got.pages.keys():
        ours, theirs = wanted.pages[url], got.pages[url]
        faults += [
            f"{url}: {name} is {theirs[name]}, was {ours[name]}"
            for name in ("status", "retries", "fetch_interval", "signature")
            if ours[name] != theirs[name]
        ]
        score, other = float(str(ours["score"])), float(str(theirs["score"]))
        if abs(score - other) > 1e-5 * max(1.0, abs(score)):
            faults.append(f"{url}: score is {other}, was {score}")
    if wanted.links != got.links:
        faults.append(f"anchors: {len(got.links)} links, were {len(wanted.links)}")
    faults += [f"index: {url} differs" for url in sorted(wanted.documents ^ got.documents)]
    return faults


if __name__ == "__main__":
    raise SystemExit(main())
