"""The records of Nutch 0.6 and 0.7, held against what the real classes read and wrote."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.nutch.data import CorruptDataError, DataInput, EndOfDataError
from filbert.nutch.simple import MD5Hash
from filbert.nutch.v07.fetched import Content, FetcherOutput, FetcherOutput06
from filbert.nutch.v07.jsonable import jsonable
from filbert.nutch.v07.link import MAX_ANCHOR, Link, LinkAnalysisEntry, LinkByMD5
from filbert.nutch.v07.names import ALIASES, record_class
from filbert.nutch.v07.page import NEVER, FetchListEntry, Page, by_url
from filbert.nutch.v07.parsed import MAX_OUTLINKS, Outlink, ParseData, ParseData06, ParseText
from filbert.nutch.v07.status import ParseStatus, ProtocolStatus
from filbert.nutch.writable import VersionMismatchError, Writable

DATA = Path(__file__).parents[2] / "data" / "nutch07"
ERAS = ("nutch06", "nutch072")
OF_06: dict[type[Writable], type[Writable]] = {
    FetcherOutput: FetcherOutput06,
    ParseData: ParseData06,
}
# 0.6 fails with NegativeArraySizeException where 0.7 wrote "no bytes": we read that in both.
READ_ON_PURPOSE = {("nutch06", "Content null body (length -1)")}


def _cases() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for era in ERAS:
        cases = json.loads((DATA / era / "records.json").read_text(encoding="utf-8"))["cases"]
        found += [(era, one) for one in cases if "hex" in one and _class(era, one)]
    return found


def _class(era: str, case: dict[str, Any]) -> type[Writable] | None:
    cls = record_class(case.get("class", ""))
    return OF_06.get(cls, cls) if era == "nutch06" and cls else cls


CASES = _cases()


def test_no_case_is_lost() -> None:
    """All records of the real classes are here, of both eras."""
    assert len(CASES) == 162


@pytest.mark.parametrize(("era", "case"), CASES, ids=[f"{era} {one['name']}" for era, one in CASES])
def test_it_reads_and_writes_what_the_real_class_does(era: str, case: dict[str, Any]) -> None:
    """The fields, how far it read, and the bytes written again; or the exception."""
    cls, data = _class(era, case), DataInput(bytes.fromhex(case["hex"]))
    assert cls is not None
    if "error" in case and (era, case["name"]) not in READ_ON_PURPOSE:
        with pytest.raises(CorruptDataError) as refused:
            cls.read(data)
        if case["error"]["class"].endswith("VersionMismatchException"):
            assert isinstance(refused.value, VersionMismatchError)
            assert str(refused.value) == case["error"]["text"]
        if case["error"]["class"].endswith("EOFException"):
            assert isinstance(refused.value, EndOfDataError)
        return
    record = cls.read(data)
    if "error" in case:
        return
    assert _cut(jsonable(record)) == case["fields"]
    assert data.position == case["bytesRead"]
    wanted = case.get("rewritten_hex") or (case["hex"] if case.get("rewritten_same") else None)
    several = len(getattr(record, "metadata", ())) > 1  # Properties have no order
    if wanted is not None and not several and "103 outlinks" not in case["name"]:
        assert record.to_bytes().hex() == wanted
    assert cls.from_bytes(record.to_bytes()) == record


def _cut(shown: object) -> object:
    """Cut outlinks as the reader of old does; ours keeps them all."""
    if isinstance(shown, dict) and "outlinks" in shown:
        return shown | {"outlinks": shown["outlinks"][:MAX_OUTLINKS]}
    return shown


@pytest.mark.parametrize("era", ERAS)
def test_which_statuses_are_transient(era: str) -> None:
    """Kinds of statuses are as the real class has them."""
    cases = json.loads((DATA / era / "records.json").read_text(encoding="utf-8"))["cases"]
    for case in cases:
        if case["name"].startswith("ProtocolStatus kinds"):
            status = ProtocolStatus(code=int(case["name"].rpartition(" ")[2]))
            got = (status.is_success, status.is_transient, status.is_permanent)
            assert got == (case["success"], case["transient"], case["permanent"])


def test_a_new_page_is_as_the_constructor_made_it() -> None:
    """MD5 of the URL, due now, 30 days, score 1."""
    page = Page.of("http://a/", 5)
    assert page == Page(url="http://a/", md5=MD5Hash.digest("http://a/"), next_fetch=5)
    assert (page.retries, page.fetch_interval, page.score, page.next_score) == (0, 30, 1.0, 1.0)
    assert not page.was_fetched


def test_pages_are_ordered_by_md5_and_by_url() -> None:
    """Natural order: MD5, then URL by its bytes; the other comparator: URL alone."""
    low, high = MD5Hash(bytes(16)), MD5Hash(b"\xff" * 16)
    first = Page(url="http://b/", md5=low, next_fetch=NEVER)
    second = Page(url="http://a/", md5=high, next_fetch=NEVER)
    assert sorted([second, first]) == [first, second]
    assert sorted([first, second], key=by_url) == [second, first]


def test_equal_pages_may_differ_in_outlinks() -> None:
    """`equals` leaves numOutlinks out, and so does the hash."""
    pages = {Page(url="u", md5=MD5Hash(), next_fetch=1, num_outlinks=n) for n in (1, 2)}
    assert len(pages) == 1


def test_links_have_two_orders_and_short_anchors() -> None:
    """By URL then source; by source then URL; 100 characters of anchor."""
    low, high = MD5Hash(bytes(16)), MD5Hash(b"\xff" * 16)
    a, b = Link(from_id=high, url="a"), Link(from_id=low, url="b")
    assert a < b
    assert LinkByMD5(from_id=low, url="b") < LinkByMD5(from_id=high, url="a")
    assert len(Link.of(low, "a", "host", "x" * 500).anchor) == MAX_ANCHOR


def test_outputs_are_equal_whenever_they_were_fetched() -> None:
    """`equals` leaves fetchDate out; a copy with a change is a new record (`clone`)."""
    entry = FetchListEntry(fetch=True, page=Page.of("http://a/", 5))
    output = FetcherOutput(entry=entry, md5=MD5Hash(), status=ProtocolStatus(code=1), fetch_date=1)
    later = replace(output, fetch_date=2)
    assert later == output
    assert later.to_bytes() != output.to_bytes()
    assert replace(output, entry=replace(entry, fetch=False)) != output


def test_constants_are_those_of_old() -> None:
    """Folders, marker files and versions."""
    dirs = [cls.DIR_NAME for cls in (FetchListEntry, FetcherOutput, Content, ParseText, ParseData)]
    assert dirs == ["fetchlist", "fetcher", "content", "parse_text", "parse_data"]
    assert FetcherOutput.DIR_NAME_NP == "fetcher_output"
    assert (FetcherOutput.DONE_NAME, FetcherOutput.ERROR_NAME) == ("fetcher.done", "fetcher.error")
    current = [cls.CUR_VERSION for cls in (Page, FetchListEntry, FetcherOutput, Link)]
    assert current == [4, 2, 5, 5]
    strict = [cls.VERSION for cls in (Content, ParseText, ProtocolStatus, ParseStatus)]
    assert strict == [1, 1, 1, 1]


def test_classes_are_found_by_all_their_names() -> None:
    """Alias, name since Apache, name before; others are none of ours."""
    assert {record_class(f"{root}db.Page") for root in ("org.apache.nutch.", "net.nutch.")} == {
        Page
    }
    assert record_class("Page") is Page
    assert record_class("net.nutch.linkdb.LinkAnalysisEntry") is LinkAnalysisEntry
    assert record_class("db.Page") is None
    assert record_class("org.apache.nutch.crawl.CrawlDatum") is None
    for alias, cls in ALIASES.items():
        assert record_class(alias) is cls


def test_statuses_of_no_name_are_shown_as_java_does() -> None:
    """An unknown code is "null", an unknown major "UNKNOWN!"; so are arguments that are null."""
    assert str(ProtocolStatus(code=5, args=(None,))) == "null(5), lastModified=0: null"
    assert str(ProtocolStatus(code=1, args=())) == "success(1), lastModified=0"
    assert str(ParseStatus(major=7, args=("a", None))) == "UNKNOWN!(7,0), args[0]=a"


def test_a_cut_at_every_byte_is_an_error() -> None:
    """Of all the records of the real classes, no beginning is taken for the whole."""
    for era, case in CASES:
        cls, whole = _class(era, case), bytes.fromhex(case["hex"])
        assert cls is not None
        for end in range(case.get("bytesRead", 0) if "error" not in case else 0):
            with pytest.raises(CorruptDataError):
                cls.from_bytes(whole[:end])


TEXT = st.text(max_size=20)
MD5 = st.binary(min_size=16, max_size=16).map(MD5Hash)
BYTE, INT, LONG = (st.integers(-(2 ** (n - 1)), 2 ** (n - 1) - 1) for n in (8, 32, 64))
FLOAT = st.floats(width=32, allow_nan=False)
ARGS = st.none() | st.lists(st.none() | TEXT, max_size=3).map(tuple)
PAIRS = st.dictionaries(TEXT, TEXT, max_size=3)
PAGES = st.builds(
    Page, url=TEXT, md5=MD5, next_fetch=LONG, retries=BYTE, fetch_interval=BYTE, num_outlinks=INT,
    score=FLOAT, next_score=FLOAT,
)  # fmt: skip
ENTRIES = st.builds(
    FetchListEntry, fetch=st.booleans(), page=PAGES, anchors=st.lists(TEXT, max_size=3).map(tuple)
)
STATUSES = st.builds(ProtocolStatus, code=BYTE, last_modified=LONG, args=ARGS)
PARSE_STATUSES = st.builds(ParseStatus, major=BYTE, minor=st.integers(-32768, 32767), args=ARGS)
LINKS = st.lists(st.builds(Outlink, to_url=TEXT, anchor=TEXT), max_size=3).map(tuple)
RECORDS = st.one_of(
    PAGES,
    ENTRIES,
    st.builds(FetcherOutput, entry=ENTRIES, md5=MD5, status=STATUSES, fetch_date=LONG),
    st.builds(FetcherOutput06, entry=ENTRIES, md5=MD5, status=BYTE, fetch_date=LONG),
    st.builds(
        Content, url=TEXT, base=TEXT, content=st.none() | st.binary(), content_type=TEXT,
        metadata=PAIRS,
    ),
    st.builds(ParseText, text=st.none() | TEXT),
    st.builds(ParseData, title=TEXT, outlinks=LINKS, metadata=PAIRS, status=PARSE_STATUSES),
    st.builds(ParseData06, title=TEXT, outlinks=LINKS, metadata=PAIRS),
    st.builds(
        Link, from_id=MD5, url=TEXT, domain_id=LONG, anchor=TEXT, target_has_outlink=st.booleans()
    ),
    st.builds(LinkAnalysisEntry, score=FLOAT),
    STATUSES,
    PARSE_STATUSES,
)  # fmt: skip


@given(RECORDS)
def test_any_record_comes_back(record: Writable) -> None:
    """What is written is read as it was, field by field, and written again as it was."""
    again = type(record).from_bytes(record.to_bytes())
    assert again == record
    assert str(again) == str(record)
    assert jsonable(again) == jsonable(record)
    assert again.to_bytes() == record.to_bytes()


@given(RECORDS, st.data())
def test_damage_is_a_clean_error_or_a_record(record: Writable, data: st.DataObject) -> None:
    """A cut is an error that says where; a changed byte is that, or another record."""
    whole = record.to_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(CorruptDataError):
        type(record).from_bytes(whole[:at])
    changed = bytearray(whole)
    changed[at] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(CorruptDataError):
        type(record).from_bytes(bytes(changed))
