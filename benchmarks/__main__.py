"""Everything that is measured, one after the other: `python -m benchmarks`, or `make bench`.

    python -m benchmarks --scale 0.01

Scale 1 has 10 M pages in its crawldb and takes some six minutes and a few GB of disk for temporary
files; the machine should have nothing else to do. Each part can be run alone, with more options.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

PARTS = ("tables", "parse", "fetch", "fetch_budget", "polite", "nutch", "help")
_HOSTS, _LISTS = 5_000, (1_000_000, 10_000_000)
_FETCH_PAGES, _SCRAPY_PAGES, _LEAST_PAGES = 20_000, 6_000, 1_000


def main() -> int:
    """Run the parts; the exit code is that of the first one that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="Share of the full sizes.")
    parser.add_argument("--rounds", type=int, help="Rounds of each; each part has its own number.")
    parser.add_argument("--only", choices=PARTS, action="append", help="This part alone.")
    given = parser.parse_args()
    print(machine(), flush=True)
    for part in given.only or PARTS:
        print(flush=True)
        command = [sys.executable, "-m", f"benchmarks.{part}", *options(part, given)]
        code = subprocess.run(command, check=False, cwd=Path(__file__).parents[1]).returncode
        if code:
            return code
    return 0


def options(part: str, given: argparse.Namespace) -> list[str]:
    """Return the options of a part."""
    rounds = [] if given.rounds is None else ["--rounds", str(given.rounds)]
    if part == "tables":
        return ["--scale", str(given.scale), *rounds]
    if part == "polite":
        share = min(1.0, given.scale)
        lists = (str(max(_LEAST_PAGES, round(rows * share))) for rows in _LISTS)
        return ["--hosts", str(max(100, round(_HOSTS * share))), "--rows", *lists]
    if part == "fetch":
        pages, scrapy = (
            max(_LEAST_PAGES, round(count * min(1.0, given.scale)))
            for count in (_FETCH_PAGES, _SCRAPY_PAGES)
        )
        return ["--pages", str(pages), "--scrapy-pages", str(scrapy), *rounds]
    return []


def machine() -> str:
    """Return one line about when and where."""
    model = platform.processor() or platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.is_file():
        lines = cpus.read_text(encoding="utf-8", errors="replace").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    return (
        f"{time.strftime('%Y-%m-%d', time.gmtime())}, {len(os.sched_getaffinity(0))} cores of "
        f"{model}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
