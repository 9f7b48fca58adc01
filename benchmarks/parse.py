"""How many pages a core parses: real pages, in this process and through the guard.

Pages: those of the shared golden data (`../shared`), or any folder of HTML files:
`python benchmarks/parse.py [FOLDER]`. Prints pages per CPU second, and MB.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
import tempfile
import time
from pathlib import Path

from filbert.parser.guard import GuardedParser
from filbert.parser.jobs import ParseJob, ParseOptions
from filbert.parser.parsing import PageParser
from filbert.parser.rows import RowMaker
from filbert.plugins.registry import PluginRepository
from filbert.settings import Settings

GOLDEN = Path(__file__).resolve().parents[2] / "shared/golden/functions/parse-html.jsonl.gz"
SECONDS = 5.0


def main() -> None:
    bodies = folder_pages(Path(sys.argv[1])) if len(sys.argv) > 1 else golden_pages()
    jobs = [job(number, body) for number, body in enumerate(bodies)]
    size = sum(map(len, bodies))
    print(f"{len(jobs)} pages, {size / len(jobs) / 1000:.1f} kB each")
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
        with GuardedParser(ParseOptions(settings=settings, folder=Path(folder))) as guarded:
            report("guarded, both processes", jobs, lambda: list(guarded.parse(jobs)))


def report(name: str, jobs: list[ParseJob], work) -> None:  # noqa: ANN001
    work()
    rounds, started = 0, time.monotonic()
    cpu = time.process_time()
    while time.monotonic() - started < SECONDS:
        work()
        rounds += 1
    wall, cpu = time.monotonic() - started, time.process_time() - cpu
    pages = rounds * len(jobs)
    megabytes = rounds * sum(len(one.body) for one in jobs) / 1e6
    print(
        f"{name:24} {pages / wall:8.0f} pages/s {megabytes / wall:7.1f} MB/s wall, "
        f"{pages / cpu:8.0f} pages per CPU second of this process"
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
