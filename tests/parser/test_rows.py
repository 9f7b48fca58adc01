"""From a parsed page to rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

import pytest

from filbert.model.records import Page, Parse
from filbert.model.statuses import ParseMajor, ParseMinor
from filbert.parser.jobs import PageRows, ParseJob
from filbert.parser.parsing import PageParser
from filbert.parser.rows import RowMaker
from filbert.plugins.registry import PluginRepository
from filbert.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.plugins.contracts import ParseFilter, Parser

PAGE = "http://example.com/d/"
AT = 1_796_083_200_000


def _job(body: str, content_type: str = "text/html", **facts: object) -> ParseJob:
    headers = {"content-type": (content_type,), "server": ("x", "y")}
    job = ParseJob(
        url=PAGE,
        base_url=PAGE,
        body=body.encode(),
        declared_type=content_type,
        headers=headers,
        fetch_time=AT,
        score=1.0,
    )
    return replace(job, **facts)  # type: ignore[arg-type]


def _rows(
    folder: Path, job: ParseJob, sections: Mapping[str, Mapping[str, object]] | None = None
) -> PageRows:
    settings = Settings.model_validate(sections or {})
    plugins = PluginRepository(settings, folder)
    return RowMaker(settings, plugins).rows(job, PageParser(settings, plugins).parse(job))


def test_a_page_gives_its_share_to_each_link(tmp_path: Path) -> None:
    """Each kept link is one row for updatedb and invertlinks, with its share of the score."""
    rows = _rows(tmp_path, _job("<a href=a>A</a><a href='http://B.org/?q'>q</a><a href=c>C</a>"))
    links = [row for row in rows.crawl_parse if row["kind"] == "outlink"]
    assert [(r["url"], r["host"], r["domain"], r["anchor"], r["score"]) for r in links] == [
        ("http://example.com/d/a", "example.com", "example.com", "A", 0.5),
        ("http://example.com/d/c", "example.com", "example.com", "C", 0.5),
    ]
    assert all(row["to_db"] and row["to_linkdb"] for row in links)
    assert all(row["fetch_interval"] == 2_592_000 for row in links)
    assert rows.counters["links_dropped_regex"] == 1
    data = rows.parse_data[0]
    assert (data["outlinks_found"], data["outlinks_kept"]) == (3, 2)
    assert data["outlinks_dropped"] == {"regex": "1"}


def test_the_page_itself_gets_signature_and_type(tmp_path: Path) -> None:
    """Signature and detected type of a page are rows about it, with the time of the capture."""
    rows = _rows(tmp_path, _job("<html>x", "text/plain"))
    about = [(r["kind"], r["url"], r["from_url"], r["ordinal"]) for r in rows.crawl_parse]
    assert about == [("signature", PAGE, PAGE, 0), ("parse_metadata", PAGE, PAGE, 1)]
    assert rows.crawl_parse[0]["signature"] == rows.parse_data[0]["signature"]
    assert rows.crawl_parse[1]["content_type"] == "text/html"
    assert {row["fetch_time"] for row in rows.crawl_parse} == {AT}
    known = _rows(tmp_path, _job("<p>x", known_type="text/html"))
    assert [row["kind"] for row in known.crawl_parse] == ["signature"]


def test_parse_metadata_goes_to_the_crawldb_if_asked(tmp_path: Path) -> None:
    """Names in update.parsemeta_to_crawldb are copied, first value each."""
    body = "<meta name=keywords content=a><meta name=keywords content=b><meta name=x content=y>"
    sections = {"update": {"parsemeta_to_crawldb": ("keywords", "nothing")}}
    rows = _rows(tmp_path, _job(body), sections)
    metadata = [r["metadata"] for r in rows.crawl_parse if r["kind"] == "parse_metadata"]
    assert metadata == [{"keywords": "a"}]
    assert rows.parse_data[0]["parse_metadata"]["keywords"] == ["a", "b"]
    assert rows.parse_data[0]["content_metadata"]["server"] == ["x", "y"]


@pytest.mark.parametrize(
    ("content", "target", "shown"),
    [
        ("0;url=/", "http://example.com/", None),
        ("0;url=/d/e/", "http://example.com/d/e/", PAGE),
        ("10;url=/d/e/", "http://example.com/d/e/", None),
    ],
)
def test_a_refresh_is_a_row(content: str, target: str, shown: str | None, tmp_path: Path) -> None:
    """A refresh leads updatedb to its target; a quick one may show the page's own URL."""
    rows = _rows(tmp_path, _job(f'<meta http-equiv=refresh content="{content}">'))
    found = [r for r in rows.crawl_parse if r["kind"] == "refresh"]
    assert [(r["url"], r["to_db"], r["to_linkdb"], r["repr_url"]) for r in found] == [
        (target, True, False, shown)
    ]
    assert rows.parse_data[0]["minor"] == ParseMinor.SUCCESS_REDIRECT
    assert rows.parse_data[0]["parse_message"] == target


