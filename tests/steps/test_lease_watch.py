"""Passing on that a lease is held."""

from __future__ import annotations

import threading

from filbert.errors import DataError
from filbert.steps.lease_watch import LeaseWatch


def test_it_beats_while_the_lease_is_held() -> None:
    """Each look that finds the lease held is a beat."""
    beaten = threading.Semaphore(0)
    with LeaseWatch(lambda: None, beaten.release, every_s=0.001):
        assert all(beaten.acquire(timeout=5) for _ in range(3))


def test_it_falls_silent_when_the_lease_is_lost() -> None:
    """No beat comes after the loss; the parts then stop by themselves."""
    looked, beats = threading.Event(), []

    def lost() -> None:
        looked.set()
        raise DataError("lost")

    with LeaseWatch(lost, lambda: beats.append(1), every_s=0.001):
        assert looked.wait(5)
    assert beats == []
