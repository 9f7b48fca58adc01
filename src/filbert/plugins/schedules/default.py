"""The default schedule: each page again after its interval.

Guarantee: the next fetch is the interval after the last one, whether the page changed or not.
Source: Nutch `DefaultFetchSchedule`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from filbert.plugins.contracts import SqlColumn
from filbert.rules.sql import literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.settings import Settings
    from filbert.settings.schedule import ScheduleSettings

__all__ = ["DefaultSchedule"]


class DefaultSchedule:
    """Refetches each page after its interval.

    Args:
        settings: The interval of pages that have none.
    """

    name = "default"

    def __init__(self, settings: ScheduleSettings) -> None:
        self._settings = settings

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:  # noqa: ARG003 - no files
        """Make the schedule."""
        return cls(settings.schedule)

    def columns(self) -> Sequence[SqlColumn]:
        """Return interval, time of next fetch and time of change."""
        default = literal(self._settings.interval_default_s)
        return (
            SqlColumn(
                "next_interval", f"case when old_interval = 0 then {default} else old_interval end"
            ),
            SqlColumn(
                "next_fetch_time",
                "fetched_at + cast(next_interval as bigint) * cast(1000 as bigint)",
            ),
            SqlColumn(
                "next_modified_time",
                "case when coalesce(fetched_modified, 0) <= 0 or modified_state = 1"
                " then fetched_at else fetched_modified end",
            ),
        )
