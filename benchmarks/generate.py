"""generate beside a bare read of the crawldb: CPU seconds and peak memory.

    python -m benchmarks.generate --pages 10000000 --top-n 50000

Aims at 10 M pages: at most 2 GB, and less than half of what a window over all due pages costs.
Each run is a process of its own; the runs are interleaved, and the medians compared. `read` reads
every column that generate may read, `window` ranks all due pages without a floor.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import jobs
from benchmarks.jobs import Run, in_process, in_turn, work
from benchmarks.paper_crawldb import Sizes, make_crawl
from filbert.engine.base import Collect, Query
from filbert.steps import choosing
from filbert.steps.context import StepContext
from filbert.steps.generate import GenerateOptions
from filbert.steps.generate import run as generate

if TYPE_CHECKING:
    from collections.abc import Callable

_CAP = 100


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--top-n", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--crawl", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        work(lambda context: JOBS[given.job](context, given.top_n), given.crawl)
        return
    sizes = Sizes(pages=given.pages, fetches=1000, links=1000)
    with tempfile.TemporaryDirectory(prefix="filbert-bench-") as folder:
        crawl = Path(folder) / "crawl"
        make_crawl(crawl, sizes)
        runs: dict[str, list[Run]] = {job: [] for job in JOBS}
        top_n = str(given.top_n)
        in_turn(
            runs,
            lambda job: in_process("benchmarks.generate", job, crawl, "--top-n", top_n),
            given.rounds,
        )
    report(sizes, given.top_n, runs)


def report(sizes: Sizes, top_n: int, runs: dict[str, list[Run]]) -> None:
    print(f"{sizes.pages:,} pages, top_n {top_n:,}, {_CAP} of a host, {sizes.buckets} buckets")
    medians = jobs.report(runs)
    ratio = medians["generate"] / medians["window"]
    print(f"  generate is {ratio:.2f} times the window over all due pages (aim: 0.5)")


if __name__ == "__main__":
    main()
