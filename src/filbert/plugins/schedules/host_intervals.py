"""`adaptive-host-specific-intervals.txt`: bounds of the interval for single hosts.

Guarantee: reads Nutch's file: `host min max` in seconds, `0` or `default` for the bound that holds
everywhere. A line that is wrong is refused with its number and with what would be right.
Source: Nutch `AdaptiveFetchSchedule.setHostSpecificIntervals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.plugins.rule_files import read_rules
from filbert.rules.schedule import float32

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.plugins.rule_files import RuleLine
    from filbert.settings.schedule import ScheduleSettings

__all__ = ["HostInterval", "load_host_intervals", "read_host_intervals"]


@dataclass(frozen=True, slots=True)
class HostInterval:
    """Bounds of a host's intervals in seconds; None: the bound that holds everywhere."""

    min_s: float | None
    max_s: float | None


def load_host_intervals(settings: ScheduleSettings, folder: Path) -> dict[str, HostInterval]:
    """Return the bounds in the file that the settings name, by host.

    Raises:
        UserError: The file cannot be read, or some of its lines are wrong: names them all.
    """
    texts = read_rules(
        setting="", inline="", file=settings.host_intervals_file, folder=folder, builtin=None
    )
    hosts, complaints = read_host_intervals([line for t in texts for line in t.lines()], settings)
    if complaints:
        raise UserError(
            "\n".join(complaints), hint="a line is `host min max`: seconds, or `default`"
        )
    return hosts


def read_host_intervals(
    lines: Sequence[RuleLine], settings: ScheduleSettings
) -> tuple[dict[str, HostInterval], list[str]]:
    """Return the bounds by host, and a complaint for each line that is wrong."""
    hosts: dict[str, HostInterval] = {}
    complaints = []
    for line in lines:
        words = line.text.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            bounds = _bounds(words, settings)
        except ValueError as error:
            complaints.append(f"{line}: {error}")
            continue
        if bounds.min_s is not None or bounds.max_s is not None:
            hosts[words[0].lower()] = bounds
    return hosts, complaints


def _bounds(words: Sequence[str], settings: ScheduleSettings) -> HostInterval:
    if len(words) != 3:
        raise ValueError(f"{len(words)} words instead of 3")
    lowest, highest = settings.adaptive_min_interval_s, settings.adaptive_max_interval_s
    min_s, max_s = _seconds(words[1]), _seconds(words[2])
    if (min_s or 0) < 0 or (max_s or 0) < 0:
        raise ValueError("an interval below 0")
    if min_s is not None and max_s is not None and min_s > max_s:
        raise ValueError("the shortest is longer than the longest")
    if min_s is not None and min_s < float32(lowest):
        raise ValueError(f"below schedule.adaptive_min_interval_s ({lowest})")
    if max_s is not None and max_s > float32(highest):
        raise ValueError(f"above schedule.adaptive_max_interval_s ({highest})")
    return HostInterval(min_s, max_s)


def _seconds(word: str) -> float | None:
    if word == "default":
        return None
    return float32(float(word)) or None
