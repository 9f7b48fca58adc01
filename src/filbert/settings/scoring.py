"""Settings of scoring.

Source: Nutch's `scoring.filter.order`, `db.score.*`, `indexer.score.power`.
"""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Names, Section

__all__ = ["ScoringSettings"]


class ScoringSettings(Section):
    """What a page is worth."""

    names: Names = Field(("opic",), description="The scoring plugins, in order.")
    link_external: float = Field(1.0, description="OPIC: factor of a link to another host.")
    link_internal: float = Field(1.0, description="OPIC: factor of a link within the host.")
    count_filtered: bool = Field(
        default=False, description="OPIC: share a page's score over all links, kept or not."
    )
    index_power: float = Field(
        0.5, description="OPIC: exponent of the page's score in a document's boost."
    )
