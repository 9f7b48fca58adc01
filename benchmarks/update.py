"""updatedb beside a bare Parquet copy of the same crawldb: CPU seconds and peak memory.

    python -m benchmarks.update --pages 10000000 --fetches 200000 --links 4000000

Aims at 10 M pages: at most 1.5 times the copy, at most 1 GB. Each run is a process of its own; the
runs are interleaved, and the medians compared. The copies go through the same engine: they read
and write every column and decide nothing.
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
from filbert.engine.base import Files, Query, WriteFiles
from filbert.steps.update import UpdateOptions
from filbert.steps.update import run as update

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from filbert.steps.context import StepContext


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
        work(JOBS[given.job], given.crawl)
        return
    sizes = Sizes(pages=given.pages, fetches=given.fetches, links=given.links)
    with tempfile.TemporaryDirectory(prefix="filbert-bench-") as folder:
        crawl = Path(folder) / "crawl"
        make_crawl(crawl, sizes)
        runs: dict[str, list[Run]] = {job: [] for job in JOBS}
        in_turn(runs, lambda job: in_process("benchmarks.update", job, crawl), given.rounds)
    report(sizes, runs)


def report(sizes: Sizes, runs: dict[str, list[Run]]) -> None:
    print(f"{sizes.pages:,} pages, {sizes.fetches:,} fetches, {sizes.links:,} links,", end=" ")
    print(f"{sizes.buckets} buckets")
    medians = jobs.report(runs)
    for name, of in (("copy-all", "all that it reads"), ("copy", "the crawldb alone")):
        print(f"  updatedb is {medians['updatedb'] / medians[name]:.2f} times a bare copy of {of}")


if __name__ == "__main__":
    main()
