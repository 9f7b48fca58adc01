"""A crawl is replayed from its own captures: the same pages, and nobody is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Never

import pytest

from filbert.cli import run
from filbert.plugins.protocols.dns import Resolver
from filbert.plugins.protocols.ftp import FtpProtocol
from filbert.plugins.protocols.http import HttpProtocol
from filbert.testing.archives import Archived, write_archive
from filbert.testing.synthetic_server import SyntheticServer
from filbert.testing.synthetic_web import WebSpec

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.journey

ROUNDS = ("--rounds", "4")
QUICK = ("-D", "fetcher.server_delay_s=0", "-D", "engine.processes=1", "-D", "store.fsync=never")
OF_CRAWLDB = "select url, status, hex(signature) as s, retries, score from crawldb order by url"
REASONS = "select reason from fetches"
TABLES = {
    "crawldb": "select * exclude (fetch_time, modified_time, metadata, generate_time, seq)",
    "inlinks": "select *",
    "links": "select * exclude (segment, fetch_time)",
    "fetches": "select * exclude (fetch_time, warc_offset, warc_length, segment)",
    "pages": "select url, text, title",
    "origins": "select url, origin, origin_url",
}


def _rows(crawl: Path, query: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(["sql", str(crawl), query, "--format", "jsonl"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def _forbid_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whoever would open a socket fail loudly."""

    def refuse(self: object) -> Never:
        raise AssertionError(f"{type(self).__name__} was opened")

    for opener in (HttpProtocol, FtpProtocol, Resolver):
        monkeypatch.setattr(opener, "__aenter__", refuse)


def test_a_crawl_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Live, then twice from the archive: equal crawldb and documents, no socket, no delay."""
    spec = WebSpec(
        hosts=6, pages=12, slow_ms=10, retry_after_s=0, robots_deny_all=0.2,
        robots_deny_part=0.3, robots_error=0, robots_crawl_delay=0.3, crawl_delay_s=0.02,
    )  # fmt: skip
    live = tmp_path / "live"
    with SyntheticServer(spec) as server:
        resolve = ["-D", f"http.resolve={','.join(server.resolve())}"]
        name = ["-D", "http.agent_name=testbot", "-D", "fetcher.exceptions_delay_s=0"]
        name += ["-D", "robots.store=true"]
        seeds = [part for url in server.web.seeds() for part in ("--seeds", url)]
        assert run(["crawl", str(live), *seeds, *ROUNDS, *QUICK, *resolve, *name]) == 0
        asked = len(server.seen)
    _forbid_network(monkeypatch)
    replays = [tmp_path / "first", tmp_path / "second"]
    for replay in replays:
        # No name is needed: nobody is asked. Crawl-delay and back-off would take minutes.
        arguments = [
            str(replay),
            *seeds,
            *ROUNDS,
            "-D",
            "engine.processes=1",
            "--replay",
            str(live),
        ]
        assert run(["crawl", *arguments]) == 0
    assert len(server.seen) == asked
    expected = _rows(live, OF_CRAWLDB, capsys)
    assert len(expected) > 40
    assert "robots_denied" in {row["reason"] for row in _rows(live, REASONS, capsys)}
    assert _rows(replays[0], OF_CRAWLDB, capsys) == expected
    for table, query in TABLES.items():
        first, second = (
            _rows(one, f"{query} from {table} order by all", capsys) for one in replays
        )
        assert first == second
        assert first
    assert _texts(replays[0], capsys) == _texts(live, capsys)
    assert _rows(replays[0], "select * from hosts", capsys) == []


def test_an_archive_of_another_program_is_crawled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it holds is found by a search, its robots.txt obeyed; `explain` says what it has not."""
    _forbid_network(monkeypatch)
    site = "http://site.test"
    links = b"<title>Home</title><p>walnut <a href=/a>a</a> <a href=/private>p</a> <a href=/gone>g"
    robots = b"User-agent: *\nDisallow: /private\nCrawl-delay: 20\n"
    records = [
        Archived(url=f"{site}/robots.txt", body=robots),
        Archived(url=f"{site}/", body=links),
        Archived(url=f"{site}/a", body=b"<p>hazelnut"),
        Archived(url=f"{site}/private", body=b"<p>acorn"),
    ]
    files = [
        str(write_archive(tmp_path / "1.warc", records[:2], version="1.0", gzip=False)),
        str(write_archive(tmp_path / "2.warc.gz", records[2:])),
    ]
    crawl = tmp_path / "crawl"
    arguments = [str(crawl), "--seeds", f"{site}/", "--rounds", "all", "--replay", *files]
    assert run(["crawl", *arguments, "-D", "engine.processes=1"]) == 0
    rows = _rows(crawl, "select url, status from crawldb", capsys)
    assert {row["url"].removeprefix(site): row["status"] for row in rows} == {
        "/": "db_fetched",
        "/a": "db_fetched",
        "/private": "db_gone",
        "/gone": "db_unfetched",
    }
    assert run(["search", str(crawl), "hazelnut"]) == 0
    assert f"{site}/a" in capsys.readouterr().out
    assert run(["explain", str(crawl), f"{site}/gone"]) == 0
    assert "not_in_archive" in capsys.readouterr().out
    again = tmp_path / "again"
    arguments = [str(again), "--seeds", f"{site}/", "--rounds", "all", "--replay", str(crawl)]
    assert run(["crawl", *arguments, "-D", "engine.processes=1"]) == 0
    assert run(["crawl", *arguments[:-1], str(again)]) == 2


def test_a_segment_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Step by step; a damaged file is an error with its place at once, or is passed over."""
    _forbid_network(monkeypatch)
    crawl, url = str(tmp_path / "crawl"), "http://site.test/"
    records = [Archived(url=url, body=b"<p>walnut"), Archived(url=f"{url}b")]
    file = write_archive(tmp_path / "a.warc.gz", records)
    file.write_bytes(file.read_bytes()[:-9])
    assert run(["inject", crawl, url]) == 0
    assert run(["generate", crawl]) == 0
    one = ("-D", "engine.processes=1")
    assert run(["fetch", crawl, "--replay", str(file), *one]) == 3
    assert "a.warc.gz is damaged at " in capsys.readouterr().err
    assert run(["crawl", crawl, *one, "--replay", str(file)]) == 3
    skip = ("-D", "replay.damaged=skip")
    assert run(["fetch", crawl, "--replay", str(file), str(file), *one, *skip]) == 0
    assert _rows(tmp_path / "crawl", "select http_status from fetches", capsys) == [
        {"http_status": 200}
    ]


def _texts(crawl: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return _rows(crawl, "select distinct url, text from pages order by all", capsys)
