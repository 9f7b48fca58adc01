"""OPIC: a page passes its score on to the pages that it links to.

Guarantee: a page's score is what it had plus what its inlinks of the round bring; a new page
begins at 0 and a seed at the injected score. Scores are float32, sums are taken in double.
Source: Nutch `OPICScoringFilter`; Abiteboul, Preda, Cobena, "Adaptive On-Line Page Importance
Computation" (2003).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from filbert.plugins.contracts import SqlColumn
from filbert.rules.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.model.records import Document, Link
    from filbert.settings import Settings
    from filbert.settings.scoring import ScoringSettings

__all__ = ["OpicScoring"]


class OpicScoring:
    """Scores by what links bring.

    Args:
        settings: Factors of links, and the exponent of the index.
    """

    name = "opic"

    def __init__(self, settings: ScoringSettings) -> None:
        self._settings = settings

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:  # noqa: ARG003 - no files
        """Make the plugin."""
        return cls(settings.scoring)

    def link_aggregates(self) -> Sequence[SqlColumn]:
        """Return the sum of what the round's inlinks bring."""
        return (SqlColumn("inlink_score", "sum(cast(score as double))"),)

    def injected(self) -> str:
        """SQL: a seed keeps the score that it was injected with."""
        return "score_in"

    def initial(self) -> str:
        """SQL: a new page begins with nothing; its links bring the rest."""
        return "cast('0' as double)"

    def update(self) -> str:
        """SQL: the score that the page had, plus what its inlinks bring."""
        return (
            "coalesce(cast(old_score as double), score_in)"
            " + coalesce(inlink_score, cast('0' as double))"
        )

    def sort(self) -> str:
        """SQL: pages of high score first."""
        return "cast(score as double) * score_in"

    def distribute(
        self, page_score: float, from_url: str, links: Sequence[Link], found: int
    ) -> Sequence[float]:
        """Return each link's share; `found` counts if `scoring.count_filtered`."""
        among = found if self._settings.count_filtered else len(links)
        if not links or among <= 0:
            return [0.0] * len(links)
        share = page_score / among
        home = host_of(from_url)
        internal, external = self._settings.link_internal, self._settings.link_external
        return [share * (internal if host_of(link.url) == home else external) for link in links]

    def index_score(self, document: Document, db_score: float | None, init: float) -> float:  # noqa: ARG002 - the contract's
        """Return the page's score to the power of `scoring.index_power`, times `init`."""
        if db_score is None:
            return init
        return float(max(db_score, 0.0) ** self._settings.index_power) * init
