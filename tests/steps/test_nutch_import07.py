"""What Nutch 0.6 and 0.7 left becomes a crawl of ours."""

from __future__ import annotations

import shutil
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import UserError
from filbert.model.statuses import FetchStatus, PageStatus
from filbert.nutch.v07.page import NEVER
from filbert.nutch.v07.rows import entry_columns, entry_of, page_columns, page_of
from filbert.nutch.v07.segment import OldSegment
from filbert.nutch.v07.webdb import WebDB
from filbert.steps import nutch_export
from filbert.steps.context import open_context
from filbert.steps.nutch_import import ImportOptions, run
from filbert.store.parquet import read_rows
from filbert.store.segments import SegmentState

if TYPE_CHECKING:
    from filbert.store.segments import Segment

DATA = Path(__file__).parents[1] / "data" / "nutch07"
ERAS = ("nutch06", "nutch072")


@pytest.fixture(params=ERAS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A crawl of old as `CrawlTool` laid it: `db` and `segments`."""
    source = DATA / request.param
    shutil.copytree(source / "segments", tmp_path / "old" / "segments")
    shutil.copytree(source / "webdb-4-updated", tmp_path / "old" / "db" / "webdb")
    (tmp_path / "old" / "db" / "dbwritelock").touch()
    return tmp_path / "old"


def _rows(files: Any) -> list[dict[str, Any]]:
    return list(read_rows(files))


def test_a_crawl_of_old_becomes_ours(old: Path, tmp_path: Path) -> None:
    """Every page and line comes back as it was; links are of pages; segments are absorbed."""
    with open_context(tmp_path / "crawl", (), {}, create=True) as context:
        result = run(context, ImportOptions(source=old))
        crawl = context.crawl
        with WebDB(old / "db") as db:
            pages, links = list(db.pages()), list(db.links())
            rows = {row["url"]: row for row in _rows(crawl.table("crawldb").files())}
            assert result.counters["pages"] == len(pages) == len(rows)
            for page in pages:
                row = rows[page.url]
                assert page_of(row).to_bytes() == page.to_bytes()
                gone = row["status"] == PageStatus.DB_GONE
                assert gone == (page.next_fetch == NEVER)
            linked = {
                (row["url"], row["from_url"], row["anchor"])
                for row in _rows(crawl.table("linkdb").files())
            }
            assert linked == {
                (link.url, source.url, link.anchor)
                for link in links
                for source in db.pages_of(link.from_id)
            }
        for segment in crawl.segments():
            assert segment.state is SegmentState.PARSED
            assert crawl.table("crawldb").transaction(f"update:{segment.name}") is not None
            _check(segment, OldSegment(old / "segments" / segment.name))


def _check(segment: Segment, source: OldSegment) -> None:
    """Compare a segment's fetch list and captures with those of old."""
    listed = sorted(_rows(segment.table("crawl_generate").files()), key=itemgetter("position"))
    assert [entry_of(row) for row in listed] == list(source.fetch_list())
    fetched = sorted(_rows(segment.table("crawl_fetch").files()), key=itemgetter("position"))
    captures = list(source.captures())
    assert [row["url"] for row in fetched] == [one.output.entry.page.url for one in captures]
    for row, one in zip(fetched, captures, strict=True):
        assert row["fetch_time"] == one.output.fetch_date
        has_content = one.content is not None and bool(one.content.content)
        assert (row["warc_file"] is not None) == has_content
        if not one.output.entry.fetch:
            assert row["status"] == FetchStatus.FETCH_NOTMODIFIED


def test_text_and_titles_come_over(tmp_path: Path) -> None:
    """A segment alone: titles, texts, links with their anchors."""
    name = "20261130203150"
    with open_context(tmp_path / "crawl", (), {}, create=True) as context:
        run(context, ImportOptions(source=DATA / "nutch072" / "segments" / name))
        segment = context.crawl.segment(name)
        titles = {row["url"]: row["title"] for row in _rows(segment.table("parse_data").files())}
        texts = {row["url"]: row["text"] for row in _rows(segment.table("parse_text").files())}
        links = _rows(segment.table("crawl_parse").files())
    for one in OldSegment(DATA / "nutch072" / "segments" / name).captures():
        url = one.output.entry.page.url
        if one.output.status.is_success:
            assert one.data is not None
            assert one.text is not None
            assert (titles[url], texts[url]) == (one.data.title, one.text.text)
            found = [
                (row["url"], row["anchor"])
                for row in sorted(links, key=lambda row: row["ordinal"])
                if row["from_url"] == url and row["kind"] == "outlink"
            ]
            assert found == [(link.to_url, link.anchor) for link in one.data.outlinks]


@pytest.mark.parametrize("era", ERAS)
def test_any_page_and_line_comes_back(era: str) -> None:
    """Columns of ours hold all of a page: never to be fetched, odd intervals, scores, anchors."""
    for path in sorted(DATA.glob(f"{era}/webdb-*")):
        with WebDB(path) as db:
            for page in db.pages():
                row = page_columns(page)
                assert page_of(row).to_bytes() == page.to_bytes()
    for path in sorted(DATA.glob(f"{era}/segments/*")):
        for entry in OldSegment(path).fetch_list():
            assert entry_of(entry_columns(entry)) == entry


def test_an_import_is_done_once(old: Path, tmp_path: Path) -> None:
    """The same command changes nothing more; an odd name of a segment is told."""
    with open_context(tmp_path / "crawl", (), {}, create=True) as context:
        run(context, ImportOptions(source=old))
        versions = [context.crawl.table(name).version() for name in ("crawldb", "linkdb")]
        run(context, ImportOptions(source=old))
        assert [context.crawl.table(name).version() for name in ("crawldb", "linkdb")] == versions
    shutil.copytree(next((old / "segments").iterdir()), old / "segments" / "merged")
    with (
        open_context(tmp_path / "other", (), {}, create=True) as context,
        pytest.raises(UserError, match="is not called as segments are"),
    ):
        run(context, ImportOptions(source=old))


def test_a_crawl_of_old_goes_back(old: Path, tmp_path: Path) -> None:
    """The web database byte for byte; fetch lists, outputs, contents and texts as they were."""
    back = tmp_path / "back"
    with open_context(tmp_path / "crawl", (), {}, create=True) as context:
        run(context, ImportOptions(source=old))
        nutch_export.run(context, nutch_export.ExportOptions(dest=back, as_07=True))
    with WebDB(old / "db") as before, WebDB(back / "db") as after:
        assert [one.to_bytes() for one in after.pages()] == [
            one.to_bytes() for one in before.pages()
        ]
        assert [one.to_bytes() for one in after.links_by_md5()] == [
            one.to_bytes() for one in before.links_by_md5()
        ]
        assert after.stats == before.stats
    for folder in sorted((old / "segments").iterdir()):
        source, again = OldSegment(folder), OldSegment(back / "segments" / folder.name)
        assert list(again.fetch_list()) == list(source.fetch_list())
        captures, returned = list(source.captures()), list(again.captures())
        for one, other in zip(captures, returned, strict=True):
            if one.old_status == 4:  # "can't parse": of 0.7 that is a success of the fetch
                assert (other.output.status.code, other.output.md5) == (1, one.output.md5)
                assert other.data is not None
                assert not other.data.status.is_success
                continue
            assert other.output == one.output
            assert (other.content, other.text, other.data) == (one.content, one.text, one.data)


def test_a_crawl_of_today_goes_to_old(tmp_path: Path) -> None:
    """A crawl of Nutch 1.22 comes out as one of 0.7: pages, links and segments are there."""
    golden = DATA.parent / "nutch1"
    with open_context(tmp_path / "crawl", (), {}, create=True) as context:
        run(context, ImportOptions(source=golden))
        counted = nutch_export.run(
            context, nutch_export.ExportOptions(dest=tmp_path / "old", as_07=True)
        ).counters
    assert (counted["pages"], counted["segments"], counted["crawl_fetch"]) == (98, 3, 127)
    with WebDB(tmp_path / "old" / "db") as db:
        assert len(list(db.pages())) == 98
        assert counted["links"] == len(list(db.links())) > 300
    for folder in (tmp_path / "old" / "segments").iterdir():
        captures = list(OldSegment(folder).captures())
        assert captures
        for one in captures:
            assert one.content is not None
            assert one.content.url == one.output.entry.page.url
