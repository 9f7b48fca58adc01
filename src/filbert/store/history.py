"""What filbert notes with every commit, and how it is read back.

Guarantee: the log of a table alone tells which step made a version, when by the crawl's clock,
and what it absorbed; there is no second file to disagree with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deltalake import CommitProperties, Transaction

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UNDONE", "CommitRecord", "in_force", "properties", "record"]

UNDONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRecord:
    """One version in a table's history.

    Attributes:
        version: Its number.
        time_ms: When, epoch milliseconds.
        step: The command that made it; for a foreign commit, Delta's operation.
        transactions: Application id to the number it was given; -1 where this version undid it.
        metadata: What the step noted besides.
        commit_id: Unique; "" for a foreign commit.
    """

    version: int
    time_ms: int
    step: str
    transactions: Mapping[str, int] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    commit_id: str = ""


def in_force(number: int | None) -> bool:
    """Tell whether the log's number of an application id means that it is absorbed."""
    return number is not None and number != UNDONE


def properties(note: CommitRecord, *, retries: int | None = None) -> CommitProperties:
    """Return what the library is to write beside the files; `note.version` is not used."""
    ours = {
        "step": note.step,
        "time": note.time_ms,
        "metadata": dict(note.metadata),
        "transactions": dict(note.transactions),
        "id": note.commit_id,
    }
    return CommitProperties(
        custom_metadata={"filbert": ours, "userMetadata": f"filbert {note.step}"},
        app_transactions=[Transaction(app, number) for app, number in note.transactions.items()],
        max_commit_retries=retries,
    )


def record(entry: Mapping[str, Any]) -> CommitRecord:
    """Return the record of one entry of the library's history."""
    ours = entry.get("filbert") or {}
    return CommitRecord(
        version=int(entry["version"]),
        time_ms=int(ours.get("time", entry.get("timestamp", 0))),
        step=str(ours.get("step", entry.get("operation", "unknown"))),
        transactions=dict(ours.get("transactions", {})),
        metadata=dict(ours.get("metadata", {})),
        commit_id=str(ours.get("id", "")),
    )
