"""updatedb and generate beside a bare Parquet copy of the same crawldb, in the same run.

    python -m benchmarks.tables --scale 1

Scale 1 is 10 M pages, 200,000 fetches and 4 M links. Aims there: updatedb at most 1.5 times the
copy and 1 GB. Each run is a process of its own; runs are interleaved, and the medians compared.
(`benchmarks.update` and `benchmarks.generate` say more of each step.)
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.jobs import Run, in_process, in_turn
from benchmarks.paper_crawldb import Sizes, make_crawl

PAGES, FETCHES, LINKS = 10_000_000, 200_000, 4_000_000
TOP_N = 50_000
_LEAST = 1_000


def one(job: str, crawl: Path) -> Run:
    """Run one job, by its name."""
    if job == "generate":
        return in_process("benchmarks.generate", job, crawl, "--top-n", str(TOP_N))
    return in_process("benchmarks.update", job, crawl)


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    pages, fetches, links = (
        max(_LEAST, round(count * given.scale)) for count in (PAGES, FETCHES, LINKS)
    )
    sizes = Sizes(pages=pages, fetches=fetches, links=links)
    if given.make:
        make_crawl(given.make, sizes)
        return
    runs: dict[str, list[Run]] = {name: [] for name in ("copy", "updatedb", "generate")}
    with tempfile.TemporaryDirectory(prefix="filbert-bench-") as folder:
        crawl = Path(folder) / "crawl"
        # A process of its own, or its memory would be counted as that of the runs.
        command = [sys.executable, "-m", "benchmarks.tables", "--make", str(crawl)]
        subprocess.run([*command, "--scale", str(given.scale)], check=True)
        in_turn(runs, lambda job: one(job, crawl), given.rounds)
    report(sizes, runs)


def report(sizes: Sizes, runs: dict[str, list[Run]]) -> None:
    """Print a table and the ratios."""
    print(
        f"tables: {sizes.pages:,} pages, {sizes.fetches:,} fetches, {sizes.links:,} links, "
        f"{sizes.buckets} buckets; medians of {len(runs['copy'])} rounds"
    )
    copied = statistics.median(run.cpu_s for run in runs["copy"])
    for name, done in runs.items():
        cpu = statistics.median(run.cpu_s for run in done)
        wall = statistics.median(run.wall_s for run in done)
        peak = max(run.peak_mb for run in done)
        print(
            f"  {name:9}{cpu:8.1f} CPU s{wall:8.1f} s  peak {peak:6.0f} MB"
            f"{cpu / copied:8.2f} x the bare copy"
        )
    print("  aims at 10 M pages: updatedb 1.5 x, 1,000 MB")


if __name__ == "__main__":
    main()
