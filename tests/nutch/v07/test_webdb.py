"""The web database of old, as the real programs left it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from filbert.errors import UserError
from filbert.nutch.data import CorruptDataError
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.simple import MD5Hash
from filbert.nutch.sorter import sorted_records
from filbert.nutch.v07.page import Page
from filbert.nutch.v07.webdb import Stats, WebDB, is_webdb, recover, write_webdb

DATA = Path(__file__).parents[2] / "data" / "nutch07"
WEBDBS = sorted(path for path in DATA.glob("*/webdb-*"))


@pytest.mark.parametrize("path", WEBDBS, ids=lambda path: f"{path.parent.name} {path.name}")
def test_a_web_database_is_read_whole(path: Path) -> None:
    """Pages and links are as many as its stats say, and each is found from every side."""
    with WebDB(path) as db:
        pages, links = list(db.pages()), list(db.links())
        assert db.stats == Stats(len(pages), len(links))
        assert list(db.pages_by_md5()) == sorted(pages)
        assert list(db.links_by_md5()) == sorted(
            links, key=lambda link: (link.from_id.value, link.url)
        )
        for page in pages:
            assert db.page(page.url) == page
            assert page in list(db.pages_of(page.md5))
        assert db.page("http://127.0.0.1:8071/zzz") is None
        for link in links:
            assert link in list(db.links_from(link.from_id))
            assert link in list(db.links_to(link.url))


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


def _folders(path: Path) -> list[str]:
    return [one.name for one in path.iterdir() if one.is_dir()]


def test_an_update_cut_off_is_read_and_mended(tmp_path: Path) -> None:
    """Between the two renames the new one counts; a new one beside the current one does not."""
    between = _scene(tmp_path / "a", "webdb.old", "webdb.new")
    with WebDB(between) as db:
        assert db.path.name == "webdb.new"
    assert recover(between) == "webdb.new became webdb"
    assert _folders(between) == ["webdb"]
    before = _scene(tmp_path / "b", "webdb", "webdb.new")
    with WebDB(before) as db:
        assert db.path.name == "webdb"
    assert recover(before) == "removed webdb.new, which was not complete"
    assert recover(before) == ""
    alone = _scene(tmp_path / "d", "webdb.old")
    with WebDB(alone) as db:
        assert db.path.name == "webdb.old"
    assert recover(alone) == "webdb.old is webdb again"
    assert _folders(alone) == ["webdb"]
    both = _scene(tmp_path / "c", "webdb", "webdb.old")
    for ask in (WebDB, recover):
        with pytest.raises(CorruptDataError, match="Impossible condition"):
            ask(both)


def test_what_is_no_whole_database_is_told(tmp_path: Path) -> None:
    """Nothing, a first one that was never finished, half of one, and stats cut short."""
    with pytest.raises(UserError, match="is no web database"):
        WebDB(tmp_path / "nothing")
    unfinished = _scene(tmp_path / "unfinished", "webdb.new")
    assert not is_webdb(unfinished)
    with pytest.raises(UserError, match="is no web database"):
        WebDB(unfinished)
    assert write_webdb(unfinished, list, list) == Stats()
    half = _scene(tmp_path / "half", "webdb")
    shutil.rmtree(half / "webdb" / "linksByURL")
    with WebDB(half) as db, pytest.raises(CorruptDataError, match="it has no linksByURL"):
        next(db.links_to("http://a/"))
    (half / "webdb" / "stats").write_bytes(bytes(9))
    with pytest.raises(CorruptDataError, match=r"webdb/stats: .* byte 9"):
        WebDB(half)
    (half / "webdb" / "stats").write_bytes(b"\1" + bytes(16))
    with pytest.raises(CorruptDataError, match="Expecting v0, found v1"):
        WebDB(half)


def test_a_page_may_be_asked_for_while_all_are_read() -> None:
    """Reading all of them goes on where it was."""
    with WebDB(DATA / "nutch072" / "webdb-4-updated") as db:
        urls = [page.url for page in db.pages()]
        seen = [page.url for page in db.pages() if db.page(urls[0]) and list(db.pages())]
        assert seen == urls


def test_two_pages_of_one_url_are_refused(tmp_path: Path) -> None:
    """The URL is the key; what was begun is not taken for a database."""
    pages = [Page(url="http://a/", md5=MD5Hash(bytes([n]) * 16), next_fetch=0) for n in range(2)]
    with pytest.raises(UserError, match="key out of order"):
        write_webdb(tmp_path, lambda: pages, list)
    assert not is_webdb(tmp_path)


def test_sorting_spills_and_is_stable(tmp_path: Path) -> None:
    """Runs on disk give the order of one sort in memory; equal keys keep their order."""
    items = [(n * 7919 % 50, n) for n in range(1_000)]
    got = list(sorted_records(items, lambda item: b"%02d" % item[0], tmp_path, run=64))
    assert got == sorted(items, key=lambda item: item[0])
    assert list(tmp_path.iterdir()) == []
