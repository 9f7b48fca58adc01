"""The adaptive schedule: pages that change often are fetched often.

Guarantee: the interval shrinks when a page has changed and grows when it has not, within bounds
that a host may have of its own; the next fetch moves towards the time of the page's changes; a
seed's fixed interval is left alone. Results are Nutch's to the millisecond.
Source: Nutch `AdaptiveFetchSchedule`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from filbert.plugins.contracts import SqlColumn
from filbert.plugins.schedules.host_intervals import HostInterval, load_host_intervals
from filbert.rules.schedule import float32, real, whole
from filbert.rules.sql import literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.settings import Settings
    from filbert.settings.schedule import ScheduleSettings

__all__ = ["AdaptiveSchedule"]

_HALF = "cast('0.5' as double)"


class AdaptiveSchedule:
    """Adapts the interval to how often a page changes.

    Args:
        settings: Rates, bounds, synchronisation.
        hosts: Bounds of single hosts.
    """

    name = "adaptive"

    def __init__(self, settings: ScheduleSettings, hosts: Mapping[str, HostInterval]) -> None:
        self._settings = settings
        self._hosts = hosts

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the schedule; UserError if a line of the hosts file is wrong."""
        return cls(settings.schedule, load_host_intervals(settings.schedule, folder))

    def growth(self) -> str:
        """SQL: what the interval is multiplied by."""
        return rates(self._settings.adaptive_inc_rate, self._settings.adaptive_dec_rate)

    def columns(self) -> Sequence[SqlColumn]:
        """Return interval, time of next fetch and time of change, with what leads to them."""
        default = literal(self._settings.interval_default_s)
        return (
            SqlColumn(
                "start_interval",
                f"cast(case when old_interval = 0 then {default} else old_interval end as float)",
            ),
            SqlColumn(
                "change_time",
                "case when coalesce(fetched_modified, 0) <= 0 or modified_state = 1"
                " then fetched_at else fetched_modified end",
            ),
            SqlColumn("since_change", "fetched_at - change_time"),
            SqlColumn("adapted_interval", f"start_interval * {self.growth()}"),
            SqlColumn("synced_interval", self._synced_interval()),
            SqlColumn("sync_offset", self._sync_offset()),
            SqlColumn("bounded_interval", self._bounded_interval()),
            SqlColumn("next_interval", whole("bounded_interval")),
            SqlColumn("next_fetch_time", _NEXT_FETCH_TIME),
            SqlColumn(
                "next_modified_time",
                "case when fixed_interval is null then change_time else fetched_modified end",
            ),
        )

    def _synced_interval(self) -> str:
        if not self._settings.adaptive_sync_delta:
            return "adapted_interval"
        return (
            f"case when cast(since_change as float) > adapted_interval * {real(1000)}"
            " then cast(int_div(since_change, 1000) as float) else adapted_interval end"
        )

    def _sync_offset(self) -> str:
        if not self._settings.adaptive_sync_delta:
            return "cast(0 as bigint)"
        rate = literal(float32(self._settings.adaptive_sync_delta_rate))
        most = {h: _ms(i.max_s) for h, i in self._hosts.items() if i.max_s is not None}
        max_ms = _by_host(most, _ms(self._settings.adaptive_max_interval_s))
        offset = f"cast(floor(cast(since_change as double) * {rate} + {_HALF}) as bigint)"
        # Nutch divides whole numbers here: beyond the bound the offset is 0, or all of it.
        return (
            f"case when {offset} > {max_ms} then int_div({offset}, since_change) * {max_ms}"
            f" else {offset} end"
        )

    def _bounded_interval(self) -> str:
        low = real(self._settings.adaptive_min_interval_s)
        high = real(self._settings.adaptive_max_interval_s)
        hosts = self._hosts.items()
        least = _by_host({h: real(i.min_s) for h, i in hosts if i.min_s is not None}, low)
        most = _by_host({h: real(i.max_s) for h, i in hosts if i.max_s is not None}, high)
        return (
            "case when fixed_interval is not null then fixed_interval"
            f" when synced_interval < {least} then {least}"
            f" when synced_interval > {most} then {most} else synced_interval end"
        )


def rates(inc_rate: float, dec_rate: float) -> str:
    """SQL: the factor for a page that changed, that did not, and of which nobody knows."""
    shrink = float32(1.0 - float32(dec_rate))
    grow = float32(1.0 + float32(inc_rate))
    return (
        f"case modified_state when 1 then {real(shrink)} when 2 then {real(grow)}"
        f" else {real(1.0)} end"
    )


def _ms(seconds: float) -> str:
    return f"cast('{int(float32(seconds)) * 1000}' as bigint)"


def _by_host(bounds: Mapping[str, str], otherwise: str) -> str:
    if not bounds:
        return otherwise
    cases = " ".join(f"when {literal(host)} then {sql}" for host, sql in sorted(bounds.items()))
    return f"case page_host {cases} else {otherwise} end"


_NEXT_FETCH_TIME = (
    "fetched_at - case when fixed_interval is null then sync_offset else 0 end"
    " + cast(floor(cast(bounded_interval as double) * cast('1000' as double)"
    f" + {_HALF}) as bigint)"
)
