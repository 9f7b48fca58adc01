"""What a running fetch says of itself."""

from __future__ import annotations

from filbert.cli.crawl_display import progress_lines
from filbert.fetcher.progress import PartProgress, QueueWait

NOW = 1_000_000


def part(**changes: object) -> PartProgress:
    """Return the progress of a part of 100 URLs, 40 of them done."""
    values: dict[str, object] = {
        "part": 0,
        "now": NOW,
        "started": NOW - 10_000,
        "listed": 100,
        "ended": 40,
        "pages": 38,
        "pages_per_s": 2.0,
        "in_flight": 1,
        "queued": 60,
        "queue_count": 2,
        "counters": {"fetch_retry": 3},
    }
    return PartProgress(**{**values, **changes})  # type: ignore[arg-type]


def test_parts_are_summed() -> None:
    """Two parts make one line of figures."""
    (line,) = progress_lines([part(), part(part=1, ended=50)])
    assert line.startswith("90 of 200 URLs · 4.0 pages/s · 6 errors · 4 queues hold 120 URLs")


def test_the_time_to_go_is_what_politeness_allows() -> None:
    """A rate that outruns the delays promises too much; the longest queue decides."""
    (line,) = progress_lines([part(last_wait=NOW + 90_000)])
    assert line.endswith("about 90 s to go")


def test_each_queue_says_what_it_waits_for() -> None:
    """The next queues are named, with the reason and the seconds."""
    queue = QueueWait(key="h1.test", urls=7, waits_for="delay", until=NOW + 2_500)
    assert (
        progress_lines([part(queues=(queue,))])[1] == "h1.test: 7 URLs, waits for delay for 2.5 s"
    )


def test_before_the_first_file_there_is_nothing_to_say() -> None:
    """No progress, no line."""
    assert progress_lines([]) == []
