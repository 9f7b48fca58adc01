"""Settings of updatedb. Source: Nutch's `db.update.*`, `db.fetch.retry.max`, `crawldb.url.*`."""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Names, Section

__all__ = ["UpdateSettings"]


class UpdateSettings(Section):
    """What a round changes in the crawldb."""

    additions_allowed: bool = Field(
        default=True, description="Links to new pages enter the crawldb."
    )
    purge_404: bool = Field(default=False, description="Pages that are db_gone leave the crawldb.")
    purge_orphans: bool = Field(
        default=False, description="Pages that are db_orphan leave the crawldb."
    )
    max_inlinks: int = Field(
        10_000, ge=1, description="Links to one page that count in one round: those of best score."
    )
    retry_max: int = Field(3, ge=0, description="Failed fetches before a page is db_gone.")
    filter: bool = Field(default=False, description="Apply the URL filters to all pages again.")
    normalize: bool = Field(
        default=False, description="Apply the URL normalisers to all pages again."
    )
    parsemeta_to_crawldb: Names = Field(
        (), description="Parse metadata copied into the page's row of the crawldb."
    )
