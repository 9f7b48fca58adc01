"""How a fetch is going, and what is left due."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from filbert.fetcher.capture import fetch_record
from filbert.fetcher.left_due import REASONS, LeftDue, read_left_due
from filbert.fetcher.progress import QueueWait, measure, read_progress, write_progress
from filbert.fetcher.supervision import HeartBeat, Order, Supervision
from filbert.fetcher.tally import Tally
from filbert.model.records import FetchRecord, ProtocolOutput
from filbert.model.statuses import FetchStatus, ProtocolStatus
from filbert.rules.fetch_actions import Dropped
from filbert.rules.host_queue import DropReason, Outcome, PolitenessPolicy
from filbert.rules.politeness import HostQueues
from filbert.settings import Settings
from filbert.testing.records import datum, fetch_item

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.fetcher.progress import PartProgress


def _progress() -> PartProgress:
    queues, tally = HostQueues(PolitenessPolicy.from_settings(Settings(), started=0)), Tally()
    for url in ("http://a/1", "http://a/2", "http://b/1", "http://c/1"):
        item = fetch_item(url)
        queues.offer(item, item.host, 0)
    for _ in range(3):
        queues.next_action(0)
    queues.finished("a", 0, Outcome.ASKED)
    queues.finished("c", 0, Outcome.FAILED)
    queues.offer(fetch_item("http://c/2"), "c", 0)
    return measure(queues, tally, part=3, times=(1_000, 0), urls=(10, 2))


def test_it_says_what_each_queue_waits_for() -> None:
    """A delay, a failure's back-off, an answer: each by its name and end."""
    answer = QueueWait(key="b", urls=0, waits_for="an answer", delay_ms=5_000)
    own = replace(answer, key="a", urls=1, waits_for="delay", until=5_000, empty_at=10_000)
    failed = replace(
        own, key="c", waits_for="exceptions", until=10_000, failures=1, empty_at=15_000
    )
    assert _progress().queues == (answer, own, failed)
    assert _progress().slowest == (failed, own, answer)


def test_it_knows_when_the_queues_can_be_empty() -> None:
    """The longest queue, at its delay, is the earliest end."""
    assert _progress().last_wait == 15_000


def test_a_reader_sees_what_was_written(tmp_path: Path) -> None:
    """The file is read back as the same value; a damaged one is left out."""
    progress = _progress()
    write_progress(tmp_path, progress)
    (tmp_path / "part-00009.progress").write_text("{")
    assert read_progress(tmp_path) == [progress]


def test_a_full_disk_costs_only_the_display(tmp_path: Path) -> None:
    """Progress that cannot be written is not written."""
    write_progress(tmp_path / "missing", _progress())


def _record(status: FetchStatus, reason: str | None = None) -> FetchRecord:
    item = fetch_item("http://a/")
    return FetchRecord(
        url=item.url, host="a", domain="a", hop=0, part=0, position=0, status=status,
        fetch_time=0, datum=datum(), protocol_code=ProtocolStatus.SUCCESS, reason=reason,
    )  # fmt: skip


def test_pages_a_second_are_those_of_the_last_ten() -> None:
    """The rate forgets; the last second is a whole one."""
    tally = Tally()
    output = ProtocolOutput(status=ProtocolStatus.SUCCESS, http_status=200, raw_body=b"abc")
    for now in (0, 500, 1_000, 5_000):
        tally.captured(_record(FetchStatus.FETCH_SUCCESS), output, now)
    assert (tally.rate(6_000), tally.last_second(6_000)) == (0.4, 1)
    assert (tally.rate(11_500), tally.rate(60_000)) == (0.1 * 2, 0.0)
    assert tally.counters == {"fetch_success": 4, "bytes": 12, "latency.1": 4}


def test_errors_are_counted_by_name() -> None:
    """Each failure has a name; what was not asked counts no page."""
    tally = Tally()
    output = ProtocolOutput(status=ProtocolStatus.ROBOTS_DENIED)
    tally.captured(_record(FetchStatus.FETCH_GONE, "robots_denied"), output, 0)
    assert tally.counters == {"fetch_gone": 1, "error.robots_denied": 1}
    assert tally.pages == 0


def test_what_is_left_due_is_written_anew_by_each_run(tmp_path: Path) -> None:
    """A second run of the part names only its own; a torn line is no line."""
    for url in ("http://a/1", "http://a/2"):
        with LeftDue(tmp_path, 0) as left:
            left.note(Dropped(fetch_item(url), DropReason.EXCEPTIONS))
    with (tmp_path / "part-00000.jsonl").open("a") as file:
        file.write('{"url": "http://torn')
    assert list(read_left_due(tmp_path)) == [("http://a/2", "exceptions", "")]


def test_no_file_where_nothing_is_left_due(tmp_path: Path) -> None:
    """A fetch that got through all leaves no folder behind."""
    with LeftDue(tmp_path / "left", 0):
        pass
    assert list(read_left_due(tmp_path / "left")) == []
    assert not (tmp_path / "left").exists()


def test_every_reason_that_can_end_in_the_file_is_explained() -> None:
    """A person is told what each reason means."""
    assert set(REASONS) == set(DropReason)


def test_orders(tmp_path: Path) -> None:
    """Go on while the step shows life; stop when asked; the lease is lost in silence."""
    journal = tmp_path / "journal"
    watch = Supervision(crawl_path=tmp_path, journal_dir=journal, lease_s=60)
    assert watch.order(0) is Order.LEASE_LOST
    beat = HeartBeat(journal)
    beat.beat()
    now = (journal / "lease.beat").stat().st_mtime
    assert [watch.order(now + s) for s in (1, 59, 61)] == [
        Order.GO_ON,
        Order.GO_ON,
        Order.LEASE_LOST,
    ]
    (tmp_path / ".STOP").touch()
    assert watch.order(now) is Order.STOP
    beat.end()
    beat.end()


def test_what_a_browser_rendered_and_failed_on_is_counted() -> None:
    """By name; a page that needed no browser is neither."""
    tally, record = Tally(), fetch_record(fetch_item("http://a/1"), _ANSWER, 0)
    rendered = replace(_ANSWER, rendered_by="Chromium/1", unrendered=_ANSWER)
    failed = replace(_ANSWER, message="not_rendered: browser_hung: no document")
    for output in (_ANSWER, rendered, failed, failed):
        tally.captured(record, output, 0)
    assert (tally.counters["browser.rendered"], tally.counters["browser.failed"]) == (1, 2)


_ANSWER = ProtocolOutput(status=ProtocolStatus.SUCCESS, http_status=200, body=b"x", raw_body=b"x")
