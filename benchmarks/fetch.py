"""The whole fetch beside Scrapy: pages per CPU second of the client process.

    python -m benchmarks.fetch --pages 20000 --rounds 3

Both clients, each in a process of its own, fetch the same pages from the same local server (gzip
on the wire, zero delay, robots.txt obeyed) and store every body. Two figures each: CPU of the whole
process, and CPU without the imports. Runs are interleaved; the medians are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.fetch_site import page_urls, serve

CLIENTS = {
    "filbert": ("benchmarks.fetch_filbert", "fetch"),
    "scrapy": ("benchmarks.fetch_scrapy",),
}


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one client."""

    pages: int
    whole_cpu_s: float
    work_cpu_s: float
    peak_mb: float


def run_client(name: str, urls: Path, folder: Path, expected: int) -> Run:
    """Run a client and count its CPU, with its children's; stop if it did not fetch everything."""
    folder.mkdir()
    module, *job = CLIENTS[name]
    command = [sys.executable, "-m", module, *job, str(urls), str(folder)]
    if job:
        subprocess.run(
            [*command[:3], "prepare", str(urls), str(folder)], check=True, stdout=subprocess.DEVNULL
        )
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()
    _, code, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(code)
    process.stdout.close()
    if process.returncode:
        raise SystemExit(f"{name} ended with {process.returncode}")
    answer = json.loads(lines[-1])
    if answer["pages"] != expected:
        raise SystemExit(f"{name} fetched {answer['pages']} of {expected} pages")
    return Run(
        answer["pages"],
        usage.ru_utime + usage.ru_stime,
        answer["cpu_s"],
        usage.ru_maxrss / 1024,
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument(
        "--scrapy-pages", type=int, default=6_000, help="Scrapy's share: it is slow"
    )
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--server", choices=["nginx", "asyncio"])
    options = parser.parse_args(arguments)
    use_nginx = None if options.server is None else options.server == "nginx"
    counts = {"filbert": options.pages, "scrapy": min(options.pages, options.scrapy_pages)}
    clients = [name for name in CLIENTS if name == "filbert" or find_spec(name)]
    if "scrapy" not in clients:
        print("Scrapy is missing: pip install -r requirements/bench.txt; filbert alone is measured")
    runs: dict[str, list[Run]] = {name: [] for name in clients}
    with (
        tempfile.TemporaryDirectory() as root,
        serve(Path(root) / "site", use_nginx=use_nginx) as (port, server),
    ):
        for number in range(options.rounds):
            for name in clients:
                urls = Path(root) / "urls.txt"
                urls.write_text("\n".join(page_urls(options.hosts, counts[name], port)))
                folder = Path(root) / f"{name}-{number}"
                runs[name].append(run_client(name, urls, folder, counts[name]))
        report(runs, server)


def report(runs: dict[str, list[Run]], server: str) -> None:
    """Print a table and the ratios."""
    print(f"whole fetch, server {server}, medians of {len(runs['filbert'])} rounds")
    print(f"{'client':<10}{'pages':>8}{'pages/CPU s':>14}{'without start':>15}{'peak MB':>9}")
    speeds = {}
    for name, done in runs.items():
        whole = statistics.median(run.pages / run.whole_cpu_s for run in done)
        work = statistics.median(run.pages / run.work_cpu_s for run in done)
        peak = max(run.peak_mb for run in done)
        speeds[name] = (whole, work)
        print(f"{name:<10}{done[0].pages:>8}{whole:>14,.0f}{work:>15,.0f}{peak:>9.0f}")
    if "scrapy" not in speeds:
        return
    whole, work = (speeds["filbert"][n] / speeds["scrapy"][n] for n in (0, 1))
    print(f"filbert is {whole:.1f} x scrapy; {work:.1f} x without start-up (aim: 10 x)")


if __name__ == "__main__":
    main()
