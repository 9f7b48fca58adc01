"""filbert's share: `prepare` makes a crawl folder with a segment, `fetch` is the step itself.

Arguments: prepare or fetch, file of URLs, folder. `fetch` prints one JSON line. What is measured is
the whole step: feeder, queues, robots, guard, decoding, WARC, journal, seal, commits; in a process
of its own for the part, as always. (Imports are inside the functions, as in our commands: the
process of the part imports this module again.)
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

SETTINGS = (
    "http.agent_name=bench",
    "fetcher.server_delay_s=0",
    "fetcher.threads=100",
)


def prepare(urls: Path, crawl: Path) -> None:
    """Inject the URLs and generate one segment of one part."""
    from filbert.steps import generate, inject
    from filbert.steps.context import open_context

    with open_context(crawl, SETTINGS, {}, create=True) as context:
        inject.run(context, inject.InjectOptions(seeds=(str(urls),)))
        generate.run(context, generate.GenerateOptions())


def measured(crawl: Path) -> dict[str, float]:
    """Fetch; return the pages kept, and the CPU of this process and its children since now."""
    from filbert.steps import fetch
    from filbert.steps.context import open_context

    before = sum(os.times()[:4])
    with open_context(crawl, SETTINGS, {}) as context:
        result = fetch.run(context, fetch.FetchOptions())
    pages = result.counters.get("fetch_success", 0)
    return {"pages": pages, "cpu_s": sum(os.times()[:4]) - before}


if __name__ == "__main__":
    job, urls_file, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) / "crawl"
    if job == "prepare":
        prepare(urls_file, folder)
    else:
        sys.stdout.write(json.dumps(measured(folder)) + "\n")
