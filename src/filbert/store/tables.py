"""A table of the crawl folder: Delta Lake, whose log alone goes through the library.

Guarantee: a version is complete or invisible. A commit syncs its files, moves them under names of
their own, and only then writes one log entry; whatever breaks before that leaves the last version
as it was and files that no version lists, which `filbert vacuum` removes. A commit that says which
version it read fails if another came between. An application transaction is undone with the version
that made it.
Source: the Delta transaction log protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from filbert.engine.base import Files
from filbert.errors import DataError
from filbert.model.schemas import SCHEMA_VERSION
from filbert.store import durable, layout
from filbert.store.commits import CHECKPOINT_EVERY, Commit, make_commit, make_restore
from filbert.store.delta import delta_schema
from filbert.store.history import CommitRecord, in_force, properties, record
from filbert.store.log_faults import damaged_log, empty_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from filbert.model.clock import Clock
    from filbert.model.schemas import TableSchema

__all__ = ["Commit", "CommitRecord", "Table"]

_SCHEMA_KEY = "filbert.schemaVersion"
_BUCKETS_KEY = "filbert.buckets"


class Table:
    """One table.

    Args:
        schema: Its columns.
        path: Its folder.
        clock: Times of commits.
        buckets: Buckets of a table that is made by the first commit; 1: not in buckets.
    """

    def __init__(self, schema: TableSchema, path: Path, *, clock: Clock, buckets: int = 1) -> None:
        self.schema = schema
        self.path = path
        self._clock = clock
        self._buckets = buckets

    @property
    def name(self) -> str:
        """The table's name."""
        return self.schema.name

    @property
    def log_path(self) -> Path:
        """The folder of the log."""
        return self.path / layout.DELTA_LOG

    @property
    def buckets(self) -> int:
        """Hash buckets of the table, a power of two."""
        if not self.exists():
            return self._buckets
        return int(self.load().metadata().configuration.get(_BUCKETS_KEY, "1"))

    def exists(self) -> bool:
        """Tell whether the table has a version, be it an empty one."""
        return next(self.log_path.glob("*.json"), None) is not None

    def is_committed(self) -> bool:
        """Tell whether any step has committed to it; cheaper than to ask for the version."""
        return any(
            entry.stem.isdigit() and int(entry.stem) > 0 for entry in self.log_path.glob("*.json")
        )

    def version(self) -> int:
        """Return the newest version; 0 is the empty table, -1 means there is none."""
        return self.load().version() if self.exists() else -1

    def next_version(self) -> int:
        """Return the version that the next commit will be: the `seq` of its rows."""
        return max(self.version(), 0) + 1

    def create(self) -> None:
        """Make the empty table, version 0; nothing happens if it is there."""
        if self.exists():
            return
        self.path.mkdir(parents=True, exist_ok=True)
        with durable.room(f"making {self.name}"):
            try:
                DeltaTable.create(
                    str(self.path),
                    delta_schema(self.schema),
                    name=self.name,
                    configuration={
                        _SCHEMA_KEY: str(SCHEMA_VERSION),
                        _BUCKETS_KEY: str(self._buckets),
                    },
                    raise_if_key_not_exists=False,
                    commit_properties=properties(
                        CommitRecord(version=0, time_ms=self._clock.now_ms(), step="create")
                    ),
                )
            except DeltaError as error:
                if durable.is_disk_full(error):
                    raise durable.disk_full(f"making {self.name}") from error
                if not self.exists():  # else another process made it just now
                    raise damaged_log(self.path, error) from error
            durable.sync_folder(self.log_path)
            durable.sync_folder(self.path.parent)

    def files(self, version: int | None = None, *, bucket: int | None = None) -> Files:
        """Return the exact files of a version; with `bucket`, of that bucket's rows.

        Args:
            version: Which; None: the newest. A table that is not there has no files.
            bucket: Only files that may hold rows of it, narrowed by a predicate.
        """
        if not self.exists():
            return Files(schema=self.schema)
        entries = self._entries(self.load(version))
        if bucket is None:
            return Files(schema=self.schema, paths=self._paths(entries))
        return self._of_bucket(entries, bucket)

    def bucket_files(self) -> dict[int, Files]:
        """Return each bucket's files, of the newest version; empty buckets have none."""
        if not self.exists():
            return {b: Files(schema=self.schema) for b in range(self.buckets)}
        entries = self._entries(self.load())
        return {b: self._of_bucket(entries, b) for b in range(self.buckets)}

    def _entries(self, table: DeltaTable) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = pa.table(table.get_add_actions(flatten=True)).to_pylist()
        return sorted(rows, key=lambda row: str(row["path"]))

    def _paths(self, entries: Iterable[Mapping[str, object]]) -> tuple[str, ...]:
        return tuple(str(self.path / str(entry["path"])) for entry in entries)

    def _of_bucket(self, entries: Iterable[Mapping[str, object]], bucket: int) -> Files:
        hits = []
        pure = True
        for entry in entries:
            low, high = entry.get("min.bucket"), entry.get("max.bucket")
            if not isinstance(low, int) or not isinstance(high, int):
                low, high = 0, bucket
            if low <= bucket <= high:
                hits.append(entry)
                pure = pure and low == high
        where = "" if pure else f"bucket = {bucket}"
        return Files(schema=self.schema, paths=self._paths(hits), where=where)

    def count(self, version: int | None = None) -> int:
        """Return the number of rows, from the log alone."""
        return int(self.load(version).count()) if self.exists() else 0

    def file_sizes(self, version: int | None = None) -> dict[str, int]:
        """Return the bytes of each file of a version, by its name in the folder."""
        if not self.exists():
            return {}
        entries = self._entries(self.load(version))
        return {str(entry["path"]): int(str(entry["size_bytes"])) for entry in entries}

    def transaction(self, app_id: str) -> int | None:
        """Return what the commit that absorbed `app_id` said; None: none did, or it was undone."""
        if not self.exists():
            return None
        found = self.load().transaction_version(app_id)
        return found if in_force(found) else None

    def history(self) -> list[CommitRecord]:
        """Return all versions that the log still knows, newest first."""
        if not self.exists():
            return []
        return [record(entry) for entry in self.load().history()]

    def commit(self, commit: Commit) -> int:
        """Make the next version and return its number; the first commit makes the table.

        Raises:
            DataError: Another writer came between, or the disk is full; nothing was changed.
        """
        self.create()
        return make_commit(self, commit, self._clock.now_ms())

    def restore(
        self, version: int, *, step: str = "rollback", read_version: int | None = None
    ) -> int:
        """Make a new version that is what `version` was, its transactions included.

        Args:
            version: Which.
            step: The command's name.
            read_version: The version that it read: it fails if another came since.

        Returns:
            The number of the new version.

        Raises:
            DataError: The version's files are gone, or another writer came between.
        """
        newest = self.version() if read_version is None else read_version
        return make_restore(self, version, newest, step, self._clock.now_ms())

    def load(self, version: int | None = None) -> DeltaTable:
        """Open a version of the log; None: the newest.

        Raises:
            DataError: It is not there, damaged, or of a newer filbert.
        """
        try:
            table = DeltaTable(str(self.path), version=version)
        except TableNotFoundError as error:
            if version is not None and self.exists():
                raise self._no_version(version) from error
            raise DataError(f"there is no table {self.name} in {self.path.parent}") from error
        except DeltaError as error:
            if version is not None and not 0 <= version <= self.version():
                raise self._no_version(version) from error
            raise damaged_log(self.path, error) from error
        read = range(table.version() // CHECKPOINT_EVERY * CHECKPOINT_EVERY, table.version() + 1)
        if (fault := empty_entry(self.path, read)) is not None:
            raise fault
        found = table.metadata().configuration.get(_SCHEMA_KEY, "0")
        if int(found) > SCHEMA_VERSION:
            raise DataError(
                f"{self.path} was written by a newer filbert: its schema is {found}, this one "
                f"reads up to {SCHEMA_VERSION}",
                hint="nothing was changed; use the newer filbert",
            )
        return table

    def _no_version(self, version: int) -> DataError:
        oldest = self.history()[-1].version
        return DataError(
            f"{self.path} has no version {version}", hint=f"it has {oldest} to {self.version()}"
        )
