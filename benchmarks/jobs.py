"""Jobs beside each other: each run in a process of its own, on a copy of the folder."""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.paper_crawldb import NOW
from filbert.model.clock import FixedClock
from filbert.steps.context import open_context

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from filbert.steps.context import StepContext


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one job."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def work(job: Callable[[StepContext], None], crawl: Path) -> None:
    """Do one job here, and print what it cost as the last line."""
    with open_context(crawl, (), {}, clock=FixedClock(NOW)) as context:
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        job(context)
        wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps(asdict(Run(cpu, wall, peak_mb()))))


def in_turn(runs: Mapping[str, list[Run]], one: Callable[[str], Run], rounds: int) -> None:
    """Run each job once per round, and keep what it cost."""
    for _ in range(rounds):
        for job, found in runs.items():
            found.append(one(job))


def in_process(module: str, job: str, crawl: Path, *arguments: str) -> Run:
    """Do one job of a benchmark in a process of its own, on a copy of the folder."""
    fresh = crawl.with_name(f"{crawl.name}-{job.replace(' ', '-')}")
    subprocess.run(["cp", "-al", str(crawl), str(fresh)], check=True)
    try:
        command = [sys.executable, "-m", module, "--job", job, "--crawl", str(fresh), *arguments]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return Run(**json.loads(done.stdout.splitlines()[-1]))
    finally:
        shutil.rmtree(fresh)


def report(runs: Mapping[str, list[Run]]) -> dict[str, float]:
    """Print the medians of each job; return those of the CPU seconds."""
    medians = {}
    for job, found in runs.items():
        medians[job] = statistics.median(run.cpu_s for run in found)
        wall = statistics.median(run.wall_s for run in found)
        peak = max(run.peak_mb for run in found)
        print(f"  {job:9} {medians[job]:7.1f} CPU s  {wall:7.1f} s  peak {peak:6.0f} MB")
    return medians


def peak_mb() -> float:
    """Return the peak memory of this process."""
    # ru_maxrss would begin at what the parent had when it forked.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
