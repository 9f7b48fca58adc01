"""updatedb beside a bare Parquet copy of the same crawldb: CPU seconds and peak memory.

    python -m benchmarks.update --pages 10000000 --fetches 200000 --links 4000000

Aims at 10 M pages: at most 1.5 times the copy, at most 1 GB. Each run is a process of its own; the
runs are interleaved, and the medians compared. The copies go through the same engine: they read
and write every column and decide nothing.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.paper_crawldb import NOW, Sizes, make_crawl
from filbert.engine.base import Files, Query, WriteFiles
from filbert.model.clock import FixedClock
from filbert.steps.context import StepContext, open_context
from filbert.steps.update import UpdateOptions
from filbert.steps.update import run as update

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one job."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def copy(context: StepContext) -> None:
    """Copy the crawldb, bucket by bucket."""
    table = context.crawl.table("crawldb")
    _copied(context, table.bucket_files().values())


def copy_all(context: StepContext) -> None:
    """Copy all that updatedb reads: the crawldb and the segment's rows."""
    copy(context)
    (segment,) = context.crawl.segments()
    _copied(context, [segment.table(name).files() for name in ("crawl_fetch", "crawl_parse")])


def _copied(context: StepContext, several: Iterable[Files]) -> None:
    with context.crawl.scratch("copy") as scratch:
        for files in several:
            into = WriteFiles(schema=files.schema, directory=scratch, stem="copy")
            query = Query(name="copy", sql="select * from given")
            context.engine.execute(query, {"given": files}, into)


def absorb(context: StepContext) -> None:
    print(update(context, UpdateOptions()).message, file=sys.stderr)


JOBS: dict[str, Callable[[StepContext], None]] = {
    "copy": copy,
    "copy-all": copy_all,
    "updatedb": absorb,
}


def work(job: str, crawl: Path) -> Run:
    """Do one job here, and say what it cost."""
    with open_context(crawl, (), {}, clock=FixedClock(NOW)) as context:
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        JOBS[job](context)
        wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(cpu, wall, peak_mb())


def peak_mb() -> float:
    """Return the peak memory of this process."""
    # ru_maxrss would begin at what the parent had when it forked.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def in_process(job: str, crawl: Path) -> Run:
    """Do one job in a process of its own, on a copy of the folder."""
    fresh = crawl.with_name(f"{crawl.name}-{job}")
    subprocess.run(["cp", "-al", str(crawl), str(fresh)], check=True)
    try:
        command = [sys.executable, "-m", "benchmarks.update", "--job", job, "--crawl", str(fresh)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return Run(**json.loads(done.stdout))
    finally:
        shutil.rmtree(fresh)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--fetches", type=int, default=200_000)
    parser.add_argument("--links", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--crawl", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(asdict(work(given.job, given.crawl))))
        return
    sizes = Sizes(pages=given.pages, fetches=given.fetches, links=given.links)
    with tempfile.TemporaryDirectory(prefix="filbert-bench-") as folder:
        crawl = Path(folder) / "crawl"
        make_crawl(crawl, sizes)
        runs: dict[str, list[Run]] = {job: [] for job in JOBS}
        for _ in range(given.rounds):
            for job, found in runs.items():
                found.append(in_process(job, crawl))
    report(sizes, runs)


def report(sizes: Sizes, runs: dict[str, list[Run]]) -> None:
    print(f"{sizes.pages:,} pages, {sizes.fetches:,} fetches, {sizes.links:,} links,", end=" ")
    print(f"{sizes.buckets} buckets")
    medians = {}
    for job, found in runs.items():
        medians[job] = statistics.median(run.cpu_s for run in found)
        wall = statistics.median(run.wall_s for run in found)
        peak = max(run.peak_mb for run in found)
        print(f"  {job:9} {medians[job]:7.1f} CPU s  {wall:7.1f} s  peak {peak:6.0f} MB")
    for name, of in (("copy-all", "all that it reads"), ("copy", "the crawldb alone")):
        print(f"  updatedb is {medians['updatedb'] / medians[name]:.2f} times a bare copy of {of}")


if __name__ == "__main__":
    main()
