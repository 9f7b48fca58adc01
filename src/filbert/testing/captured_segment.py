"""A fetched segment made on paper: pages in, WARC files and crawl_fetch out, no network.

Guarantee: the segment is what `fetch` leaves behind: made by the same capture log, seal and
commits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.model.clock import FixedClock
from filbert.model.records import CrawlDatum, FetchRecord, ProtocolOutput
from filbert.model.schemas import CRAWL_GENERATE, DATUM_COLUMNS
from filbert.model.statuses import FetchStatus, PageStatus, ProtocolStatus
from filbert.rules.urls import place_of, url_hash
from filbert.store.captures import CaptureLog
from filbert.store.parquet import ParquetSink
from filbert.store.seal import seal
from filbert.store.tables import Commit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.model.hosts import HostState
    from filbert.store.crawl import CrawlFolder
    from filbert.store.segments import Segment

__all__ = ["PaperPage", "write_segment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperPage:
    """One page of a segment, as its server gave it."""

    url: str
    body: bytes = b""
    content_type: str = "text/html"
    headers: tuple[tuple[str, str], ...] = ()
    status: FetchStatus = FetchStatus.FETCH_SUCCESS
    score: float = 1.0
    part: int = 0
    hop: int = 0
    truncated: str | None = None


def write_segment(
    crawl: CrawlFolder,
    pages: Sequence[PaperPage],
    now_ms: int,
    *,
    sealed: bool = True,
    hosts: Sequence[HostState] = (),
) -> Segment:
    """Make a fetched segment of `pages`; page n is captured n ms after `now_ms`.

    Args:
        crawl: The crawl folder.
        pages: Its pages, in fetch order.
        now_ms: When it is made, epoch ms.
        sealed: The fetch has ended; else all stands in the journal.
        hosts: What the fetch noted of hosts.
    """
    segment = crawl.new_segment(now_ms)
    parts = sorted({page.part for page in pages} or {0})
    with crawl.scratch("paper") as scratch:
        _generate(segment, pages, now_ms, scratch)
        files: list[WrittenFile] = []
        for part in parts:
            clock = FixedClock(now_ms)
            mine = [(n, page) for n, page in enumerate(pages) if page.part == part]
            with CaptureLog(segment.content_dir, segment.journal_dir, part, clock=clock) as log:
                for state in hosts:
                    log.note_host(state)
                for number, page in mine:
                    log.append(_record(page, number, now_ms), _output(page), ())
            files.extend(seal(segment.journal_dir, part, scratch).files["crawl_fetch"])
        if sealed:
            segment.table("crawl_fetch").commit(Commit(step="fetch", add=tuple(files)))
    return segment


def _record(page: PaperPage, position: int, now_ms: int) -> FetchRecord:
    host, domain = place_of(page.url)
    succeeded = page.status is FetchStatus.FETCH_SUCCESS
    return FetchRecord(
        url=page.url,
        host=host,
        domain=domain,
        hop=page.hop,
        part=page.part,
        position=position,
        status=page.status,
        fetch_time=now_ms + position,
        datum=CrawlDatum(fetch_interval=2_592_000, score=page.score),
        protocol_code=ProtocolStatus.SUCCESS if succeeded else ProtocolStatus.EXCEPTION,
        http_status=200,
        truncated=page.truncated,
    )


def _output(page: PaperPage) -> ProtocolOutput:
    headers = (("Content-Type", page.content_type), *page.headers)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return ProtocolOutput(
        status=ProtocolStatus.SUCCESS,
        http_status=200,
        response_head=f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode(),
        headers=headers,
        raw_body=page.body,
        body=page.body,
        content_type=page.content_type,
        truncated=page.truncated,
    )


def _generate(segment: Segment, pages: Sequence[PaperPage], now_ms: int, scratch: Path) -> None:
    with ParquetSink(CRAWL_GENERATE, scratch, "generate") as sink:
        for position, page in enumerate(pages):
            host, domain = place_of(page.url)
            sink.append(
                dict.fromkeys(DATUM_COLUMNS)
                | {
                    "url": page.url,
                    "bucket": url_hash(page.url) % 16,
                    "host": host,
                    "domain": domain,
                    "status": int(PageStatus.DB_UNFETCHED),
                    "fetch_time": now_ms,
                    "retries": 0,
                    "fetch_interval": 2_592_000,
                    "score": page.score,
                    "seq": 1,
                    "part": page.part,
                    "position": position,
                }
            )
    segment.table("crawl_generate").commit(Commit(step="generate", add=sink.files))
