"""OPIC: how a page's score is shared out, and what it is worth in the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from filbert.model.records import Document, Link
from filbert.plugins.scoring.opic import OpicScoring
from filbert.settings import Settings

HOME = "http://a.example/page"
LINKS = (Link(url="http://A.example/x"), Link(url="http://b.example/"))


def opic(**changes: object) -> OpicScoring:
    """The plugin with some settings changed."""
    settings = Settings()
    scoring = settings.scoring.model_copy(update=changes)
    return OpicScoring.from_settings(settings.model_copy(update={"scoring": scoring}), Path())


def test_links_share_the_score_by_factors_of_their_kind() -> None:
    """Each kept link gets its share, times the factor of links within or between hosts."""
    plugin = opic(link_internal=0.5, link_external=2.0)
    assert plugin.distribute(1.0, HOME, LINKS, 4) == [0.25, 1.0]


def test_filtered_links_take_their_share_if_asked() -> None:
    """With scoring.count_filtered links that were dropped count in the division."""
    assert opic(count_filtered=True).distribute(1.0, HOME, LINKS, 4) == [0.25, 0.25]


def test_a_page_without_links_gives_nothing() -> None:
    """No link, no share."""
    assert opic().distribute(1.0, HOME, (), 0) == []


@pytest.mark.parametrize(("score", "boost"), [(4.0, 6.0), (0.0, 0.0), (-1.0, 0.0), (None, 3.0)])
def test_the_boost_is_a_power_of_the_score(score: float | None, boost: float) -> None:
    """The score to the power of scoring.index_power, times what came in; without one, that."""
    document = Document(url=HOME, fields={})
    assert opic().index_score(document, score, 3.0) == boost
