"""The locks of a web database of old: empty files beside it, `dbreadlock` and `dbwritelock`.

Guarantee: what counts is the lock that a process holds on the file, not that the file is there:
Nutch leaves both files behind. The locks are those that Java takes, so that an old Nutch and we
keep out of each other's way. Nobody waits: who cannot have a lock is told so.

1. A reader shares `dbreadlock`, so that nobody moves the database away under it.
2. A writer alone holds `dbwritelock`; it works in `webdb.new`, and readers go on.
3. Only while it moves what it wrote into place does it hold `dbreadlock` alone, too.

Source: Nutch 0.7 `db.WebDBReader`, `db.WebDBWriter`, `fs.LocalFileSystem.lock` (`FileChannel.lock`,
which is POSIX `fcntl`).
"""

from __future__ import annotations

import errno
import fcntl
import logging
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from filbert.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["READ_LOCK", "WRITE_LOCK", "hold", "share"]

READ_LOCK, WRITE_LOCK = "dbreadlock", "dbwritelock"
_TAKEN = (errno.EACCES, errno.EAGAIN)
_log = logging.getLogger(__name__)


def share(folder: Path) -> IO[bytes] | None:
    """Share the right to read a database; closing what is returned gives it up.

    Reading changes nothing, so a lock file that is not there is not made: None. The same for a file
    system that has no locks.

    Raises:
        UserError: A writer is moving the database.
    """
    path = folder / READ_LOCK
    if not path.is_file():
        return None
    file = path.open("rb")
    try:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        if error.errno in _TAKEN:
            raise _is_held(path) from None
        _log.warning("%s cannot be locked, and is read without: %s", path, error)
        return None
    return file


@contextmanager
def hold(folder: Path, name: str) -> Iterator[None]:
    """Hold a lock alone. The file stays, as of old.

    Raises:
        UserError: Another process holds it, or shares it.
    """
    path = folder / name
    with path.open("ab") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _TAKEN:
                raise _is_held(path) from None
            raise
        yield


def _is_held(path: Path) -> UserError:
    return UserError(
        f"{path.parent} is in use: another process holds {path.name}",
        hint="Wait until the Nutch that is at work there has ended.",
    )
