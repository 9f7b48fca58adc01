"""Nutch's own data: records decoded and encoded per second, and a large content in little memory.

    python -m benchmarks.nutch --megabytes 1024

Aims: 100,000 CrawlDatum records per CPU second decoded, 70,000 encoded; 1 GB of Content streamed in
under 300 MB of memory. (The floor beside them: the bare container, without records.)
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.jobs import peak_mb
from filbert.nutch.map_file import MapFileWriter
from filbert.nutch.parts import records
from filbert.nutch.sequence_writer import Compression, Form
from filbert.nutch.simple import FloatWritable, IntWritable, LongWritable, Text
from filbert.nutch.v1.content import Content
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.map_writable import MapWritable
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.v1.statuses import ProtocolStatus

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXT = "org.apache.hadoop.io.Text"
_COUNT = 50_000
_ROUNDS = 2
_TYPES = ("text/html",) * 17 + ("application/xhtml+xml",) * 2 + ("application/pdf",)


def datums() -> list[CrawlDatum]:
    """Return records as a crawldb has them, each another: most fetched, with what Nutch notes."""
    chance = random.Random(4)
    found = []
    for n in range(_COUNT):
        noted: dict[str, object] = {
            "_pst_": ProtocolStatus(1, 0, None),
            "_rs_": IntWritable(int(chance.lognormvariate(5, 1))),
            "Content-Type": Text(chance.choice(_TYPES)),
            "nutch.protocol.code": Text("200"),
        }
        if n % 10 == 0:
            noted = {"_ngt_": LongWritable(1_796_000_000_000 + n)}
        if n % 50 == 0:
            noted["fixedInterval"] = FloatWritable(86_400.0)
        found.append(
            CrawlDatum(
                status=2 if n % 10 else 1,
                fetch_time=1_796_000_000_000 + n * 1000,
                fetch_interval=2_592_000,
                score=1.0 / (n + 1),
                modified_time=1_795_000_000_000,
                signature=chance.randbytes(16),
                metadata=MapWritable.of(noted),  # type: ignore[arg-type]  # all are Writables
            )
        )
    return found


def per_second(job: Callable[[], int]) -> float:
    """Return how many a job does per CPU second."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    count = job()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return count / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def decode(packed: list[bytes]) -> int:
    for _ in range(_ROUNDS):
        for data in packed:
            CrawlDatum.from_bytes(data)
    return _ROUNDS * len(packed)


def encode(records_: list[CrawlDatum]) -> int:
    for _ in range(_ROUNDS):
        for record in records_:
            record.to_bytes()
    return _ROUNDS * len(records_)


def stream(folder: Path, megabytes: int) -> tuple[float, int]:
    """Write so much Content and read it again; return the seconds of reading, and the bytes."""
    page = Content(
        url="http://host.example/page",
        base="http://host.example/page",
        content=bytes(range(256)) * 400,
        content_type="text/html",
        metadata=Metadata.of({"Content-Type": "text/html", "Server": "bench"}),
    ).to_bytes()
    count = megabytes * 1_000_000 // len(page)
    form = Form(compression=Compression.NONE)
    with MapFileWriter(
        folder / "part-r-00000", _TEXT, "org.apache.nutch.protocol.Content", form
    ) as file:
        for n in range(count):
            file.append(Text(f"http://host.example/{n:09d}"), page)
    start, seen = time.monotonic(), 0
    for record in records(folder):
        seen += len(Content.from_bytes(record.value).content)
    return time.monotonic() - start, seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1024)
    given = parser.parse_args()
    made = datums()
    packed = [record.to_bytes() for record in made]
    size = sum(map(len, packed)) / len(packed)
    print(f"CrawlDatum, {size:.0f} bytes each, response times of a median of 148 ms")
    print(f"  decoded {per_second(lambda: decode(packed)):10,.0f} per CPU s   aim: 100,000")
    print(f"  encoded {per_second(lambda: encode(made)):10,.0f} per CPU s   aim:  70,000")
    with tempfile.TemporaryDirectory(prefix="filbert-bench-") as name:
        took, seen = stream(Path(name), given.megabytes)
    print(
        f"Content, {seen / 1e6:,.0f} MB streamed in {took:.1f} s, peak {peak_mb():.0f} MB"
        "   aim: 300 MB"
    )


if __name__ == "__main__":
    main()
