"""Telling publishers, whatever they do with it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Self

from filbert.plugins.publishing import Publishing

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.records import FetchEvent
    from filbert.settings import Settings


class Listener:
    """Keeps what it is told; fails where it is said to."""

    def __init__(self, name: str, fails: str = "") -> None:
        self.name = name
        self.told: list[FetchEvent] = []
        self._fails = fails

    @classmethod
    def from_settings(cls, _settings: Settings, _folder: Path) -> Self:
        """Make one."""
        return cls("listener")

    def _may_fail(self, where: str) -> None:
        if self._fails == where:
            raise OSError("gone")

    def __enter__(self) -> Self:
        self._may_fail("enter")
        return self

    def __exit__(self, *exc: object) -> None:
        self._may_fail("exit")

    def publish(self, event: FetchEvent) -> None:
        """Keep it."""
        self._may_fail("publish")
        self.told.append(event)


def test_who_fails_does_not_keep_it_from_others() -> None:
    """It is counted by name; on opening, on telling and on closing."""
    good = Listener("good")
    bad = [Listener("a", "enter"), Listener("b", "publish"), good, Listener("c", "exit")]
    errors: Counter[str] = Counter()
    with Publishing(bad, errors) as publishing:
        publishing.tell("start", "http://a/", 1)
        publishing.tell("end", "http://a/", 2, status="fetch_success")
    assert [(one.kind, one.time) for one in good.told] == [("start", 1), ("end", 2)]
    assert good.told[1].facts == {"status": "fetch_success"}
    assert errors == {"publisher_a": 1, "publisher_b": 2}


def test_nobody_listens() -> None:
    """Then telling is nothing at all, and it says so."""
    with Publishing((), Counter()) as publishing:
        assert not publishing
        publishing.tell("start", "http://a/", 1)
