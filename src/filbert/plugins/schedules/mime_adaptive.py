"""The adaptive schedule with rates of their own for some content types.

Guarantee: as the adaptive schedule, but how fast the interval grows and shrinks depends on the
page's content type where `adaptive-mimetypes.txt` names it.
Source: Nutch `MimeAdaptiveFetchSchedule`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from filbert.errors import UserError
from filbert.plugins.rule_files import read_rules
from filbert.plugins.schedules.adaptive import AdaptiveSchedule, rates
from filbert.plugins.schedules.host_intervals import load_host_intervals
from filbert.rules.sql import literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.plugins.rule_files import RuleLine
    from filbert.plugins.schedules.host_intervals import HostInterval
    from filbert.settings import Settings
    from filbert.settings.schedule import ScheduleSettings

__all__ = ["MimeAdaptiveSchedule", "Rates", "read_mime_rates"]


class Rates(NamedTuple):
    """How fast intervals grow and shrink."""

    inc: float
    dec: float


class MimeAdaptiveSchedule(AdaptiveSchedule):
    """Adapts the interval with rates by content type.

    Args:
        settings: Rates for the types that are not named, bounds, synchronisation.
        hosts: Bounds of single hosts.
        mimes: Rates by content type, lower case.
    """

    name = "mime-adaptive"

    def __init__(
        self,
        settings: ScheduleSettings,
        hosts: Mapping[str, HostInterval],
        mimes: Mapping[str, Rates],
    ) -> None:
        super().__init__(settings, hosts)
        self._mimes = mimes

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the schedule; UserError if a line of one of its files is wrong."""
        chosen = settings.schedule
        texts = read_rules(
            setting="", inline="", file=chosen.mime_rates_file, folder=folder, builtin=None
        )
        mimes, complaints = read_mime_rates([line for text in texts for line in text.lines()])
        if complaints:
            raise UserError(
                "\n".join(complaints), hint="a line is `type`, TAB, growth, TAB, shrinking"
            )
        return cls(chosen, load_host_intervals(chosen, folder), mimes)

    def growth(self) -> str:
        """SQL: what the interval is multiplied by, by content type."""
        otherwise = super().growth()
        if not self._mimes:
            return otherwise
        cases = " ".join(
            f"when {literal(mime)} then {rates(*rate)}"
            for mime, rate in sorted(self._mimes.items())
        )
        return f"case split_part(page_content_type, ';', 1) {cases} else {otherwise} end"


def read_mime_rates(lines: Sequence[RuleLine]) -> tuple[dict[str, Rates], list[str]]:
    """Return the rates by content type, and a complaint for each line that is wrong."""
    mimes: dict[str, Rates] = {}
    complaints = []
    for line in lines:
        text = line.text.strip()
        if not text or text.startswith("#"):
            continue
        words = text.split("\t")
        try:
            mime, inc, dec = words
            mimes[mime.lower()] = Rates(float(inc), float(dec))
        except ValueError:
            complaints.append(f"{line}: not a type and two numbers with TABs between")
    return mimes, complaints
