"""Sealing turns a journal into the rows of the tables, the same ones each time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from filbert.engine.base import Files
from filbert.model.clock import FixedClock
from filbert.model.hosts import HostState
from filbert.model.records import CrawlDatum, FetchRecord
from filbert.model.schemas import CRAWL_FETCH, CRAWL_PARSE, HOSTDB, TableSchema
from filbert.model.statuses import FetchStatus, ProtocolStatus
from filbert.store.captures import CaptureLog
from filbert.store.parquet import read_rows
from filbert.store.seal import Sealed, seal

if TYPE_CHECKING:
    from pathlib import Path

RECORD = FetchRecord(
    url="http://a.test/0",
    host="a.test",
    domain="a.test",
    hop=0,
    part=1,
    position=0,
    status=FetchStatus.FETCH_REDIR_TEMP,
    fetch_time=1_796_000_000_123,
    datum=CrawlDatum(
        fetch_interval=60, score=0.5, metadata={"k": "v"}, modified_time=1_700_000_000_000
    ),
    protocol_code=ProtocolStatus.TEMP_MOVED,
    http_status=302,
    raw_url=b"http://a.test/\xe4",
    redirect_url="http://b.test/",
    redirect_verdict="linked",
    ip="127.0.0.1",
)
LINK = {
    "url": "http://b.test/",
    "host": "b.test",
    "domain": "b.test",
    "from_url": "http://a.test/0",
    "ordinal": 0,
    "kind": "redirect",
    "to_db": True,
    "to_linkdb": False,
    "fetch_time": 1_796_000_000_123,
    "retries": 0,
    "fetch_interval": 60,
    "score": 0.5,
}


def _rows(sealed: Sealed, schema: TableSchema) -> list[dict[str, object]]:
    paths = tuple(str(file.path) for file in sealed.files[schema.name])
    return list(read_rows(Files(schema=schema, paths=paths), schema.names))


def _fill(folder: Path) -> None:
    clock = FixedClock(0)
    with CaptureLog(folder / "content", folder / "journal", 1, clock=clock) as log:
        log.note_host(HostState(host="a.test", last_request_end=5, robots_body=b"x"))
        log.append(RECORD, None, [LINK])
        log.append(replace(RECORD, url="http://a.test/1", position=1))
        log.note_host(HostState(host="a.test", last_request_end=9, robots_body=b"x"))


def test_a_journal_becomes_rows(tmp_path: Path) -> None:
    """Each frame is a row of crawl_fetch, its links rows of crawl_parse, the last state a host."""
    _fill(tmp_path)
    sealed = seal(tmp_path / "journal", 1, tmp_path / "scratch")
    fetches = _rows(sealed, CRAWL_FETCH)
    assert [row["url"] for row in fetches] == ["http://a.test/0", "http://a.test/1"]
    first = fetches[0]
    assert (first["status"], first["protocol_code"], first["http_status"]) == (35, 13, 302)
    assert (first["fetch_time"], first["modified_time"]) == (1_796_000_000_123, 1_700_000_000_000)
    assert (first["raw_url"], first["metadata"]) == (b"http://a.test/\xe4", {"k": "v"})
    assert [row["url"] for row in _rows(sealed, CRAWL_PARSE)] == ["http://b.test/"]
    hosts = _rows(sealed, HOSTDB)
    assert [(row["last_request_end"], row["robots_body"]) for row in hosts] == [(9, b"x")]
    assert (sealed.rows, sealed.statuses) == (2, {"fetch_redir_temp": 2})


def test_sealing_twice_gives_the_same_rows(tmp_path: Path) -> None:
    """An interrupted seal is simply done again."""
    _fill(tmp_path)
    one, two = (seal(tmp_path / "journal", 1, tmp_path / name) for name in ("s1", "s2"))
    for schema in (CRAWL_FETCH, CRAWL_PARSE, HOSTDB):
        assert _rows(one, schema) == _rows(two, schema)


def test_no_journal_gives_no_files(tmp_path: Path) -> None:
    """A part without a journal has nothing to commit."""
    sealed = seal(tmp_path / "journal", 1, tmp_path / "scratch")
    assert (sealed.rows, [files for files in sealed.files.values() if files]) == (0, [])
