"""Settings of refetching: when a page is due again.

Source: Nutch's `db.fetch.interval.*` and `db.fetch.schedule.*`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from filbert.settings.base import PathOf, Section

__all__ = ["ScheduleSettings"]


class ScheduleSettings(Section):
    """When a page is due again."""

    name: str = Field(
        "default",
        description="The schedule: `default`, `adaptive`, `mime-adaptive`, or a plugin's.",
    )
    interval_default_s: int = Field(
        2_592_000, ge=1, description="Seconds between two fetches of a page at first (30 days)."
    )
    interval_max_s: int = Field(
        7_776_000, ge=1, description="Seconds after which every page is tried again (90 days)."
    )
    adaptive_inc_rate: float = Field(
        0.4, ge=0, description="Growth of the interval when a page has not changed."
    )
    adaptive_dec_rate: float = Field(
        0.2, ge=0, le=1, description="Shrinking of the interval when a page has changed."
    )
    adaptive_min_interval_s: float = Field(
        60.0, ge=0, description="Shortest adapted interval, in seconds."
    )
    adaptive_max_interval_s: float = Field(
        31_536_000.0, ge=0, description="Longest adapted interval, in seconds (365 days)."
    )
    adaptive_sync_delta: bool = Field(
        default=True, description="Move the next fetch towards the time of the page's changes."
    )
    adaptive_sync_delta_rate: float = Field(
        0.3, ge=0, le=1, description="How far it moves: a fraction of the time since the change."
    )
    host_intervals_file: Annotated[str, PathOf("adaptive-host-specific-intervals.txt")] = Field(
        "", description="Lines `host min max` (seconds, `default` for the global bound)."
    )
    mime_rates_file: Annotated[str, PathOf("adaptive-mimetypes.txt")] = Field(
        "", description="Lines `type TAB inc TAB dec` for `mime-adaptive`."
    )
