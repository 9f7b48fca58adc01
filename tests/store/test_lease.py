"""The lease: held, refused, taken over, lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from structlog.testing import capture_logs

from filbert.errors import DataError
from filbert.store.lease import Lease
from filbert.store.process import Process

if TYPE_CHECKING:
    from filbert.model.clock import FixedClock
    from filbert.store.crawl import CrawlFolder

NOW = 1_796_000_000_000


def occupy(crawl: CrawlFolder, process: Process, **values: Any) -> None:
    """Write a lease file as another process would."""
    held = {
        "process": str(process),
        "step": "fetch",
        "token": "theirs",
        "renewed_ms": NOW,
        "lease_s": 60,
    }
    (crawl.path / ".lease-fetch").write_text(json.dumps(held | values))


def test_a_lease_is_held_and_given_back(crawl: CrawlFolder) -> None:
    """Inside the block `check` is content; afterwards there is no file."""
    with crawl.lease("fetch") as lease:
        lease.check()
        assert (crawl.path / ".lease-fetch").exists()
    assert not (crawl.path / ".lease-fetch").exists()


def test_a_held_lease_refuses_with_who_holds_it(crawl: CrawlFolder) -> None:
    """Locked: by which step and process, and how to go on."""
    with crawl.lease("fetch"), pytest.raises(DataError) as caught, crawl.lease("fetch"):
        pass
    assert "is locked: fetch by process" in caught.value.message
    assert "60 s" in caught.value.hint


def test_a_dead_holder_is_stale_at_once(crawl: CrawlFolder) -> None:
    """On the same host nobody need wait; the take-over is said aloud."""
    dead = Process(host=Process.this().host, pid=Process.this().pid, start="0-1")
    occupy(crawl, dead)
    with capture_logs() as logs, crawl.lease("fetch") as lease:
        lease.check()
    assert [(log["event"], log["why"]) for log in logs] == [
        ("lease.taken_over", "its process is dead")
    ]


def test_a_silent_holder_on_another_host_is_stale_in_time(
    crawl: CrawlFolder, clock: FixedClock
) -> None:
    """What is not renewed for its own number of seconds can be taken."""
    occupy(crawl, Process(host="elsewhere", pid=1, start="0"), lease_s=30)
    clock.advance(30_000)
    with pytest.raises(DataError, match="process 1 on elsewhere"), crawl.lease("fetch"):
        pass
    clock.advance(1)
    with capture_logs() as logs, crawl.lease("fetch") as lease:
        lease.check()
    assert logs[0]["why"] == "not renewed for 30 s"


def test_renewal_says_so_in_the_file(crawl: CrawlFolder, clock: FixedClock) -> None:
    """Other hosts read when it was renewed."""
    lease = Lease(crawl.path, "fetch", clock=clock, lease_s=60)
    lease.take()
    clock.advance(1000)
    lease.renew()
    assert json.loads((crawl.path / ".lease-fetch").read_text())["renewed_ms"] == NOW + 1000


def test_a_lease_taken_by_another_is_noticed(crawl: CrawlFolder, clock: FixedClock) -> None:
    """The first renewal after it sees the other's file, leaves it alone and `check` raises."""
    lease = Lease(crawl.path, "fetch", clock=clock, lease_s=60)
    lease.take()
    occupy(crawl, Process(host="elsewhere", pid=1, start="0"))
    lease.renew()
    with pytest.raises(DataError, match="is lost: taken over by 1@0@elsewhere"):
        lease.check()
    lease.release()
    assert json.loads((crawl.path / ".lease-fetch").read_text())["token"] == "theirs"


def test_no_renewal_no_request(
    crawl: CrawlFolder, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A holder that could not renew in time stops by itself: others may have taken it."""
    monotonic = [0.0]
    monkeypatch.setattr("filbert.store.lease.time.monotonic", lambda: monotonic[0])
    lease = Lease(crawl.path, "fetch", clock=clock, lease_s=60)
    lease.take()
    monotonic[0] = 60.0
    lease.check()
    monotonic[0] = 60.1
    with pytest.raises(DataError, match="could not be renewed for 60 s"):
        lease.check()


def test_a_damaged_lease_file_is_not_guessed_at(crawl: CrawlFolder) -> None:
    """It may belong to someone: a person must look."""
    (crawl.path / ".lease-fetch").write_text("{")
    with pytest.raises(DataError, match="is damaged"), crawl.lease("fetch"):
        pass


def test_a_lease_says_which_command_holds_it(crawl: CrawlFolder) -> None:
    """A command that must not run beside a crawl holds its lease under its own name."""
    with (
        crawl.lease("crawl", by="rollback"),
        pytest.raises(DataError, match="is locked: rollback by process"),
        crawl.lease("crawl"),
    ):
        pass
