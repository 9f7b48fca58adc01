"""Files of a table that no version within reach lists.

Guarantee: the newest version, every version as young as asked, and the one in force before them
stay whole. A file younger than an hour is left alone, listed or not: it may belong to a commit
that is under way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.store import durable

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.store.tables import Table

__all__ = ["shorten_log", "unlisted_files"]

_UNDER_WAY_MS = 3600 * 1000
# Delta's own default for log entries; what is older is in a checkpoint.
_LOG_KEPT_MS = 30 * 24 * 3600 * 1000


def unlisted_files(table: Table, *, keep_ms: int, now_ms: int) -> list[Path]:
    """Return the files that `filbert vacuum` may remove.

    Args:
        table: The table.
        keep_ms: How far back versions stay whole.
        now_ms: The time.
    """
    if not table.exists():
        return []
    listed = {
        path
        for version in _kept_versions(table, now_ms - keep_ms)
        for path in table.files(version).paths
    }
    found = [path for path in table.path.glob("*.parquet") if str(path) not in listed]
    found += table.log_path.glob("*.tmp")
    return sorted(path for path in found if now_ms - _changed_ms(path) > _UNDER_WAY_MS)


def shorten_log(table: Table, *, keep_ms: int) -> None:
    """Write a checkpoint, and drop log entries that no version within reach needs."""
    if table.version() < 1:
        return
    newest = table.load()
    newest.create_checkpoint()
    durable.sync_folder(table.log_path)
    if keep_ms <= _LOG_KEPT_MS:
        newest.cleanup_metadata()


def _kept_versions(table: Table, since_ms: int) -> set[int]:
    kept = {table.version()}
    for record in table.history():
        kept.add(record.version)
        if record.time_ms <= since_ms:
            break
    return kept


def _changed_ms(path: Path) -> float:
    # A move changes this time and not that of the last write.
    return path.stat().st_ctime * 1000
