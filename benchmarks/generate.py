"""generate beside a bare read of the crawldb: CPU seconds and peak memory.

    python -m benchmarks.generate --pages 10000000 --top-n 50000

Aims at 10 M pages: at most 2 GB, and less than half of what a window over all due pages costs.
Each run is a process of its own; the runs are interleaved, and the medians compared. `read` reads
every column that generate may read, `window` ranks all due pages without a floor.
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
from benchmarks.update import peak_mb
from filbert.engine.base import Collect, Query
from filbert.model.clock import FixedClock
from filbert.steps import choosing
from filbert.steps.context import StepContext, open_context
from filbert.steps.generate import GenerateOptions
from filbert.steps.generate import run as generate

if TYPE_CHECKING:
    from collections.abc import Callable

_CAP = 100


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one job."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def read(context: StepContext, top_n: int) -> None:
    del top_n
    sql = (
        "select count(url), max(host), max(domain), min(status), min(fetch_time),"
        " max(fetch_interval), max(score), min(generate_time) from crawldb"
    )
    views = {"crawldb": context.crawl.table("crawldb").files()}
    context.engine.execute(Query(name="read", sql=sql), views, Collect())


def best(context: StepContext, top_n: int) -> None:
    _generate(context, GenerateOptions(top_n=top_n, num_fetchers=8, filter=False, normalize=False))


def in_order(context: StepContext, top_n: int) -> None:
    options = GenerateOptions(
        top_n=top_n // 3, max_num_segments=3, num_fetchers=8, filter=False, normalize=False
    )
    _generate(context, options)


def window(context: StepContext, top_n: int) -> None:
    choosing._FIRST_GUESS = 1_000_000_000  # noqa: SLF001 (no floor: every due page is a candidate)
    best(context, top_n)


def _generate(context: StepContext, options: GenerateOptions) -> None:
    settings = context.settings.generate.model_copy(update={"max_count": _CAP})
    whole = context.settings.model_copy(update={"generate": settings})
    scene = StepContext(
        crawl=context.crawl,
        settings=whole,
        engine=context.engine,
        plugins=context.plugins,
        clock=context.clock,
    )
    print(generate(scene, options).message, file=sys.stderr)


JOBS: dict[str, Callable[[StepContext, int], None]] = {
    "read": read,
    "generate": best,
    "in order": in_order,
    "window": window,
}


def work(job: str, crawl: Path, top_n: int) -> Run:
    """Do one job here, and say what it cost."""
    with open_context(crawl, (), {}, clock=FixedClock(NOW)) as context:
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        JOBS[job](context, top_n)
        wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(cpu, wall, peak_mb())


def in_process(job: str, crawl: Path, top_n: int) -> Run:
    """Do one job in a process of its own, on a copy of the folder."""
    fresh = crawl.with_name(f"{crawl.name}-{job.replace(' ', '-')}")
    subprocess.run(["cp", "-al", str(crawl), str(fresh)], check=True)
    try:
        command = [sys.executable, "-m", "benchmarks.generate", "--job", job]
        command += ["--crawl", str(fresh), "--top-n", str(top_n)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return Run(**json.loads(done.stdout.splitlines()[-1]))
    finally:
        shutil.rmtree(fresh)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--top-n", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--crawl", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(asdict(work(given.job, given.crawl, given.top_n))))
        return
    sizes = Sizes(pages=given.pages, fetches=1000, links=1000)
    with tempfile.TemporaryDirectory(prefix="filbert-bench-") as folder:
        crawl = Path(folder) / "crawl"
        make_crawl(crawl, sizes)
        runs: dict[str, list[Run]] = {job: [] for job in JOBS}
        for _ in range(given.rounds):
            for job, found in runs.items():
                found.append(in_process(job, crawl, given.top_n))
    report(sizes, given.top_n, runs)


def report(sizes: Sizes, top_n: int, runs: dict[str, list[Run]]) -> None:
    print(f"{sizes.pages:,} pages, top_n {top_n:,}, {_CAP} of a host, {sizes.buckets} buckets")
    medians = {}
    for job, found in runs.items():
        medians[job] = statistics.median(run.cpu_s for run in found)
        wall = statistics.median(run.wall_s for run in found)
        peak = max(run.peak_mb for run in found)
        print(f"  {job:9} {medians[job]:7.1f} CPU s  {wall:7.1f} s  peak {peak:6.0f} MB")
    ratio = medians["generate"] / medians["window"]
    print(f"  generate is {ratio:.2f} times the window over all due pages (aim: 0.5)")


if __name__ == "__main__":
    main()
