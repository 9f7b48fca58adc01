"""Folders of parts, read by URL and from end to end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from filbert.errors import UserError
from filbert.nutch.v1.crawl_datum import CrawlDatum, Status
from filbert.nutch.v1.folders import RecordFolder
from filbert.nutch.v1.java_hash import partition
from filbert.nutch.v1.links import Inlinks

GOLDEN = Path(__file__).parents[2] / "data" / "nutch1"
SEGMENT = GOLDEN / "segments" / "20261130202958"


def _copy(name: str, tmp_path: Path) -> Path:
    return shutil.copytree(GOLDEN / name, tmp_path / name)


def test_parts_are_dealt_out_by_hash() -> None:
    """Each URL lies in the part that the hash partitioner says."""
    with RecordFolder(GOLDEN / "crawldb-3parts") as folder:
        for number in range(3):
            assert {partition(entry.key, 3) for entry in folder.part(number)} == {number}


def test_parts_are_merged_by_url() -> None:
    """Three parts have the same records as one, in the same order."""
    with (
        RecordFolder(GOLDEN / "crawldb-3parts") as three,
        RecordFolder(GOLDEN / "crawldb" / "current") as one,
    ):
        merged = [entry._replace(position=0) for entry in three.merged()]
        assert merged == [entry._replace(position=0) for entry in one]
        assert sorted(three) != list(three)


@pytest.mark.parametrize("name", ["crawldb", "crawldb-3parts", "crawldb-block-small", "linkdb"])
def test_a_record_is_found_by_its_url(name: str) -> None:
    """However many parts there are, and however they are packed."""
    with RecordFolder(GOLDEN / name) as folder:
        for entry in list(folder)[::7]:
            assert folder.get(entry.url) == entry.record
        assert folder.get("http://nowhere/") is None


def test_a_part_that_is_missing(tmp_path: Path) -> None:
    """What the others have is found."""
    path = _copy("crawldb-3parts", tmp_path)
    shutil.rmtree(path / "current" / "part-r-00000")
    with RecordFolder(path) as folder:
        entries = list(folder)
        assert len(entries) > 50
        assert all(folder.get(entry.url) == entry.record for entry in entries[::9])


def test_what_is_no_part(tmp_path: Path) -> None:
    """Checksums may be missing; hidden files and marks of success are passed over."""
    path = _copy("crawldb", tmp_path)
    current = path / "current"
    for checksum in current.rglob(".*.crc"):
        checksum.unlink()
    (current / "_SUCCESS").touch()
    (current / ".hidden").write_bytes(b"nothing")
    (path / ".locked").touch()
    (current / "part-r-00000").rename(current / "part-00000")
    with RecordFolder(path) as folder:
        assert [file.parent.name for file in folder.files] == ["part-00000"]
        assert sum(1 for _ in folder) == 98


def test_several_records_of_a_url() -> None:
    """A crawl_parse is no MapFile: a URL has what each page said of it."""
    with RecordFolder(SEGMENT / "crawl_parse") as folder:
        urls = [entry.url for entry in folder]
        most = max(urls, key=urls.count)
        found = folder.all_of(most)
        assert len(found) == urls.count(most) > 1
        assert Status.LINKED in {one.status for one in found if isinstance(one, CrawlDatum)}
        with pytest.raises(UserError, match="not ordered"):
            folder.get(most)


@pytest.mark.parametrize("part", ["crawl_fetch", "content", "parse_data", "parse_text"])
def test_a_page_of_a_segment(part: str) -> None:
    """Its parts are dealt out by host, and a URL is found all the same."""
    with RecordFolder(SEGMENT / part) as folder:
        first = next(iter(folder))
        assert folder.get(first.url) == first.record


def test_folders_that_are_none(tmp_path: Path) -> None:
    """What is wrong is said."""
    with pytest.raises(UserError, match="no parts"):
        RecordFolder(tmp_path)


def test_links_to_a_page() -> None:
    """The linkdb."""
    with RecordFolder(GOLDEN / "linkdb") as folder:
        found = folder.get("http://127.0.0.1:8901/base.html")
    assert isinstance(found, Inlinks)
    assert {link.anchor for link in found.inlinks} == {"base"}
