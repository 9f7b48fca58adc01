"""File operations that outlive a loss of power, one function each.

Guarantee: when a function returns, what it did is on the disk. A full disk is a `DataError` that
says so, and so is one that may not be written. Everything in the store that must not be lost goes
through here, so that tests can break any one operation.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import uuid
from typing import TYPE_CHECKING

from filbert.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "check_writable",
    "disk_full",
    "is_disk_full",
    "move",
    "room",
    "sync_file",
    "sync_folder",
    "write_whole",
]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_DENIED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_FULL_TEXTS = ("No space left on device", "Disk quota exceeded", "StorageFull", "os error 28")


def sync_file(path: Path) -> None:
    """Force a file's bytes to the disk."""
    _sync(path, os.O_RDONLY)


def sync_folder(path: Path) -> None:
    """Force a folder's entries to the disk."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move(source: Path, target: Path) -> None:
    """Move a synced file to a name that is not taken; across file systems by a synced copy."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        fresh = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            shutil.copyfile(source, fresh)
            sync_file(fresh)
            fresh.rename(target)
        finally:
            fresh.unlink(missing_ok=True)
        source.unlink()


def write_whole(path: Path, text: str) -> None:
    """Write a small file so that a reader sees the old text or the new one, never half."""
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        fresh.write_text(text, encoding="utf-8")
        sync_file(fresh)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(path.parent)


def is_disk_full(error: BaseException) -> bool:
    """Tell whether an error of the system or of a library means that the disk is full."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    return any(text in str(error) for text in _FULL_TEXTS)


@contextlib.contextmanager
def room(what: str) -> Iterator[None]:
    """Turn a full disk inside the block into a `DataError` that names `what` was to be written.

    Raises:
        DataError: No space left, no right to write, or a file system that is read-only.
    """
    try:
        yield
    except OSError as error:
        if is_disk_full(error):
            raise disk_full(what) from error
        if error.errno in _DENIED:
            raise _unwritable(error.filename or what, error.errno) from error
        raise


def check_writable(folder: Path) -> None:
    """Do nothing if this process can write into a folder that is there.

    Raises:
        DataError: It cannot; says why.
    """
    if os.access(folder, os.W_OK | os.X_OK):
        return
    read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
    raise _unwritable(str(folder), errno.EROFS if read_only else errno.EACCES)


def _unwritable(where: str, number: int | None) -> DataError:
    if number == errno.EROFS:
        why, remedy = "read-only file system", "what only reads (search, explain, readdb …) works"
    else:
        why, remedy = "no permission", "run as the user who owns the crawl folder"
    return DataError(f"cannot write to {where}: {why}", hint=f"nothing was changed; {remedy}")


def disk_full(what: str) -> DataError:
    """Return the error of a full disk."""
    return DataError(
        f"{what}: no space left on the disk",
        hint="the last version is intact; make room, then run the same command again",
    )
