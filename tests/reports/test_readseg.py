"""What is in a segment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from filbert.reports.readseg import BLOCKS, list_segments, records
from filbert.store.warc import Capture

if TYPE_CHECKING:
    from conftest import Grove  # type: ignore[import-not-found]
    from filbert.settings.engine import EngineSettings

OAK, HAZEL, ELM = "http://oak.test/", "http://hazel.test/nuts", "http://elm.test/"
CAPTURE = Capture(
    url=OAK,
    kind="response",
    date="2026-11-30T00:53:20Z",
    http_status=200,
    head=b"",
    headers={"content-type": ("text/html",)},
    body="Eiche: \xe4".encode("latin-1"),
    content_type="text/html",
    ip=None,
    truncated=None,
)


def test_a_line_for_each_segment(grove: Grove, engine: EngineSettings) -> None:
    """Counts, times, state; what is not there yet is None."""
    fresh = grove.folder.new_segment(grove.paper.clock.now_ms())
    done, new = list_segments(grove.folder, [grove.segment, fresh], engine)
    assert (done.generated, done.fetched, done.parsed) == (2, 2, 1)
    assert (done.state, done.absorbed) == ("parsed", True)
    assert done.fetcher_start == done.fetcher_end
    assert (new.state, new.absorbed) == ("generated", False)
    assert (new.generated, new.fetcher_start, new.fetched, new.parsed) == (None,) * 4


def test_records_come_url_by_url(grove: Grove, engine: EngineSettings) -> None:
    """In order of URLs, with the blocks that each has, in Nutch's order."""
    got = [(r.url, list(r.blocks)) for r in records(grove.segment, engine)]
    assert got == [
        (ELM, ["parse"]),
        (HAZEL, ["generate", "fetch"]),
        (OAK, ["content", "generate", "fetch", "parse", "parse_data", "parse_text"]),
    ]


def test_one_url_and_some_blocks(grove: Grove, engine: EngineSettings) -> None:
    """-get with the no-options."""
    (record,) = records(grove.segment, engine, url=OAK, blocks=["fetch", "parse_text"])
    assert (record.segment, list(record.blocks)) == (grove.segment.name, ["fetch", "parse_text"])
    assert record.blocks["fetch"][0]["status"] == "fetch_success"
    assert record.blocks["parse_text"][0]["text"] == "An oak."
    assert list(records(grove.segment, engine, url="http://x.test/", blocks=tuple(BLOCKS))) == []


def test_content_is_read_from_the_captures(
    grove: Grove, engine: EngineSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As UTF-8; with `recode` by the charset that the parser found."""
    monkeypatch.setattr("filbert.reports.readseg.read_capture", lambda *_, **__: CAPTURE)
    place = {"warc_file": "x", "warc_offset": 0, "warc_length": 1}
    said = {"text": "Eiche", "parsed": {"charset": "windows-1252"}, **place}
    segment = grove.paper.segment({OAK: said})
    got = [
        record.blocks["content"][0]["content"]
        for recode in (False, True)
        for record in records(segment, engine, blocks=["content"], recode=recode)
    ]
    assert got == ["Eiche: \ufffd", "Eiche: \xe4"]


@pytest.mark.parametrize(
    ("url", "truncated", "words"),
    [
        ("http://oak.test/", None, None),
        ("http://oak.test/", "length", "the http.content_limit of that fetch cut the rest off"),
        ("file:///oak", "length", "the file.content_limit of that fetch cut the rest off"),
        ("https://oak.test/", "time", "the http.time_limit_s of that fetch cut the rest off"),
        (
            "https://oak.test/",
            "disconnect",
            "the server broke off (http.partial_truncated keeps what came)",
        ),
    ],
)
def test_a_cut_page_says_which_setting_cut_it(
    url: str,
    truncated: str | None,
    words: str | None,
    grove: Grove,
    engine: EngineSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The length beside it is not that of the page."""
    capture = replace(CAPTURE, truncated=truncated)
    monkeypatch.setattr("filbert.reports.readseg.read_capture", lambda *_, **__: capture)
    place = {"warc_file": "x", "warc_offset": 0, "warc_length": 1}
    segment = grove.paper.segment({url: place})
    (record,) = records(segment, engine, blocks=["content"])
    assert record.blocks["content"][0]["cut"] == (words and f"only the first 8 bytes: {words}")


def test_what_readseg_itself_leaves_out_is_said(
    grove: Grove, engine: EngineSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body beyond what it reads is not shown as whole."""
    capture = replace(CAPTURE, body=b"x" * (16 << 20))
    monkeypatch.setattr("filbert.reports.readseg.read_capture", lambda *_, **__: capture)
    (record,) = records(grove.segment, engine, url=OAK, blocks=["content"])
    got = record.blocks["content"][0]["cut"]
    assert got == "only the first 16777216 bytes: readseg shows no more of a capture"


def test_a_lost_capture_is_said_not_raised(grove: Grove, engine: EngineSettings) -> None:
    """A WARC file that is gone does not hide the other records."""
    (record,) = records(grove.segment, engine, url=OAK, blocks=["content"])
    assert "cannot read" in record.blocks["content"][0]["error"]
