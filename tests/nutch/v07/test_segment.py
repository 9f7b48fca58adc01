"""The segments of old, as the real programs left them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from filbert.errors import UserError
from filbert.nutch.array_file import ArrayFile
from filbert.nutch.data import CorruptDataError
from filbert.nutch.simple import MD5Hash
from filbert.nutch.v07.fetched import Content
from filbert.nutch.v07.jsonable import jsonable
from filbert.nutch.v07.segment import (
    OldSegment,
    OldSegmentWriter,
    Span,
    is_old_segment,
    write_fetch_list,
)

DATA = Path(__file__).parents[2] / "data" / "nutch07"
SEGMENTS = sorted(path for path in DATA.glob("*/segments/*"))
PARTS = ("fetcher", "content", "parse_text", "parse_data")


def _told(path: Path) -> list[object]:
    """What the real classes read of a part of a segment."""
    era = path.parents[2]
    dump = era / "dump" / path.relative_to(era) / "data.json"
    records = json.loads(dump.read_text(encoding="utf-8"))["records"]
    return [one["value"] for one in records]


@pytest.mark.parametrize("path", SEGMENTS, ids=lambda path: f"{path.parts[-3]} {path.name}")
def test_a_segment_is_read_in_step(path: Path, tmp_path: Path) -> None:
    """Each part is what the real classes read; written anew it is the same, record by record."""
    segment = OldSegment(path)
    entries, captures = list(segment.fetch_list()), list(segment.captures())
    old = path.parts[-3] == "nutch06"
    assert [jsonable(one) for one in entries] == _told(path / "fetchlist")
    parts: dict[str, list[object]] = {name: [] for name in PARTS}
    for one in captures:
        assert one.content is not None
        assert one.content.url == one.output.entry.page.url
        assert (one.old_status is None) != old
        output, data = one.of_06() if old else (one.output, one.data)
        for name, record in zip(PARTS, (output, one.content, one.text, data), strict=True):
            parts[name].append(jsonable(record))
    for name, records in parts.items():
        assert records == _told(path / name)
    assert write_fetch_list(tmp_path / "new", iter(entries)) == len(entries)
    with OldSegmentWriter(tmp_path / "new") as writer:
        for one in captures:
            assert one.content is not None
            assert one.text is not None
            assert one.data is not None
            output, data = one.of_06() if old else (one.output, one.data)
            writer.output_page(output, one.content, one.text, data)
    again = OldSegment(tmp_path / "new")
    assert (list(again.fetch_list()), list(again.captures())) == (entries, captures)
    assert again.is_fetched
    assert again.span() == segment.span()
    for name in ("fetchlist", "fetcher"):  # neither gzip nor Properties in them
        if not any(one.output.status.args for one in captures):
            assert _values(tmp_path / "new" / name) == _values(path / name)


def _values(path: Path) -> list[bytes]:
    with ArrayFile(path) as file:
        return [record.value for record in file]


def test_the_status_of_0_6_is_kept() -> None:
    """What 0.7 reads as "retry" was "can't parse" in 0.6, and is told."""
    captures = [one for path in SEGMENTS for one in OldSegment(path).captures()]
    statuses = {(one.old_status, one.output.status.code) for one in captures if one.old_status}
    assert statuses == {(1, 1), (2, 14), (4, 15)}
    newer = next(one for one in captures if one.old_status is None)
    with pytest.raises(UserError, match=r"was not fetched by Nutch 0\.6"):
        newer.of_06()


def test_what_is_not_there_is_not_made_up(tmp_path: Path) -> None:
    """A list alone is a segment, not fetched; `fetcher_output` is one that was not parsed."""
    shutil.copytree(SEGMENTS[0] / "fetchlist", tmp_path / "a" / "fetchlist")
    listed = OldSegment(tmp_path / "a")
    assert is_old_segment(tmp_path / "a")
    assert not is_old_segment(tmp_path)
    assert (listed.is_fetched, listed.is_parsed, listed.span()) == (False, False, Span())
    assert list(listed.captures()) == []
    shutil.copytree(SEGMENTS[0] / "fetcher", tmp_path / "b" / "fetcher_output")
    bare = OldSegment(tmp_path / "b")
    assert (bare.is_fetched, bare.is_parsed) == (True, False)
    assert bare.span().count == len(list(bare.captures()))
    assert {(one.content, one.text, one.data) for one in bare.captures()} == {(None, None, None)}


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
