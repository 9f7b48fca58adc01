"""The door of the old fetcher: a segment of Nutch 0.7, fetched by ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.cli import run as filbert
from filbert.errors import UserError
from filbert.nutch.simple import MD5Hash
from filbert.nutch.v07.fetched import Content
from filbert.nutch.v07.page import FetchListEntry, Page
from filbert.nutch.v07.parsed import ParseData, ParseText
from filbert.nutch.v07.segment import OldSegment, write_fetch_list
from filbert.steps.nutch_fetch07 import run
from filbert.testing.synthetic_server import SyntheticServer
from filbert.testing.synthetic_web import WebSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCAL = ("http.allow_addresses=loopback", "fetcher.server_delay_s=0.005", "robots.defer_retries=0")


@pytest.fixture(scope="module")
def server() -> Iterator[SyntheticServer]:
    """Two hosts of plain pages."""
    with SyntheticServer(WebSpec.plain(hosts=2, pages=60, addresses=True)) as server:
        yield server


def _segment(path: Path, urls: list[str]) -> list[FetchListEntry]:
    """Write a fetch list in which each fifth line is not to be fetched; return its lines."""
    entries = [
        FetchListEntry(fetch=n % 5 != 2, page=Page.of(url, 7), anchors=(f"anchor {n}",))
        for n, url in enumerate(urls)
    ]
    write_fetch_list(path, iter(entries))
    return entries


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 20])
def test_a_segment_is_fetched_and_written_back(
    threads: int, tmp_path: Path, server: SyntheticServer
) -> None:
    """Every line has its four records, in step; with one thread in the order of the list."""
    entries = _segment(tmp_path / "seg", list(server.web.urls()))
    said: list[str] = []
    settings = (*LOCAL, f"fetcher.threads={threads}")
    assert run(tmp_path / "seg", settings, {}, said.append) == len(entries)
    captures = list(OldSegment(tmp_path / "seg").captures())
    listed = [one.output.entry for one in captures]
    key = lambda entry: entry.page.url  # noqa: E731
    assert sorted(listed, key=key) == sorted(entries, key=key)
    if threads == 1:
        assert listed == entries
    for one in captures:
        url = one.output.entry.page.url
        assert one.content is not None
        assert one.content.url == url
        assert one.output.status.code == 1
        if one.output.entry.fetch:
            assert one.output.md5 == MD5Hash.digest(one.content.content or b"")
            assert one.content.metadata["Content-Type"].startswith("text/html; charset=")
            assert one.data is not None
            assert one.data.title
            assert one.data.outlinks
            assert one.text is not None
            assert one.text.text
        else:
            assert one.output.md5 == MD5Hash.digest(url)
            assert (one.content, one.text, one.data) == (
                Content(url=url, base=url),
                ParseText(),
                ParseData(),
            )
    pages = sum(entry.fetch for entry in entries)
    assert f"status: segment seg, {pages} pages, 0 errors, " in said[-2]
    assert said[-1].endswith(" bytes/page")


@pytest.mark.slow
def test_what_could_not_be_asked_is_to_be_tried_again(tmp_path: Path) -> None:
    """A dead host: the record says RETRY and why, with the MD5 of the URL and nothing else."""
    _segment(tmp_path / "seg", ["http://127.0.0.1:9/"])
    said: list[str] = []
    run(tmp_path / "seg", LOCAL, {}, said.append)
    (one,) = OldSegment(tmp_path / "seg").captures()
    assert one.output.status.code == 15
    assert "Connection refused" in str(one.output.status)
    assert one.output.md5 == MD5Hash.digest("http://127.0.0.1:9/")
    assert one.content == Content(url="http://127.0.0.1:9/", base="http://127.0.0.1:9/")
    assert any(line.startswith("fetch of http://127.0.0.1:9/ failed with: ") for line in said)


def test_a_list_of_nothing_to_fetch(tmp_path: Path) -> None:
    """Lines that are only carried along need no host and no name."""
    entries = [FetchListEntry(fetch=False, page=Page.of("http://example.com/", 1))] * 3
    write_fetch_list(tmp_path / "seg", iter(entries))
    assert run(tmp_path / "seg", (), {}, lambda _: None) == 3
    assert [one.output.entry for one in OldSegment(tmp_path / "seg").captures()] == entries


def test_a_segment_is_fetched_once(tmp_path: Path) -> None:
    """A rerun refuses in the words of old; so does a folder without a list, or without a name."""
    _segment(tmp_path / "seg", ["http://example.com/"])
    with pytest.raises(UserError, match=r"http\.agent_name is not set"):
        run(tmp_path / "seg", (), {}, lambda _: None)
    (tmp_path / "seg" / "fetcher").mkdir()
    with pytest.raises(UserError, match=r"already exists: .*fetcher"):
        run(tmp_path / "seg", (), {}, lambda _: None)
    with pytest.raises(UserError, match="has no fetchlist"):
        run(tmp_path, (), {}, lambda _: None)


@pytest.mark.slow
def test_the_old_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its options are taken as they were; what is wrong is told."""
    _segment(tmp_path / "seg", ["http://127.0.0.1:9/"])
    words = ["-logLevel", "INFO", "-showThreadID", "-threads", "2", str(tmp_path / "seg")]
    settings = [word for setting in LOCAL for word in ("-D", setting)]
    assert filbert(["nutch", "fetch07", *words, *settings]) == 0
    err = capsys.readouterr().err
    assert "logging at INFO" in err
    assert "status: segment seg, 0 pages, 1 errors, 0 bytes" in err
    for wrong, told in (
        ([], "[-logLevel level] [-showThreadID] [-threads n] dir"),
        (["-logLevel", "BOGUS", "x"], 'Bad level "BOGUS"'),
        (["-threads", "none", "x"], "-threads none"),
        (["-thread", "2", "x"], "there is no option -thread"),
    ):
        assert filbert(["nutch", "fetch07", *wrong]) == 2
        assert told in capsys.readouterr().err
