"""The locks of a web database: those that an old Nutch holds on its two files."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from filbert.errors import UserError
from filbert.nutch.v07.webdb import WebDB, recover, write_webdb
from filbert.nutch.v07.webdb_lock import READ_LOCK, WRITE_LOCK, hold, share

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Java's FileChannel.lock is POSIX fcntl, which a process never refuses to itself.
HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_SH if sys.argv[2] == "shared" else fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def _held(path: Path, how: str) -> Iterator[None]:
    """Let another process hold a lock, as a Nutch would."""
    path.touch()
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", HOLDER, str(path), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield
        process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A database with both lock files, which nobody holds."""
    write_webdb(tmp_path, list, list)
    assert {READ_LOCK, WRITE_LOCK} <= {path.name for path in tmp_path.iterdir()}
    return tmp_path


def test_lock_files_that_lie_about_do_not_count(folder: Path) -> None:
    """Nutch leaves both behind; the database is read, and mended."""
    with WebDB(folder) as db:
        assert list(db.pages()) == []
    assert recover(folder) == ""


def test_readers_share(folder: Path) -> None:
    """A reader among readers is let in; nobody may move the database meanwhile."""
    with _held(folder / READ_LOCK, "shared"):
        WebDB(folder).close()
        WebDB(folder / "webdb").close()
        with pytest.raises(UserError, match="is in use: another process holds dbreadlock"):
            recover(folder)


def test_a_database_that_is_moved_is_not_read(folder: Path) -> None:
    """By whichever path it is asked for."""
    with _held(folder / READ_LOCK, "alone"):
        for path in (folder, folder / "webdb"):
            with pytest.raises(UserError, match="is in use"):
                WebDB(path)


def test_a_writer_lets_readers_go_on_but_no_second_writer(folder: Path, tmp_path: Path) -> None:
    """It works in a folder of its own until it moves it."""
    with _held(folder / WRITE_LOCK, "alone"):
        WebDB(folder).close()
        with pytest.raises(UserError, match="another process holds dbwritelock"):
            write_webdb(tmp_path, list, list)


def test_reading_makes_no_lock_file(tmp_path: Path) -> None:
    """What is only read is not changed."""
    assert share(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    with hold(tmp_path, READ_LOCK):
        pass
    held = share(tmp_path)
    assert held is not None
    held.close()
