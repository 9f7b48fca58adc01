"""The web database and the segments of old, as the real programs left them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from filbert.errors import UserError
from filbert.nutch.data import CorruptDataError
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.simple import MD5Hash
from filbert.nutch.sorter import sorted_records
from filbert.nutch.v07.fetched import Content, FetcherOutput
from filbert.nutch.v07.jsonable import jsonable
from filbert.nutch.v07.link import Link
from filbert.nutch.v07.page import Page
from filbert.nutch.v07.segment import OldSegment, OldSegmentWriter, write_fetch_list
from filbert.nutch.v07.webdb import Stats, WebDB, is_webdb, recover, write_webdb

DATA = Path(__file__).parents[2] / "data" / "nutch07"
WEBDBS = sorted(path for path in DATA.glob("*/webdb-*"))
SEGMENTS = sorted(path for path in DATA.glob("*/segments/*"))


def _told(path: Path) -> list[dict[str, object]]:
    """What the real classes read of a file."""
    era = next(parent for parent in path.parents if parent.parent == DATA)
    dump = era / "dump" / path.relative_to(era).with_suffix(".json")
    records: list[dict[str, object]] = json.loads(dump.read_text(encoding="utf-8"))["records"]
    return records


@pytest.mark.parametrize("path", WEBDBS, ids=lambda path: f"{path.parent.name} {path.name}")
def test_a_web_database_is_read_whole(path: Path) -> None:
    """Pages and links are as many as its stats say, and each is found from every side."""
    with WebDB(path) as db:
        pages, links = list(db.pages()), list(db.links())
        assert db.stats == Stats(len(pages), len(links))
        for page in pages:
            assert db.page(page.url) == page
            assert page in list(db.pages_of(page.md5))
        assert db.page("http://127.0.0.1:8071/zzz") is None
        for link in links:
            assert link in list(db.links_from(link.from_id))
            assert link in list(db.links_to(link.url))


@pytest.mark.parametrize("era", ["nutch06", "nutch072"])
def test_pages_and_links_are_what_the_real_classes_read(era: str) -> None:
    """Every record of all four maps of the fullest database, field by field."""
    path = DATA / era / "webdb-4-updated"
    with WebDB(path) as db:
        pages = [jsonable(page) for page in db.pages()]
        assert pages == [one["value"] for one in _told(path / "pagesByURL" / "data")]
        links = [jsonable(link) for link in db.links()]
        assert links == [one["key"] for one in _told(path / "linksByURL" / "data")]


@pytest.mark.parametrize("path", WEBDBS, ids=lambda path: f"{path.parent.name} {path.name}")
def test_a_web_database_written_anew_is_the_same(path: Path, tmp_path: Path) -> None:
    """All four maps hold the same records in the same order, and the stats the same bytes."""
    with WebDB(path) as db:
        pages, links = list(db.pages()), list(db.links())
    write_webdb(tmp_path / "db", lambda: reversed(pages), lambda: reversed(links))
    for name in ("pagesByURL", "pagesByMD5", "linksByURL", "linksByMD5"):
        with (
            SequenceFile(path / name / "data") as before,
            SequenceFile(tmp_path / "db" / "webdb" / name / "data") as after,
        ):
            assert [one[:2] for one in after] == [one[:2] for one in before]
    assert (tmp_path / "db/webdb/stats").read_bytes() == (path / "stats").read_bytes()
    with pytest.raises(UserError, match="has a web database already"):
        write_webdb(tmp_path / "db", lambda: pages, lambda: links)


def test_an_empty_one_is_made_and_read(tmp_path: Path) -> None:
    """As `admin -create`: four empty maps."""
    write_webdb(tmp_path / "db", list, list)
    with WebDB(tmp_path / "db") as db:
        assert (list(db.pages()), list(db.links())) == ([], [])
        assert db.page("http://a/") is None
    assert is_webdb(tmp_path / "db")
    assert not is_webdb(tmp_path)


def _scene(tmp_path: Path, *names: str) -> Path:
    for name in names:
        shutil.copytree(DATA / "nutch072" / "webdb-1-injected", tmp_path / name)
    return tmp_path


def test_an_update_cut_off_is_read_and_mended(tmp_path: Path) -> None:
    """Between the two renames the new one counts; a new one beside the current one does not."""
    between = _scene(tmp_path / "a", "webdb.old", "webdb.new")
    with WebDB(between) as db:
        assert db.path.name == "webdb.new"
    assert recover(between) == "webdb.new became webdb"
    assert [path.name for path in between.iterdir()] == ["webdb"]
    before = _scene(tmp_path / "b", "webdb", "webdb.new")
    with WebDB(before) as db:
        assert db.path.name == "webdb"
    assert recover(before) == "removed webdb.new, which was not complete"
    assert recover(before) == ""
    both = _scene(tmp_path / "c", "webdb", "webdb.old")
    for ask in (WebDB, recover):
        with pytest.raises(CorruptDataError, match="Impossible condition"):
            ask(both)


def test_one_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    """The write lock refuses, and says how to go on; no database at all is told, too."""
    path = _scene(tmp_path, "webdb")
    (path / "dbwritelock").touch()
    with pytest.raises(UserError, match="is being written: it has a file dbwritelock"):
        WebDB(path)
    with pytest.raises(UserError, match="is no web database"):
        WebDB(tmp_path / "nothing")


@pytest.mark.parametrize("path", SEGMENTS, ids=lambda path: f"{path.parts[-3]} {path.name}")
def test_a_segment_is_read_in_step(path: Path, tmp_path: Path) -> None:
    """Each part is what the real classes read; written anew it is the same, record by record."""
    segment = OldSegment(path)
    entries, captures = list(segment.fetch_list()), list(segment.captures())
    assert [jsonable(one) for one in entries] == [
        one["value"] for one in _told(path / "fetchlist" / "data")
    ]
    assert len(captures) == len(_told(path / "fetcher" / "data"))
    for capture in captures:
        assert capture.content is not None
        assert capture.content.url == capture.output.entry.page.url
    for part, of in (("content", "content"), ("parse_text", "text")):
        got = [jsonable(getattr(one, of)) for one in captures]
        assert [_without_order(one) for one in got] == [
            _without_order(one["value"]) for one in _told(path / part / "data")
        ]
    assert write_fetch_list(tmp_path / "new", iter(entries)) == len(entries)
    with OldSegmentWriter(tmp_path / "new") as writer:
        for one in captures:
            assert one.content is not None
            assert one.text is not None
            assert one.data is not None
            writer.output_page(one.output, one.content, one.text, one.data)
    again = OldSegment(tmp_path / "new")
    assert (list(again.fetch_list()), list(again.captures())) == (entries, captures)
    assert again.is_fetched


def _without_order(shown: object) -> object:
    """Leave out what another reader shows otherwise."""
    return {k: v for k, v in shown.items() if k != "shown"} if isinstance(shown, dict) else shown


def test_pages_not_to_be_fetched_are_as_the_old_fetcher_left_them() -> None:
    """The handleNoFetch of 0.6: MD5 of the URL, status SUCCESS, and nothing else."""
    segment = OldSegment(max((DATA / "nutch06" / "segments").iterdir()))
    found = [one for one in segment.captures() if not one.output.entry.fetch]
    assert found
    for one in found:
        url = one.output.entry.page.url
        assert one.output.md5 == MD5Hash.digest(url)
        assert one.content == Content(url=url, base=url)
        assert one.output.status.is_success
        assert one.text is not None
        assert one.text.text == ""


def test_parts_out_of_step_are_an_error(tmp_path: Path) -> None:
    """A part that is shorter than another would put one page's text to another: it refuses."""
    source = SEGMENTS[-1]
    shutil.copytree(source / "fetcher", tmp_path / "fetcher")
    short = list(OldSegment(source).captures())[:3]
    with OldSegmentWriter(tmp_path / "short") as writer:
        for one in short:
            assert one.content is not None
            assert one.text is not None
            assert one.data is not None
            writer.output_page(one.output, one.content, one.text, one.data)
    shutil.copytree(tmp_path / "short" / "content", tmp_path / "content")
    with pytest.raises(CorruptDataError, match="content has 3 records, and another part"):
        list(OldSegment(tmp_path).captures())


def test_sorting_spills_and_is_stable(tmp_path: Path) -> None:
    """Runs on disk give the order of one sort in memory; equal keys keep their order."""
    items = [(n * 7919 % 50, n) for n in range(1_000)]
    got = list(sorted_records(items, lambda item: b"%02d" % item[0], tmp_path, run=64))
    assert got == sorted(items, key=lambda item: item[0])
    assert list(tmp_path.iterdir()) == []


def test_records_are_named() -> None:
    """A link has a page's MD5 as its source; the constants of old are here."""
    assert (FetcherOutput.DIR_NAME, FetcherOutput.DONE_NAME) == ("fetcher", "fetcher.done")
    assert Link.CUR_VERSION == 5
    assert Page.CUR_VERSION == 4
