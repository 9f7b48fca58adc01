"""Settings of the linkdb. Source: Nutch's `linkdb.*`."""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Section

__all__ = ["LinksSettings"]


class LinksSettings(Section):
    """Which inlinks are kept."""

    max_inlinks: int = Field(10_000, ge=1, description="Inlinks kept per page.")
    ignore_internal: bool = Field(default=True, description="Ignore links within a host.")
    ignore_external: bool = Field(default=False, description="Ignore links between hosts.")
    max_anchor_length: int = Field(100, ge=0, description="Characters kept of an anchor.")
    filter: bool = Field(default=True, description="Apply the URL filters to both ends.")
    normalize: bool = Field(default=True, description="Apply the URL normalisers to both ends.")