@pytest.mark.parametrize(
    ("content", "reason"),
    [("5", "self"), ("0;url=/?x", "regex"), ("0;url=http://b.org/", "external")],
)
def test_a_refresh_that_leads_nowhere_is_counted(content: str, reason: str, tmp_path: Path) -> None:
    """A refresh to the page itself, or to what is not wanted, is no row but a count."""
    sections = {"parse": {"ignore_external_links": True}}
    rows = _rows(tmp_path, _job(f'<meta http-equiv=refresh content="{content}">'), sections)
    assert rows.counters[f"refresh_dropped_{reason}"] == 1
    assert [r for r in rows.crawl_parse if r["kind"] == "refresh"] == []


def test_a_type_nobody_reads_is_a_failed_parse(tmp_path: Path) -> None:
    """Without a parser a page has a row that says so, a signature, and no text."""
    rows = _rows(tmp_path, _job("%PDF-1.4"))
    data = rows.parse_data[0]
    assert (data["major"], data["parse_message"]) == (
        ParseMajor.FAILED,
        "no parser for application/pdf",
    )
    assert rows.parse_text == []
    assert rows.crawl_parse[0]["kind"] == "signature"
    assert rows.counters["failed"] == 1


def test_truncated_pages_are_skipped_if_asked(tmp_path: Path) -> None:
    """parse.skip_truncated leaves a cut page unparsed, with the reason; by default it is parsed."""
    job = _job("<title>t</title>", truncated="length")
    assert _rows(tmp_path, job).parse_data[0]["title"] == "t"
    rows = _rows(tmp_path, job, {"parse": {"skip_truncated": True}})
    assert rows.parse_data[0]["major"] == ParseMajor.NOTPARSED
    assert rows.parse_data[0]["minor"] == ParseMinor.FAILED_TRUNCATED
    assert (rows.parse_text, rows.crawl_parse) == ([], [])


def test_text_can_be_cut_or_left_out(tmp_path: Path) -> None:
    """parse.text_limit cuts the text, parse.store_text keeps none."""
    cut = _rows(tmp_path, _job("some words"), {"parse": {"text_limit": 4}})
    assert cut.parse_text[0]["text"] == "some"
    assert _rows(tmp_path, _job("x"), {"parse": {"store_text": False}}).parse_text == []


class _Twice:
    """A parser that breaks, then one that finds a document inside."""

    content_types = ("text/*",)

    def __init__(self, name: str) -> None:
        self.name = name

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        return cls("x")

    def parse(self, page: Page) -> Sequence[Parse]:
        if self.name == "broken":
            raise KeyError("gone")
        return (Parse(title="outer"), Parse(url=f"{page.url}#1", title="inner"))

    def filter(self, page: Page, parse: Parse) -> Parse:
        raise ValueError(parse.title)


def _strange(folder: Path, parsers: list[Parser], filters: list[ParseFilter]) -> PageRows:
    settings = Settings()
    plugins = PluginRepository(settings, folder)
    parser = PageParser(settings, plugins)
    parser._parsers = parsers
    parser._filters = filters
    job = _job("words")
    return RowMaker(settings, plugins).rows(job, parser.parse(job))


def test_a_broken_parser_leaves_it_to_the_next(tmp_path: Path) -> None:
    """An exception in a parser is a failed parse; the next parser of the type is tried."""
    alone = _strange(tmp_path, [_Twice("broken")], [])
    assert alone.parse_data[0]["parse_message"] == "parser broken: KeyError: 'gone'"
    rows = _strange(tmp_path, [_Twice("broken"), _Twice("good")], [])
    assert [row["title"] for row in rows.parse_data] == ["outer", "inner"]


def test_a_document_inside_is_a_document_of_its_own(tmp_path: Path) -> None:
    """A document inside a page has its own rows and says which page it is from."""
    rows = _strange(tmp_path, [_Twice("good")], [])
    assert [row["canonical"] for row in rows.parse_data] == [True, False]
    inside = [row for row in rows.crawl_parse if row["kind"] == "subdocument"]
    assert [(row["url"], row["from_url"]) for row in inside] == [(f"{PAGE}#1", PAGE)]
    assert (rows.counters["pages"], rows.counters["subdocuments"]) == (1, 1)


def test_a_broken_filter_is_counted(tmp_path: Path) -> None:
    """An exception in a parse filter is counted, and the parse goes on."""
    rows = _strange(tmp_path, [_Twice("good")], [_Twice("odd")])
    assert rows.counters["error_odd"] == 2
    assert rows.parse_data[0]["title"] == "outer"
