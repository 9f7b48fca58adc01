"""What a parity runner found.

Guarantee: a case counts as "by decision" only under the name of a decision in
`docs/from-nutch.md`, and only if that decision's predicate holds for the case's inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Difference", "ParityReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One case on which we and Nutch differ, in words: what, theirs, ours."""

    case: str
    what: str
    theirs: str
    ours: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityReport:
    """Cases on which we agree, those on which we differ, those that a decision explains."""

    agree: int
    differences: tuple[Difference, ...] = ()
    by_decision: Mapping[str, int] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The line that the runner prints last."""
        decided = sum(self.by_decision.values())
        names = ", ".join(f"{name} {count}" for name, count in sorted(self.by_decision.items()))
        return (
            f"agree {self.agree}, differ {len(self.differences)}, by decision {decided}"
            f"{f' ({names})' if names else ''}"
        )
