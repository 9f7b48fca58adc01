"""Is a crawl polite, as the servers saw it?

    python scripts/politeness_check.py

Crawls a synthetic web of 50 hosts, delay 0.5 s, over several rounds with one `kill -9` in the
middle, then reads the server's log: no two requests to a host closer than the delay, counted from
the end of one to the start of the next, robots.txt included; robots.txt once per host within its
cache life; no URL asked for that robots.txt disallows.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from scene import Request, Web, crawl_command, serve

from filbert.testing.synthetic_web import SyntheticWeb, WebSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

CLOCK_SLACK_MS = 3  # the server stamps whole milliseconds, at both ends of a gap


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check; 0 if the crawl was polite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--pages", type=int, default=12)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--rounds", default="4")
    parser.add_argument("--kill-after", type=float, default=12.0, help="seconds; 0: no kill")
    chosen = parser.parse_args(arguments)
    chosen.port = 0
    with tempfile.TemporaryDirectory(prefix="filbert-polite-") as folder:
        log = Path(folder) / "requests.jsonl"
        with serve(log, chosen) as web:
            killed = crawl(Path(folder) / "crawl", web, chosen)
            seen = web.requests()
    spec = WebSpec(hosts=chosen.hosts, pages=chosen.pages, seed=chosen.seed)
    faults = [
        *too_close(seen, chosen.delay * 1000 - CLOCK_SLACK_MS),
        *robots_again(seen, killed),
        *disallowed(seen, SyntheticWeb(spec)),
    ]
    hosts = {one.host for one in seen}
    print(f"{len(seen)} requests to {len(hosts)} hosts; kill -9: {'once' if killed else 'none'}")
    for fault in faults[:20]:
        print("  rude:", fault)
    print("polite" if not faults else f"{len(faults)} faults")
    return bool(faults)


def crawl(folder: Path, web: Web, chosen: argparse.Namespace) -> int:
    """Crawl, killed once on the way; return the time of the kill in epoch ms, 0: none."""
    command = crawl_command(
        folder,
        web,
        rounds=chosen.rounds,
        seeds=chosen.hosts,
        settings=[f"fetcher.server_delay_s={chosen.delay}", "fetcher.threads=100"],
    )
    killed = 0
    if chosen.kill_after:
        with subprocess.Popen(command, start_new_session=True) as process:
            try:
                process.wait(chosen.kill_after)
            except subprocess.TimeoutExpired:
                subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
                process.send_signal(signal.SIGKILL)
                killed = time.time_ns() // 1_000_000
    subprocess.run(command, check=True)
    return killed


def too_close(seen: Sequence[Request], delay_ms: float) -> list[str]:
    """Return each pair of requests to one host that were closer than the delay."""
    last: dict[str, Request] = {}
    faults = []
    for one in seen:
        before = last.get(one.host)
        if before is not None and one.start_ms - before.end_ms < delay_ms:
            gap = one.start_ms - before.end_ms
            faults.append(f"{one.host}: {before.path} then {one.path} after {gap} ms")
        last[one.host] = one
    return faults


def robots_again(seen: Sequence[Request], killed: int) -> list[str]:
    """Return hosts whose robots.txt was asked for twice though it had answered.

    A 5xx answer says nothing and may be asked for again; so may one that was on its way when the
    crawl was killed.
    """
    counts: Counter[str] = Counter()
    for one in seen:
        settled = one.status < 500 and not (killed and one.start_ms <= killed <= one.end_ms + 500)
        if one.path == "/robots.txt" and settled:
            counts[one.host] += 1
    return [f"{host}: robots.txt {count} times" for host, count in counts.items() if count > 1]


def disallowed(seen: Sequence[Request], web: SyntheticWeb) -> list[str]:
    """Return requests that the host's robots.txt forbids."""
    by_host: dict[str, list[Request]] = defaultdict(list)
    for one in seen:
        by_host[one.host].append(one)
    faults = []
    for host, requests in by_host.items():
        reply = web.reply(f"http://{host}/robots.txt")
        if reply is None or reply.status != 200:
            continue
        rules = reply.body.decode()
        faults += [
            f"{host}{one.path} is disallowed"
            for one in requests
            if one.path != "/robots.txt" and not allowed(rules, one.path)
        ]
    return faults


def allowed(rules: str, path: str) -> bool:
    """Judge by the longest prefix, apart from our own rules: this web's files have one group."""
    best = (0, True)
    for line in rules.splitlines():
        name, _, prefix = line.partition(":")
        if name in ("Allow", "Disallow") and prefix.strip() and path.startswith(prefix.strip()):
            best = max(best, (len(prefix.strip()), name == "Allow"))
    return best[1]


if __name__ == "__main__":
    raise SystemExit(main())
