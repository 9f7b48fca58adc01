"""Parts of a segment: which host, domain or address goes to which.

Guarantee: one key is in one part. In `ip` mode hosts are resolved here, at once and before any is
fetched; a host that has no address is a key of its own.
Source: Nutch `URLPartitioner`.
"""

from __future__ import annotations

import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from filbert.engine.base import Collect, Files, Query
from filbert.rules.generate import PARTS
from filbert.rules.partition import dealt_out
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.settings.generate import GenerateSettings
    from filbert.steps.context import StepContext

__all__ = ["part_files"]

_LOOKUPS = 32


def part_files(
    context: StepContext, settings: GenerateSettings, chosen: Files, number: int, scratch: Path
) -> Files | None:
    """Return the view `parts` for one segment; None if the segment has one part."""
    if settings.num_fetchers == 1:
        return None
    counts = _counts(context, settings, chosen, number)
    if settings.partition_mode == "ip":
        addresses = _addresses(sorted(counts))
        by_address = Counter[str]()
        for host, pages in counts.items():
            by_address[addresses[host]] += pages
        parts = dealt_out(by_address, settings.num_fetchers)
        given = {host: parts[addresses[host]] for host in counts}
    else:
        given = dealt_out(counts, settings.num_fetchers)
    with ParquetSink(PARTS, scratch / "parts", f"segment-{number}") as sink:
        sink.extend({"part_key": key, "part": part} for key, part in given.items())
    return Files(schema=PARTS, paths=tuple(str(file.path) for file in sink.files))


def _counts(
    context: StepContext, settings: GenerateSettings, chosen: Files, number: int
) -> dict[str, int]:
    column = "domain" if settings.partition_mode == "domain" else "host"
    sql = (
        f"select {column} as part_key, count(*) as pages from chosen where segment = {number}"
        f" group by {column}"
    )
    found = context.engine.execute(Query(name="parts", sql=sql), {"chosen": chosen}, Collect())
    assert found.table is not None
    return {row["part_key"]: row["pages"] for row in found.table.to_pylist()}


def _addresses(hosts: list[str]) -> dict[str, str]:
    with ThreadPoolExecutor(max_workers=_LOOKUPS, thread_name_prefix="resolve") as pool:
        return dict(zip(hosts, pool.map(_address, hosts), strict=True))


def _address(host: str) -> str:
    try:
        found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return host
    return str(min(found, key=lambda entry: (entry[0], entry[4]))[4][0])
