"""The whole fetch beside Scrapy and wget2: pages per CPU second of the client process.

    python -m benchmarks.fetch --pages 20000 --rounds 3

All clients, each in a process of its own, fetch pages from the same local server (nginx if it is
installed; gzip on the wire, zero delay) and store every body: filbert as WARC, with robots.txt and
address guard; Scrapy in one file, with robots.txt; wget2 as files, without. Two figures each: CPU
of the whole process, and CPU without the imports. Runs are interleaved; the medians are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.fetch_site import page_urls, serve

WGET2 = "--quiet --force-directories --max-threads=5 --compression=gzip --no-config --tries=1"
AIMS = {"scrapy": 15.0, "wget2": 1.0}


def commands(name: str, urls: Path, folder: Path) -> list[list[str]]:
    """Return what a client runs; the last command is measured."""
    if name == "wget2":
        return [["wget2", *WGET2.split(), f"--directory-prefix={folder}", f"--input-file={urls}"]]
    module = [sys.executable, "-m", f"benchmarks.fetch_{name}"]
    if name == "scrapy":
        return [[*module, str(urls), str(folder)]]
    return [[*module, job, str(urls), str(folder)] for job in ("prepare", "fetch")]


def present(name: str) -> bool:
    """Say whether a client is installed."""
    if name == "wget2":
        return shutil.which("wget2") is not None
    return name == "filbert" or find_spec(name) is not None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one client."""

    pages: int
    wall_s: float
    whole_cpu_s: float
    work_cpu_s: float
    peak_mb: float


def run_client(name: str, urls: Path, folder: Path, expected: int) -> Run:
    """Run a client and count its CPU, with its children's; stop if it did not fetch everything."""
    folder.mkdir()
    *before, command = commands(name, urls, folder)
    for one in before:
        subprocess.run(one, check=True, stdout=subprocess.DEVNULL)
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()
    _, code, usage = os.wait4(process.pid, 0)
    wall_s = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(code)
    process.stdout.close()
    if process.returncode:
        raise SystemExit(f"{name} ended with {process.returncode}")
    cpu_s = usage.ru_utime + usage.ru_stime
    answer = {"pages": count_files(folder), "cpu_s": cpu_s} if name == "wget2" else None
    answer = answer or json.loads(lines[-1])
    if answer["pages"] != expected:
        raise SystemExit(f"{name} fetched {answer['pages']} of {expected} pages")
    return Run(int(answer["pages"]), wall_s, cpu_s, answer["cpu_s"], usage.ru_maxrss / 1024)


def count_files(folder: Path) -> int:
    """Return how many files there are under a folder."""
    return sum(len(files) for _, _, files in os.walk(folder))


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
    counts = {
        "filbert": options.pages,
        "scrapy": min(options.pages, options.scrapy_pages),
        "wget2": options.pages,
    }
    clients = [name for name in counts if present(name)]
    for name in counts.keys() - set(clients):
        print(f"{name} is missing (requirements/bench.txt; Debian's wget2), and not measured")
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
    print(
        f"{'client':<10}{'pages':>8}{'pages/s':>10}{'pages/CPU s':>14}{'without start':>15}"
        f"{'µs/page':>9}{'peak MB':>9}"
    )
    speeds = {}
    for name, done in runs.items():
        fast = statistics.median(run.pages / run.wall_s for run in done)
        whole = statistics.median(run.pages / run.whole_cpu_s for run in done)
        work = statistics.median(run.pages / run.work_cpu_s for run in done)
        peak = max(run.peak_mb for run in done)
        speeds[name] = (whole, work)
        print(
            f"{name:<10}{done[0].pages:>8}{fast:>10,.0f}{whole:>14,.0f}{work:>15,.0f}"
            f"{1e6 / work:>9.0f}{peak:>9.0f}"
        )
    for name, aim in AIMS.items():
        if name in speeds:
            whole, work = (speeds["filbert"][n] / speeds[name][n] for n in (0, 1))
            print(
                f"filbert is {whole:.1f} x {name}; {work:.1f} x without start-up (aim: {aim:g} x)"
            )


if __name__ == "__main__":
    main()
