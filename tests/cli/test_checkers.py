"""filterchecker, normalizerchecker and parsechecker."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from filbert.cli.filterchecker import command as filterchecker
from filbert.cli.normalizerchecker import SCOPES
from filbert.cli.normalizerchecker import command as normalizerchecker
from filbert.cli.parsechecker import command as parsechecker
from filbert.model.clock import FixedClock
from filbert.plugins.contracts import Scope
from filbert.store.crawl import CrawlFolder
from filbert.testing.captured_segment import PaperPage, write_segment

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_796_083_200_000


def test_filterchecker_names_the_rule(tmp_path: Path) -> None:
    """Each URL gets + or - and the line that decided; the folder need not exist."""
    urls = ["http://a.com/", "http://a.com/?q"]
    result = CliRunner().invoke(filterchecker, [str(tmp_path / "none"), *urls])
    assert result.output.splitlines() == [
        "+http://a.com/\tregex-urlfilter.txt:20 +.",
        "-http://a.com/?q\tregex-urlfilter.txt:14 -[?*!@=]",
    ]


def test_checkers_read_the_standard_input(tmp_path: Path) -> None:
    """Without URLs the lines of the standard input are asked; no URL gives an empty line."""
    asked = "HTTP://A.com:80/x/../y#z\n\nmailto:x\n"
    result = CliRunner().invoke(normalizerchecker, [str(tmp_path)], input=asked)
    assert result.output == "http://a.com/y\n\n"


def test_scopes_are_those_of_the_contract() -> None:
    """The command offers each scope that a normaliser can be asked in."""
    assert tuple(scope.value for scope in Scope) == SCOPES


def test_parsechecker_reads_a_file(tmp_path: Path) -> None:
    """A local file is parsed under the URL that it is given."""
    page = tmp_path / "p.html"
    page.write_text("<title>T</title><a href=/x>x</a><a href=/y?q>y</a>")
    arguments = [str(tmp_path / "none"), str(page), "--url", "http://a.com/", "--text"]
    result = CliRunner().invoke(parsechecker, arguments)
    assert result.exit_code == 0
    lines = {line.partition(":")[0].strip(): line for line in result.output.splitlines()}
    assert lines["title"].endswith(" T")
    assert lines["links"].endswith("1 kept of 2")
    assert "outlink  http://a.com/x  x" in result.output


def test_parsechecker_reads_a_capture(tmp_path: Path) -> None:
    """A URL is looked up among the captures; its rows come as JSON when asked; a failure is 1."""
    crawl = CrawlFolder.create(tmp_path / "c", clock=FixedClock(NOW), buckets=1)
    pages = [
        PaperPage(url="http://a.com/", body=b"<title>T</title>"),
        PaperPage(url="http://a.com/pdf", body=b"%PDF-1.4", content_type="application/pdf"),
    ]
    write_segment(crawl, pages, NOW)
    result = CliRunner().invoke(parsechecker, [str(crawl.path), "http://a.com/", "--json"])
    assert json.loads(result.output)["parse_data"][0]["title"] == "T"
    failed = CliRunner().invoke(parsechecker, [str(crawl.path), "http://a.com/pdf"])
    assert "no parser for application/pdf" in failed.output
    missing = CliRunner().invoke(parsechecker, [str(crawl.path), "http://a.com/none"])
    assert "is no file" in str(missing.exception)
