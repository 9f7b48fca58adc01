"""The doors `index`, `clean` and `search` over one small crawl."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from filbert.cli import run as filbert
from filbert.cli.clean import command as clean
from filbert.cli.index import command as index
from filbert.cli.search import command as search
from filbert.model.statuses import PageStatus
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

    import click

OAK, HAZEL = "http://oak.test/", "http://hazel.test/"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl folder of two pages, indexed through the door."""
    path = tmp_path_factory.mktemp("door") / "crawl"
    paper = PaperCrawl(path)
    segment = paper.segment(
        {
            OAK: {"title": "Oaks & acorns", "text": "Acorns <fall> from oaks."},
            HAZEL: {"title": "Hazel", "text": "Nuts fall, too. \x1b[31m"},
        }
    )
    paper.crawldb({OAK: PageStatus.DB_FETCHED, HAZEL: PageStatus.DB_FETCHED}, absorbs=[segment])
    assert run(index, path)[0] == (0, "2 documents indexed, 0 deleted, 0 skipped")
    return path


def run(command: click.Command, *arguments: object) -> tuple[tuple[int, str], list[str]]:
    """Call a door: its exit code with the first line, and all lines."""
    result = CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    lines = result.output.splitlines()
    return (result.return_value, lines[0] if lines else ""), lines


def test_index_again(crawl: Path) -> None:
    """A second `index` says that there is nothing to do, and `clean` as well; both are fine."""
    got = (run(index, crawl)[0], run(clean, crawl)[0])
    assert got == ((0, "the index is up to date"), (0, "nothing to clean"))


def test_search_for_people(crawl: Path) -> None:
    """Hits are numbered, with title, URL and snippet; what could move the cursor is escaped."""
    got = run(search, crawl, "fall", "nuts")[1]
    assert got == [
        "1 of 2 pages found:",
        "",
        "  1. Hazel",
        "     http://hazel.test/",
        "     Nuts fall, too. \\u001b[31m",
    ]


def test_search_for_programs(crawl: Path) -> None:
    """JSON lines hold title and snippet, plain and as HTML, and what explains the score."""
    lines = run(search, crawl, "acorns", "--format", "jsonl", "--explain")[1]
    row = json.loads(lines[0])
    names = ("rank", "url", "title", "title_html", "snippet", "snippet_html", "host")
    assert {name: row[name] for name in names} == {
        "rank": 1,
        "url": OAK,
        "title": "Oaks & acorns",
        "title_html": "Oaks &amp; <b>acorns</b>",
        "snippet": "Acorns <fall> from oaks.",
        "snippet_html": "<b>Acorns</b> &lt;fall&gt; from oaks.",
        "host": "oak.test",
    }
    assert {one["field"] for one in row["words"]} == {"title", "text"}


def test_every_field_of_a_hit_is_in_the_help(crawl: Path) -> None:
    """What a program reads is documented where it is asked for."""
    lines = run(search, crawl, "acorns", "--format", "jsonl", "--explain")[1]
    shown = CliRunner().invoke(search, ["--help"]).output.split("A hit as JSON or CSV:\n")[1]
    assert [line.split()[0] for line in shown.splitlines() if line[2] != " "] == [
        *json.loads(lines[0])
    ]


def test_a_long_title_is_cut_between_words(tmp_path: Path) -> None:
    """Also one that the index itself cut inside a word."""
    paper = PaperCrawl(tmp_path / "crawl")
    segment = paper.segment({OAK: {"title": "oaks " * 10 + "and acornsacorns " * 9, "text": "x"}})
    paper.crawldb({OAK: PageStatus.DB_FETCHED}, absorbs=[segment])
    run(index, tmp_path / "crawl")
    lines = run(search, tmp_path / "crawl", "oaks")[1]
    assert lines[2] == "  1. " + "oaks " * 10 + "and acornsacorns and acornsacorns and…"


@pytest.mark.parametrize(
    "query",
    [
        "title:",
        "site:",
        "url:",
        "oak lang:",
        "title: oak",
        'text:""',
        "url:///",
        "-site:",
        "(url:)",
    ],
)
@pytest.mark.parametrize("form", ["table", "jsonl"])
def test_a_field_without_a_word_is_wrong_use(
    crawl: Path, query: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is exit 2, with an example of the field; not all pages, and not none."""
    assert filbert(["search", str(crawl), "--format", form, "--", query]) == 2

    got = capsys.readouterr()
    assert (got.out, "no word" in got.err, "such as" in got.err) == ("", True, True)


@pytest.mark.parametrize("form", ["table", "jsonl"])
def test_an_index_without_pages_says_what_to_run(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No index is wrong use, an empty one holds nothing; both say what brings pages into it."""
    paper = PaperCrawl(tmp_path / "crawl")
    path = str(paper.folder.path)
    paper.crawldb({OAK: PageStatus.DB_UNFETCHED})
    assert filbert(["search", path, "oak", "--format", form]) == 2
    assert f"{path} has no index yet\n  `filbert index {path}`" in capsys.readouterr().err

    paper.crawldb({OAK: PageStatus.DB_GONE}, absorbs=[paper.segment({OAK: {"status": 37}})])
    run(index, path)
    assert filbert(["search", path, "oak", "--format", form]) == 1
    got = capsys.readouterr()
    assert (
        got.out,
        f"is empty: no page is fetched, parsed and indexed.\n  `filbert index {path}`" in got.err,
    ) == ("", True)


def test_some_words(crawl: Path) -> None:
    """It is said when no page has all the words."""
    got = run(search, crawl, "acorns volcano")[0]
    assert got == (0, "No page has all these words; 1 of 2 pages have some of them:")


def test_no_hit(crawl: Path) -> None:
    """No hit is said, with exit code 1."""
    got = run(search, crawl, "volcano")[0]
    assert got == (1, "None of the 2 pages has that.")


def test_no_hit_by_a_sign_of_another_language(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A query that finds nothing says what of it has no meaning here; one with hits does not."""
    assert filbert(["search", str(crawl), "titel:oak"]) == 1
    assert capsys.readouterr().err == "note: there is no field titel: did you mean title:?\n"
    assert filbert(["search", str(crawl), "nuts"]) == 0
    assert not capsys.readouterr().err
