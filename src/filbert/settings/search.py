"""Settings of the embedded search: field weights, score, snippets."""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Section

__all__ = ["SearchSettings"]


class SearchSettings(Section):
    """How hits are ranked and shown."""

    title_weight: float = Field(3.0, ge=0, description="Weight of a match in the title.")
    anchor_weight: float = Field(2.0, ge=0, description="Weight of a match in inlinks' anchors.")
    url_weight: float = Field(1.5, ge=0, description="Weight of a match in the URL.")
    host_weight: float = Field(1.0, ge=0, description="Weight of a match in the host.")
    text_weight: float = Field(1.0, ge=0, description="Weight of a match in the text.")
    score_weight: float = Field(
        0.2, ge=0, description="How far the page's score moves a hit: 0 not at all."
    )
    snippet_length: int = Field(200, ge=20, description="Characters of a snippet at most.")
    writer_memory_mb: int = Field(64, ge=16, description="Memory of the index writer, in MB.")
