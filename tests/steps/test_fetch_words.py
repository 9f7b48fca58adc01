"""What a fetch says when it has ended."""

from __future__ import annotations

from collections import Counter

from filbert.steps.fetch_words import summary


def _words(stopped: bool = False, **counters: int) -> str:
    counted = Counter({name.replace("__", "."): n for name, n in counters.items()})
    return summary("20261201000000", counted, 2_000, stopped=stopped)


def test_figures_in_one_line() -> None:
    """Statuses by name, size, time and pace."""
    assert _words(fetch_success=3, fetch_gone=1, bytes=2_500_000) == (
        "segment 20261201000000: 3 fetched, 1 gone; 2.5 MB in 2.0 s, 2.0 pages/s"
    )


def test_size_and_pace_are_of_this_call() -> None:
    """A fetch that goes on counts what was captured before apart: bytes and seconds are its own."""
    assert _words(fetch_success=7, captured_by_earlier_calls=3, bytes=2_500_000) == (
        "segment 20261201000000: 7 fetched; 2.5 MB in 2.0 s, 2.0 pages/s"
        " (by this call; 3 were captured before)"
    )


def test_nothing_fetched_is_said_first() -> None:
    """No row at all: loudly, with the reasons that left each URL due."""
    words = _words(left_due=5, left_due__time_limit=5)
    assert words.startswith("NOTHING WAS FETCHED of segment 20261201000000: 5 left")
    assert "fetcher.timelimit_mins" in words


def test_no_page_at_all_names_the_failures() -> None:
    """Rows, but all of them failures: loudly, with the commonest by name."""
    words = _words(fetch_retry=4, error__dns_failed=3, error__http_500=1)
    assert words.startswith("NO PAGE WAS FETCHED: 3 dns_failed, 1 http_500. segment")


def test_a_stop_says_that_it_goes_on() -> None:
    """Stopped as asked, and how to go on."""
    assert _words(stopped=True, fetch_success=1).startswith("stopped as asked; the same command")


def test_what_a_damage_cost_is_said() -> None:
    """What of an earlier run was torn, and is asked again, is no secret."""
    words = _words(fetch_success=3, journal__cut_bytes=1_234)
    assert words.endswith(
        "; 1,234 bytes that a kill or a damage left torn were cut off and asked again"
    )


def test_an_empty_list_says_so() -> None:
    """Nothing listed is no mystery."""
    assert _words().endswith("its fetch list is empty")
