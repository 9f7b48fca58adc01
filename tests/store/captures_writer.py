"""Appends captures until it is killed: the other process of the kill test.

Arguments: folder, number of positions, format. Each capture acknowledged by `append` is printed.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from filbert.model.clock import FixedClock
from filbert.model.hosts import HostState
from filbert.model.records import CrawlDatum, FetchRecord, ProtocolOutput
from filbert.model.statuses import FetchStatus, ProtocolStatus
from filbert.store.captures import CaptureLog, CaptureOptions
from filbert.store.warc_codec import WarcOptions


def body_of(position: int) -> bytes:
    """Return the body of a position: a pure function."""
    return b"%d " % position + random.Random(position).randbytes(200 + position % 700)


def capture_of(position: int) -> tuple[FetchRecord, ProtocolOutput]:
    """Return record and output of a position."""
    body = body_of(position)
    record = FetchRecord(
        url=f"http://h{position % 7}.test/{position}",
        host=f"h{position % 7}.test",
        domain=f"h{position % 7}.test",
        hop=0,
        part=3,
        position=position,
        status=FetchStatus.FETCH_SUCCESS,
        fetch_time=1_796_000_000_000 + position,
        datum=CrawlDatum(fetch_interval=1, score=0.5, metadata={"k": "v"}),
        protocol_code=ProtocolStatus.SUCCESS,
    )
    output = ProtocolOutput(
        status=ProtocolStatus.SUCCESS,
        http_status=200,
        response_head=b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body),
        raw_body=body,
        body=body,
    )
    return record, output


def main() -> None:
    """Append what is not done yet."""
    folder, count, warc_format = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    warc = WarcOptions(format="zstd" if warc_format == "zstd" else "gzip")
    options = CaptureOptions(warc=warc, max_bytes=60_000, fsync="never")
    clock = FixedClock(0)
    with CaptureLog(folder / "content", folder / "journal", 3, options=options, clock=clock) as log:
        for position in range(count):
            if position in log.done:
                continue
            log.append(*capture_of(position))
            sys.stdout.write(f"{position}\n")
            sys.stdout.flush()
            if position % 10 == 0:
                log.note_host(HostState(host=f"h{position % 7}.test", last_request_end=position))
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
