"""What a round changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import UserError
from filbert.model.statuses import PageStatus
from filbert.reports.diff import diff

if TYPE_CHECKING:
    from conftest import Grove  # type: ignore[import-not-found]
    from filbert.reports.diff import CrawldbDiff
    from filbert.settings.engine import EngineSettings

OAK, HAZEL, ELM = "http://oak.test/", "http://hazel.test/nuts", "http://elm.test/"


def changes(found: CrawldbDiff) -> list[tuple[str, str, str, int, tuple[str, ...]]]:
    """Return the changes as tuples."""
    return [(c.change, c.old, c.new, c.count, c.samples) for c in found.changes]


def test_a_round(grove: Grove, engine: EngineSettings) -> None:
    """Without versions: from before the last updatedb; every kind with count and samples."""
    found = diff(grove.folder, engine)
    assert (found.old_version, found.new_version) == (1, 2)
    assert (found.old_rows, found.new_rows) == (2, 3)
    assert [(r.version, r.step) for r in found.steps] == [(2, "updatedb")]
    assert changes(found) == [
        ("new", "", "db_unfetched", 1, (ELM,)),
        ("status", "db_unfetched", "db_fetched", 1, (OAK,)),
        ("status", "db_unfetched", "db_gone", 1, (HAZEL,)),
        ("first content", "", "", 1, (OAK,)),
        ("score up", "", "", 1, (OAK,)),
        ("rescheduled", "", "", 1, (OAK,)),
        ("retries", "", "", 1, (HAZEL,)),
    ]


def test_content_that_changed_and_pages_removed(grove: Grove, engine: EngineSettings) -> None:
    """A signature that differs is changed content; a row that is no more is removed."""
    grove.paper.crawldb(
        {
            OAK: {"status": PageStatus.DB_FETCHED, "signature": b"\xff", "score": 1.0},
            ELM: {"status": PageStatus.DB_UNFETCHED, "score": 0.5},
        },
        step="dedup",
    )
    found = diff(grove.folder, engine, old=2)
    kinds = {(c.change, c.old, c.samples) for c in found.changes}
    assert ("content changed", "", (OAK,)) in kinds
    assert ("removed", "db_gone", (HAZEL,)) in kinds
    assert ("score down", "", (OAK,)) in kinds


def test_nothing_changed(grove: Grove, engine: EngineSettings) -> None:
    """A version is equal to itself."""
    assert diff(grove.folder, engine, old=2, new=2).changes == ()


def test_from_nothing(grove: Grove, engine: EngineSettings) -> None:
    """Against version 0 all is new."""
    found = diff(grove.folder, engine, old=0, new=1)
    assert changes(found) == [("new", "", "db_unfetched", 2, (HAZEL, OAK))]


@pytest.mark.parametrize(("old", "new"), [(2, 1), (0, 9), (9, None)])
def test_versions_that_are_not_there(
    old: int, new: int | None, grove: Grove, engine: EngineSettings
) -> None:
    """The error says which there are."""
    with pytest.raises(UserError, match="versions 0 to 2"):
        diff(grove.folder, engine, old=old, new=new)
