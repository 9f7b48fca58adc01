"""What the tools of old print, line for line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from filbert.nutch.simple import MD5Hash
from filbert.nutch.v07 import text
from filbert.nutch.v07.page import Page
from filbert.nutch.v07.segment import OldSegment
from filbert.nutch.v07.webdb import WebDB

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA = Path(__file__).parents[2] / "data" / "nutch07"
ERAS = ("nutch06", "nutch072")


def _log(era: str, name: str) -> list[str]:
    return (DATA / era / "log" / name).read_text(encoding="utf-8").split("\n")


def _lines(pieces: Iterable[str]) -> list[str]:
    return "".join(pieces).split("\n")


@pytest.mark.parametrize("era", ERAS)
def test_pages_by_url_are_printed_as_by_readdb(era: str) -> None:
    """`-dumppageurl`; the first line has Java's random number."""
    with WebDB(DATA / era / "webdb-4-updated") as db:
        got = _lines(text.all_pages(db.pages()))
    wanted = _log(era, "6-readdb-dumppageurl.txt")
    assert got[1:] == wanted[1:]
    assert got[0].partition("@")[0] == wanted[0].partition("@")[0]


def test_counts_are_printed_as_by_readdb() -> None:
    """`-stats`, of the database at its end."""
    with WebDB(DATA / "nutch072" / "webdb-5-analyzed") as db:
        got = _lines(text.stats(db))
    wanted = _log("nutch072", "6-readdb-stats.txt")
    assert got[1:] == wanted[1:]
    assert got[0].partition("@")[0] == wanted[0].partition("@")[0]


@pytest.mark.parametrize("era", ERAS)
def test_fetch_lists_are_printed_as_by_their_class(era: str) -> None:
    """`-dumpurls`, and `-recno 0` of the first segment."""
    entries = list(OldSegment(min((DATA / era / "segments").iterdir())).fetch_list())
    got = _lines([*text.fetch_list_urls(entries), f"{entries[0]}\n"])
    assert got == _log(era, "6-fetchlist.txt")


@pytest.mark.parametrize("era", ERAS)
def test_segments_are_listed_as_by_segread(era: str) -> None:
    """`-list`, without the log's time; the old one lists them as the folder has them."""
    wanted = [line.removeprefix(line[:14]) for line in _log(era, "6-segread-list.txt") if line]
    paths = [DATA / era / line.rpartition("\t")[2] for line in wanted[1:-1]]
    got = _lines(text.segment_list(OldSegment(path) for path in paths))
    assert [line.replace(f"{DATA / era}/", "") for line in got if line] == wanted


@pytest.mark.parametrize("era", ERAS)
def test_records_of_a_segment_are_printed_as_by_segread(era: str) -> None:
    """`-dump`: four parts of each, the status in the words of its time."""
    segment = OldSegment(min((DATA / era / "segments").iterdir()))
    pieces = list(text.segment_records(segment))
    assert len(pieces) == len(list(segment.captures()))
    first = pieces[0]
    assert first.startswith("Recno:: 0\nFetcherOutput::\nFetchListEntry: version: 2\nfetch: true\n")
    is_06 = era == "nutch06"
    assert ("\nStatus: 0\n" in first, "\nProtocolStatus: exception(16)" in first) == (
        is_06,
        not is_06,
    )
    assert ("\nParseData::\nTitle: \n" in first) == is_06
    assert first.endswith("\nParseText::\n\n\n")


def test_links_are_printed_by_the_page_that_they_come_from() -> None:
    """`-dumplinks`, `-linkmd5`: pages without links are left out."""
    with WebDB(DATA / "nutch06" / "webdb-4-updated") as db:
        got = "".join(text.all_links(db))
        page = next(page for page in db.pages_by_md5() if page.num_outlinks)
        links = list(db.links_from(page.md5))
        pages = list(db.pages_of(page.md5))
    assert f"from {page.url}\n" + "".join(f" to {link.url}\n" for link in links) + "\n" in got
    assert got.count("from ") <= len(list(filter(None, got.split("\n\n"))))
    found = "".join(text.found(links, "link"))
    assert found.startswith(f"Found {len(links)} links.\nLink 0: Version: 5\nID: {page.md5}\n")
    assert "".join(text.found(pages, "page")).startswith(f"Found {len(pages)} pages.\nPage 0: ")


def test_the_best_pages_are_printed_best_last() -> None:
    """`-toppages`: of equal ones at the limit, who came first stays."""
    pages = [
        Page(url=url, md5=MD5Hash(bytes([md5]) * 16), next_fetch=0, score=score)
        for url, md5, score in (("a", 9, 1.0), ("b", 1, 3.0), ("c", 5, 1.0), ("d", 2, 2.0))
    ]
    got = "".join(text.top_pages(pages, 2)).split("\n")
    assert [line for line in got if line.startswith("URL")] == ["URL: d", "URL: b"]
    equal = "".join(text.top_pages(pages[::2] + pages[:1], 1)).split("\n")
    assert [line for line in equal if line.startswith("URL")] == ["URL: a"]
    assert list(text.top_pages(pages, 0)) == []
