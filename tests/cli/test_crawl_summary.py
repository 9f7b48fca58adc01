"""The closing words of a crawl."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from filbert.cli.crawl_summary import summary_lines
from filbert.steps.crawl import CrawlReport

CRAWL = Path("crawl")


def lines_of(**counters: Counter[str]) -> list[str]:
    """Return the summary of a run of two rounds with these counters."""
    report = CrawlReport(
        rounds=2, counters=counters, ended="nothing is due", notes=("robots.txt of x: HTTP 503",)
    )
    return list(summary_lines(report, CRAWL))


def test_figures_come_first_and_reasons_after() -> None:
    """A figure is no reason, a reason no figure; each counter stands once."""
    got = lines_of(
        generate=Counter(generated=10, over_top_n=3),
        fetch=Counter({"fetch_success": 9, "left_due.backoff": 1}),
        parse=Counter(pages=9, links_dropped_filter=4),
    )
    left = got.index("left out or changed, by reason:")
    assert "  generate     10 generated" in got[:left]
    assert "  parse                4  links dropped filter" in got[left:]
    assert "  fetch                1  left due: backoff" in got[left:]
    assert "  generate             3  over top n" in got[left:]


def test_one_is_singular() -> None:
    """1 round, 1 new page; what the counters are called is plural."""
    counted = {"inject": Counter(new_pages=1), "parse": Counter(pages=1, links_kept=2)}
    got = list(summary_lines(CrawlReport(rounds=1, counters=counted, ended="x"), CRAWL))
    assert got[1] == "1 round done; ended: x"
    assert got[2:4] == ["  inject       1 new page", "  parse        1 page, 2 links kept"]


def test_rounds_of_earlier_calls_are_told_apart() -> None:
    """The figures are of this call; the rounds are of the run that it went on with."""
    got = list(summary_lines(CrawlReport(rounds=3, before=1, ended="x"), CRAWL))
    assert got[1] == "3 rounds done, 2 of them by this call; ended: x"


def test_a_run_that_fetched_nothing_says_so() -> None:
    """Success with 0 pages is no success to a person."""
    assert any(line.startswith("NOTHING WAS FETCHED") for line in lines_of())


def test_a_call_that_completed_a_round_says_so() -> None:
    """Killed after the fetch: the next call asks for nothing, and there is no reason to search."""
    counted = {"parse": Counter(pages=3), "index": Counter(indexed=3)}
    report = CrawlReport(rounds=1, counters=counted, ended="x", resumed=True)
    got = list(summary_lines(report, CRAWL))
    assert not report.failed
    assert "This call completed a round that an earlier one had begun; it asked for no page." in got
    assert not any(line.startswith("NOTHING WAS FETCHED") for line in got)


def test_zero_counters_are_not_told() -> None:
    """A reason that met nothing is no reason."""
    got = lines_of(parse=Counter(pages=1, failed=0))
    assert not [line for line in got if "failed" in line]


def test_examples_of_why_are_told_and_search_only_where_something_is_indexed() -> None:
    """A host that did not answer is named with its error; an empty index is not pointed to."""
    got = lines_of(fetch=Counter({"fetch_success": 1}))
    assert "  robots.txt of x: HTTP 503" in got
    assert got[-1] == "go on: filbert explain crawl URL"
    report = CrawlReport(rounds=1, ended="nothing is due", searchable=3)
    assert not report.failed
    last = list(summary_lines(report, CRAWL))[-1]
    assert last.startswith('go on: filbert search crawl "words"')


def test_a_call_has_failed_if_it_asked_and_no_page_came() -> None:
    """One that only had to end what an earlier one fetched has not."""
    for counters, failed in (
        ({}, False),
        ({"index": Counter(indexed=3)}, False),
        ({"fetch": Counter({"fetch_success": 1, "left_due": 2})}, False),
        ({"fetch": Counter({"robots.requests": 1})}, False),
        ({"fetch": Counter({"left_due": 2})}, True),
        ({"fetch": Counter({"fetch_gone": 2, "fetch_retry": 1})}, True),
    ):
        assert CrawlReport(rounds=1, counters=counters).failed is failed
