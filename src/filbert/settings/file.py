"""Settings of the `file:` protocol. Source: Nutch's `file.*` properties."""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Section

__all__ = ["FileSettings"]


class FileSettings(Section):
    """How `file:` URLs are read."""

    content_limit: int = Field(
        5_242_880,
        ge=-1,
        description="Most bytes kept of a file; -1 unlimited. As `http.content_limit`.",
    )
    crawl_parent: bool = Field(
        default=True, description="A directory's listing links to its parent too."
    )
    redirect_noncanonical: bool = Field(
        default=True, description="A symlink is recorded as a redirect instead of resolved."
    )
