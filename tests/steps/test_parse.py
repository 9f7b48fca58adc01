"""The step `parse` over a segment made on paper."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import UserError
from filbert.model.clock import FixedClock
from filbert.model.statuses import FetchStatus, ParseMajor, ParseMinor
from filbert.steps.context import open_context
from filbert.steps.parse import ParseOptions, run
from filbert.store.parquet import read_rows
from filbert.store.segments import SegmentState
from filbert.store.tables import Commit
from filbert.testing.captured_segment import PaperPage, write_segment

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.store.segments import Segment

NOW = 1_796_083_200_000
IN_PROCESS = ("engine.processes=1",)


def _rows(segment: Segment, table: str) -> list[dict[str, Any]]:
    return list(read_rows(segment.table(table).files()))


@pytest.mark.slow
def test_a_segment_is_parsed_once(tmp_path: Path) -> None:
    """Successful captures get rows; redirects and failures do not; a second run does nothing."""
    pages = [
        PaperPage(url="http://a.com/", body=b"<title>A</title><a href=/x>x</a><a href=/y?q>y</a>"),
        PaperPage(url="http://a.com/moved", status=FetchStatus.FETCH_REDIR_PERM),
        PaperPage(url="http://a.com/gone", status=FetchStatus.FETCH_GONE),
        PaperPage(url="http://a.com/pic", body=b"GIF89a....", content_type="image/gif"),
        PaperPage(url="http://b.org/", body=b"words", content_type="text/plain", part=1),
    ]
    with open_context(
        tmp_path / "c", IN_PROCESS, {}, create=True, clock=FixedClock(NOW)
    ) as context:
        segment = write_segment(context.crawl, pages, NOW)
        result = run(context, ParseOptions())
        assert segment.state is SegmentState.PARSED
        assert result.segments == (segment.name,)
        data = {row["url"]: row["major"] for row in _rows(segment, "parse_data")}
        assert data == {
            "http://a.com/": ParseMajor.SUCCESS,
            "http://a.com/pic": ParseMajor.FAILED,
            "http://b.org/": ParseMajor.SUCCESS,
        }
        texts = {row["url"]: row["text"] for row in _rows(segment, "parse_text")}
        assert texts == {"http://a.com/": "A x y", "http://b.org/": "words"}
        kinds = Counter(row["kind"] for row in _rows(segment, "crawl_parse"))
        assert kinds == {"signature": 3, "parse_metadata": 3, "outlink": 1}
        assert result.counters["links_dropped_regex"] == 1
        assert result.message.endswith("1 failed, 1 link kept, 1 dropped")
        assert run(context, ParseOptions()).nothing_to_do
        assert run(context, ParseOptions(segments=(segment.name,))).nothing_to_do


@pytest.mark.slow
def test_a_damaged_capture_is_a_failed_page(tmp_path: Path) -> None:
    """A capture that cannot be read is told as such, and costs no other page; no fingerprint."""
    pages = [PaperPage(url=f"http://a.com/{name}", body=b"<p>" + name.encode()) for name in "xyz"]
    with open_context(
        tmp_path / "c", IN_PROCESS, {}, create=True, clock=FixedClock(NOW)
    ) as context:
        segment = write_segment(context.crawl, pages, NOW)
        damaged = _rows(segment, "crawl_fetch")[1]
        with (segment.content_dir / damaged["warc_file"]).open("r+b") as file:
            file.seek(damaged["warc_offset"])
            file.write(bytes(damaged["warc_length"]))
        result = run(context, ParseOptions())
        data = {row["url"]: (row["major"], row["minor"]) for row in _rows(segment, "parse_data")}
        linked = {row["url"] for row in _rows(segment, "crawl_parse")}
        texts = {row["url"] for row in _rows(segment, "parse_text")}
        whole = {page.url for page in pages} - {damaged["url"]}
        assert data.pop(damaged["url"]) == (ParseMajor.FAILED, ParseMinor.FAILED_MISSING_CONTENT)
        assert (set(data), linked, texts) == (whole, whole, whole)
        assert result.counters["capture_unreadable"] == 1


@pytest.mark.slow
def test_a_step_killed_between_commits_is_done_again(tmp_path: Path) -> None:
    """Tables that were committed before a crash are left alone, the others follow."""
    pages = [PaperPage(url="http://a.com/", body=b"<p>x<a href=/y>y</a>")]
    with open_context(
        tmp_path / "c", IN_PROCESS, {}, create=True, clock=FixedClock(NOW)
    ) as context:
        segment = write_segment(context.crawl, pages, NOW)
        run(context, ParseOptions())
        before = _rows(segment, "crawl_parse")
        for path in (segment.path / "parse_data").rglob("*"):
            if path.is_file():
                path.unlink()
        assert not segment.has("parse_data")
        run(context, ParseOptions())
        assert segment.state is SegmentState.PARSED
        assert _rows(segment, "crawl_parse") == before
        assert len(_rows(segment, "parse_data")) == 1


@pytest.mark.slow
def test_a_page_captured_twice_is_parsed_once(tmp_path: Path) -> None:
    """When a redirect leads to a page of the list, the later capture counts, as in updatedb."""
    pages = [
        PaperPage(url="http://a.com/b", body=b"by redirect", hop=1),
        PaperPage(url="http://a.com/b", body=b"later, by itself"),
        PaperPage(url="http://a.com/c", body=b"c"),
    ]
    with open_context(
        tmp_path / "c", IN_PROCESS, {}, create=True, clock=FixedClock(NOW)
    ) as context:
        segment = write_segment(context.crawl, pages, NOW)
        result = run(context, ParseOptions())
        texts = {row["url"]: row["text"] for row in _rows(segment, "parse_text")}
        assert texts == {"http://a.com/b": "later, by itself", "http://a.com/c": "c"}
        assert len(_rows(segment, "parse_data")) == 2
        assert result.counters["captured_twice"] == 1


@pytest.mark.slow
def test_filters_can_be_left_out(tmp_path: Path) -> None:
    """`--no-filter` and `--no-normalize` keep links as they are."""
    body = b"<a href='/y?q#f'>y</a>"
    with open_context(
        tmp_path / "c", IN_PROCESS, {}, create=True, clock=FixedClock(NOW)
    ) as context:
        segment = write_segment(context.crawl, [PaperPage(url="http://a.com/", body=body)], NOW)
        run(context, ParseOptions(filter=False, normalize=False))
        links = [r["url"] for r in _rows(segment, "crawl_parse") if r["kind"] == "outlink"]
        assert links == ["http://a.com/y?q#f"]


def test_a_segment_that_is_not_fetched_is_refused(tmp_path: Path) -> None:
    """Parsing what is not fetched says which command comes first."""
    with open_context(tmp_path / "c", (), {}, create=True, clock=FixedClock(NOW)) as context:
        segment = context.crawl.new_segment(NOW)
        segment.table("crawl_generate").commit(Commit(step="generate"))
        with pytest.raises(UserError, match="not fetched"):
            run(context, ParseOptions(segments=(segment.name,)))
