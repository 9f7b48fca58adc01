"""The names of everything in a crawl folder; no other module knows one.

Guarantee: pure names. A crawl folder is known by its crawldb, a segment by its name.
Source: Nutch's directory layout (`CrawlDb`, `LinkDb`, `Generator.generateSegmentName`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

__all__ = [
    "ALLOWED_HOSTS",
    "CONTENT",
    "CRAWL_TABLES",
    "DELTA_LOG",
    "IMPORTS",
    "INDEX",
    "JOURNAL",
    "LEASE",
    "LEASE_MUTEX",
    "LEFT_DUE",
    "MAKING",
    "REPLAY",
    "SCRATCH",
    "SEGMENTS",
    "SEGMENT_TABLES",
    "STOP",
    "is_segment_name",
    "segment_name",
]

CRAWL_TABLES = ("crawldb", "origins", "linkdb", "hostdb")
SEGMENT_TABLES = ("crawl_generate", "crawl_fetch", "crawl_parse", "parse_data", "parse_text")
DELTA_LOG = "_delta_log"
SEGMENTS = "segments"
CONTENT = "content"
JOURNAL = "journal"
LEFT_DUE = "left_due"
INDEX = "index"
REPLAY = "replay"  # what the archive of a replay holds: made anew whenever it is not there
ALLOWED_HOSTS = "allowed-hosts.txt"
IMPORTS = "imports.json"
STOP = ".STOP"
SCRATCH = ".scratch"
LEASE = ".lease"  # and the step that it is held for: .lease-fetch
LEASE_MUTEX = ".lease.mutex"
MAKING = ".making"

# A merged slice is called <time>-<number>, as Nutch's SegmentMerger calls it.
_SEGMENT = re.compile(r"\d{14}(-\d+)?")


def is_segment_name(name: str) -> bool:
    """Tell whether a folder called `name` is a segment."""
    return _SEGMENT.fullmatch(name) is not None


def segment_name(now_ms: int) -> str:
    """Return the name of a segment made at `now_ms`: yyyyMMddHHmmss, UTC."""
    return datetime.fromtimestamp(now_ms / 1000, tz=UTC).strftime("%Y%m%d%H%M%S")
