"""How fast one core parses: real pages, in this process and through the guard.

    python -m benchmarks.parse [FOLDER]

Pages: those of any folder of HTML files; without one, those of the shared golden data (`../shared`)
or, where that is missing, made-up ones. Prints pages and MB per CPU second of all processes.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.fetch_site import page_body
from filbert.parser.guard import GuardedParser
from filbert.parser.jobs import ParseJob, ParseOptions
from filbert.parser.parsing import PageParser
from filbert.parser.rows import RowMaker
from filbert.plugins.registry import PluginRepository
from filbert.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).resolve().parents[2] / "shared/golden/functions/parse-html.jsonl.gz"
SECONDS = 5.0


def main() -> None:
    """Measure and print."""
    name, bodies = chosen_pages()
    jobs = [job(number, body) for number, body in enumerate(bodies)]
    size = sum(map(len, bodies))
    print(f"parse: {len(jobs)} {name} pages, {size / len(jobs) / 1000:.1f} kB each")
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings()
        plugins = PluginRepository(settings, Path(folder))
        parser, maker = PageParser(settings, plugins), RowMaker(settings, plugins)
        parsed = [parser.parse(one) for one in jobs]
        report("parsers alone", jobs, lambda: [parser.parse(one) for one in jobs])
        report(
            "rows alone",
            jobs,
            lambda: [maker.rows(*pair) for pair in zip(jobs, parsed, strict=True)],
        )
        guarded(jobs, ParseOptions(settings=settings, folder=Path(folder)))


def guarded(jobs: list[ParseJob], options: ParseOptions) -> None:
    """Measure what the step does: both processes, the child's start included."""
    before = sum(os.times()[:4])
    with GuardedParser(options) as parser:
        wall, pages = timed(jobs, lambda: list(parser.parse(jobs)))
    # The child's time is known when it has ended.
    show("guarded, as the step", jobs, pages, wall, sum(os.times()[:4]) - before)


def report(name: str, jobs: list[ParseJob], work: Callable[[], object]) -> None:
    """Measure work of this process alone."""
    work()
    cpu = time.process_time()
    wall, pages = timed(jobs, work)
    show(name, jobs, pages, wall, time.process_time() - cpu)


def timed(jobs: list[ParseJob], work: Callable[[], object]) -> tuple[float, int]:
    """Repeat the work for some seconds; return how long it took, and how many pages that was."""
    rounds, started = 0, time.monotonic()
    while time.monotonic() - started < SECONDS:
        work()
        rounds += 1
    return time.monotonic() - started, rounds * len(jobs)


def show(name: str, jobs: list[ParseJob], pages: int, wall: float, cpu: float) -> None:
    """Print one line."""
    megabytes = pages / len(jobs) * sum(len(one.body) for one in jobs) / 1e6
    print(
        f"  {name:22}{pages / cpu:8,.0f} pages and {megabytes / cpu:6.1f} MB per CPU s;"
        f"{pages / wall:8,.0f} pages/s of wall time"
    )


def job(number: int, body: bytes) -> ParseJob:
    return ParseJob(
        url=f"http://example.com/{number}",
        base_url=f"http://example.com/{number}",
        body=body,
        declared_type="text/html",
        headers={"content-type": ("text/html",)},
        fetch_time=0,
        score=1.0,
    )


def chosen_pages() -> tuple[str, list[bytes]]:
    """Return the pages, and what they are."""
    if len(sys.argv) > 1:
        return "your", folder_pages(Path(sys.argv[1]))
    if GOLDEN.is_file():
        return "real", golden_pages()
    return "made-up", [page_body(number) for number in range(100)]


def folder_pages(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("*.html"))[:2000]]


def golden_pages() -> list[bytes]:
    with gzip.open(GOLDEN, "rt") as file:
        rows = [row for row in map(json.loads, file) if row["kind"] == "real"]
    return [
        base64.b64decode(row["content_base64"])
        if "content_base64" in row
        else row["content"].encode()
        for row in rows
    ]


if __name__ == "__main__":
    main()
