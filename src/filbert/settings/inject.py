"""Settings of inject. Source: Nutch's `db.injector.*` and `db.score.injected`."""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Section

__all__ = ["InjectSettings"]


class InjectSettings(Section):
    """What a seed becomes, and what becomes of a page that is there already."""

    score: float = Field(1.0, description="Score of a seed without `nutch.score`.")
    overwrite: bool = Field(
        default=False, description="A seed replaces the page that is there, with its history."
    )
    update: bool = Field(
        default=False, description="A seed's metadata, score and interval go into the old page."
    )
    filter: bool = Field(default=True, description="Apply the URL filters to seeds.")
    normalize: bool = Field(default=True, description="Apply the URL normalisers to seeds.")
    filter_normalize_all: bool = Field(
        default=False, description="Apply filters and normalisers to what is there, too."
    )
