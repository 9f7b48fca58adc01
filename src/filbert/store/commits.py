"""How a table gets its next version.

Guarantee: files are synced, then moved under names of their own, and only then is one log entry
written and synced. Whatever breaks before the entry leaves the last version as it was; what breaks
after it (a library may raise though its entry is in) is told apart by the commit's own id, so that
files of a version are never taken for garbage.
Source: the Delta transaction log protocol.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from deltalake import PostCommitHookProperties
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction

from filbert.errors import DataError, FilbertError
from filbert.model.clock import iso
from filbert.store import durable
from filbert.store.delta import add_action
from filbert.store.history import UNDONE, CommitRecord, properties

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from filbert.engine.base import WrittenFile
    from filbert.store.tables import Table

__all__ = ["CHECKPOINT_EVERY", "Commit", "make_commit", "make_restore"]

# The table makes and syncs its checkpoints itself; old log entries go only by `filbert vacuum`.
_HOOKS = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)
CHECKPOINT_EVERY = 100
"""Versions from one checkpoint of a log to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What a step wants a table to become.

    Attributes:
        step: The command's name, as the command line says it.
        add: Files written and not yet committed; they are moved, not copied.
        remove: Paths (as in `Files`) or names of files to take out, or all of them.
        transactions: Application id to a number not below 0: what this commit absorbs.
        metadata: Whatever else the history should keep.
        read_version: The version that the step read: the commit fails if another came since.
            None: a pure addition that goes with any version.
    """

    step: str
    add: tuple[WrittenFile, ...] = ()
    remove: tuple[str, ...] | Literal["all"] = ()
    transactions: Mapping[str, int] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    read_version: int | None = None


def make_commit(table: Table, commit: Commit, now_ms: int) -> int:
    """Make the next version of `table` and return its number.

    Raises:
        DataError: Another writer came between, or the disk is full; nothing was changed.
    """
    version = table.version() if commit.read_version is None else max(commit.read_version, 0)
    removes = _removes(table, commit, version, now_ms)
    with durable.room(f"{commit.step}: commit to {table.name}"):
        names = [
            # The order of names is that of the commit's files, run after run.
            f"v{version + 1:06d}-{number:05d}-{uuid.uuid4().hex}.parquet"
            for number in range(len(commit.add))
        ]
        moved = _bring_in(table, commit.add, names)
        adds = [
            add_action(table.schema, name, file, now_ms)
            for name, file in zip(names, commit.add, strict=True)
        ]
        note = CommitRecord(
            version=version + 1,
            time_ms=now_ms,
            step=commit.step,
            transactions=commit.transactions,
            metadata=commit.metadata,
            commit_id=uuid.uuid4().hex,
        )
        strict = commit.read_version is not None or bool(commit.remove)
        try:
            _write_entry(table, note, [*adds, *removes], strict=strict)
        except (DeltaError, OSError) as error:
            if not _landed(table, note):
                _drop(moved)
                raise _failed(table, note, error) from error
        return _settle(table, note)


def make_restore(table: Table, version: int, read_version: int, step: str, now_ms: int) -> int:
    """Make a new version after `read_version` that is what `version` was; return its number.

    Raises:
        DataError: The version's files are gone, or another writer came between.
    """
    newest = table.load(read_version)
    target = table.load(version)
    missing = [path for path in table.files(version).paths if not Path(path).exists()]
    if missing:
        raise DataError(
            f"version {version} of {table.path} cannot come back: {len(missing)} of its files "
            f"are gone, such as {missing[0]}",
            hint="they were vacuumed (store.vacuum_after_hours); choose a later version",
        )
    since = [record for record in table.history() if record.version > version]
    undone = {
        app: UNDONE if (was := target.transaction_version(app)) is None else int(was)
        for record in since
        for app in record.transactions
    }
    note = CommitRecord(
        version=newest.version() + 1,
        time_ms=now_ms,
        step=step,
        transactions=undone,
        metadata={"restored": str(version)},
        commit_id=uuid.uuid4().hex,
    )
    with durable.room(f"{step}: restore of {table.name}"):
        try:
            newest.restore(
                version,
                commit_properties=properties(note, retries=0),
                post_commithook_properties=_HOOKS,
            )
        except (DeltaError, OSError) as error:
            if not _landed(table, note):
                raise _failed(table, note, error) from error
        return _settle(table, note)


def _removes(table: Table, commit: Commit, version: int, now_ms: int) -> list[RemoveAction]:
    if not commit.remove:
        return []
    present = {Path(path).name for path in table.files(version).paths}
    wanted = present if commit.remove == "all" else {Path(path).name for path in commit.remove}
    gone = sorted(wanted - present)
    if gone:
        raise DataError(
            f"{commit.step}: version {version} of {table.name} has no file {gone[0]}",
            hint=f"another step replaced it; nothing was changed, run {commit.step} again",
        )
    sizes = table.file_sizes(version)
    return [RemoveAction(name, True, now_ms, sizes[name], {}) for name in sorted(wanted)]  # noqa: FBT003 (the library's order)


def _bring_in(table: Table, files: Iterable[WrittenFile], names: Iterable[str]) -> list[Path]:
    moved: list[Path] = []
    try:
        for file, name in zip(files, names, strict=True):
            durable.sync_file(file.path)
            durable.move(file.path, table.path / name)
            moved.append(table.path / name)
        if moved:
            durable.sync_folder(table.path)
    except OSError:
        _drop(moved)
        raise
    return moved


def _drop(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _write_entry(
    table: Table, note: CommitRecord, actions: list[AddAction | RemoveAction], *, strict: bool
) -> None:
    base = table.load(note.version - 1 if strict else None)
    base.create_write_transaction(
        actions,
        "append",
        base.schema(),
        commit_properties=properties(note, retries=0 if strict else None),
        post_commithook_properties=_HOOKS,
    )


def _landed(table: Table, note: CommitRecord) -> int | None:
    """Return the version that the commit became, if its entry is in the log."""
    for record in table.history():
        if record.commit_id == note.commit_id:
            return record.version
        if record.version < note.version:
            break
    return None


def _settle(table: Table, note: CommitRecord) -> int:
    """Sync the log entry, now and then with a checkpoint; return the version."""
    version = _landed(table, note)
    assert version is not None, "the library returned, but its entry is not in the log"
    if version % CHECKPOINT_EVERY == 0:
        table.load().create_checkpoint()
        durable.sync_file(table.log_path / "_last_checkpoint")
    for path in table.log_path.glob(f"{version:020d}.*"):
        durable.sync_file(path)
    durable.sync_folder(table.log_path)
    return version


def _failed(table: Table, note: CommitRecord, error: Exception) -> FilbertError:
    if durable.is_disk_full(error):
        return durable.disk_full(f"{note.step}: commit to {table.name}")
    newer = [r for r in table.history() if r.version >= note.version]
    if not newer and not isinstance(error, CommitFailedError):
        reason = str(error).partition("\n")[0]
        return DataError(
            f"{note.step}: could not commit to {table.path}: {reason}",
            hint="nothing was changed; the last version is intact",
        )
    who = (
        f": version {newer[-1].version} is by {newer[-1].step}, {iso(newer[-1].time_ms)}"
        if newer
        else ""
    )
    return DataError(
        f"{table.name} was changed by another command while {note.step} worked on "
        f"version {note.version - 1}{who}",
        hint=f"nothing was changed by this {note.step}; run it again, it starts from what is new",
    )
