"""Settings of the URL filter `traps`: what an ordinary site keeps within.

Source: measured on the URLs of real sites; docs/decisions/0017-signs-of-traps.md.
"""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Section

__all__ = ["TrapsSettings"]


class TrapsSettings(Section):
    """When a URL looks like a trap, to the filter `traps` (`urls.filters`)."""

    repeats: int = Field(
        4, ge=2, description="Times that a run of segments may not come in a row: /a/b/a/b/a/b/a/b."
    )
    empty_segments: int = Field(3, ge=1, description="Empty segments (`//`) that are too many.")
    depth: int = Field(25, ge=1, description="Segments that a path may have.")
    parameters: int = Field(20, ge=1, description="Parameters that a query may have.")
    same_parameter: int = Field(8, ge=1, description="Times that one parameter may stand in it.")
    first_year: int = Field(
        1500, ge=0, description="Dates of calendars and archives before this year are a trap."
    )
    last_year: int = Field(2040, ge=0, description="Dates after this year are a trap.")
