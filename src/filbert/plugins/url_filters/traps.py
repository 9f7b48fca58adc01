"""The filter `traps`: refuses URLs that bear a sign of a crawler trap, and says which.

Guarantee: judges a URL by itself, so that the same URL has the same verdict in every round. Not in
the default chain: add it to `urls.filters`. Source: `rules/traps.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from filbert.model.records import Verdict
from filbert.rules.traps import TrapLimits, trap_sign

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.settings import Settings

__all__ = ["TrapFilter"]

_ACCEPTED = Verdict(accepted=True, reason="traps")


class TrapFilter:
    """Keeps URLs without a sign.

    Args:
        limits: What an ordinary site keeps within.
    """

    name = "traps"

    def __init__(self, limits: TrapLimits) -> None:
        self._limits = limits

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter by `traps.*`."""
        del folder
        return cls(TrapLimits.from_settings(settings.traps))

    def fingerprint(self) -> str:
        """Return its version and limits."""
        return f"1 {self._limits}"

    def judge(self, url: str) -> Verdict:
        """Return whether the URL bears no sign, and which it bears."""
        sign = trap_sign(url, self._limits)
        if sign is None:
            return _ACCEPTED
        return Verdict(accepted=False, reason="traps", rule=f"{sign.name}: {sign.evidence}")
