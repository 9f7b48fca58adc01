"""One fetch at a time: a lease on the crawl folder.

Guarantee: two processes never hold it at once. The file says host, process, step and when it was
last renewed; a thread renews it. It can be taken over, with a warning, when its process on this
host is dead (at once) or when it was not renewed in time. A holder that could not renew in time
knows it by itself: `check` raises before it does anything more.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import threading
import time
import uuid
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import structlog

from filbert.errors import DataError
from filbert.model.clock import iso
from filbert.store import durable, layout
from filbert.store.process import Process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.model.clock import Clock

__all__ = ["Lease", "hold_lease"]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What the lease file says."""

    process: str
    step: str
    token: str
    renewed_ms: int
    lease_s: int

    def stale(self, now_ms: int) -> str:
        """Return why the lease can be taken over, or ""."""
        owner = Process.parse(self.process)
        if owner is not None and owner.is_dead():
            return "its process is dead"
        silent = (now_ms - self.renewed_ms) / 1000
        return f"not renewed for {silent:.0f} s" if silent > self.lease_s else ""


class Lease:
    """A lease that this process holds; made by `hold_lease`.

    Args:
        crawl_path: The crawl folder.
        step: The step that nobody else may do meanwhile.
        clock: Time for the file, which other hosts read.
        lease_s: Seconds without renewal after which it is lost.
        by: The command that holds it, if another than the step's own.
    """

    def __init__(
        self, crawl_path: Path, step: str, *, clock: Clock, lease_s: int, by: str = ""
    ) -> None:
        self.lease_s = lease_s
        self._path = crawl_path / f"{layout.LEASE}-{step}"
        self._mutex = crawl_path / layout.LEASE_MUTEX
        self._step = by or step
        self._clock = clock
        self._token = uuid.uuid4().hex
        self._renewed = time.monotonic()
        self._lost = ""

    def check(self) -> None:
        """Do nothing while the lease is held.

        Raises:
            DataError: It was lost; the caller must stop before its next request.
        """
        if not self._lost and time.monotonic() - self._renewed > self.lease_s:
            self._lost = f"it could not be renewed for {self.lease_s} s"
        if self._lost:
            raise DataError(
                f"the lease on {self._path.parent} is lost: {self._lost}",
                hint="what was captured is safe; the same command goes on with it",
            )

    def take(self) -> None:
        """Take the lease.

        Raises:
            DataError: Another process holds it.
        """
        with self._exclusive():
            held = self._read()
            now = self._clock.now_ms()
            if held is not None:
                why = held.stale(now)
                if not why:
                    raise _locked(self._path, held)
                _log.warning("lease.taken_over", held_by=held.process, step=held.step, why=why)
            self._write(now)

    def renew(self) -> None:
        """Say that we still hold it; notes it if we do not."""
        if self._lost:
            return
        with self._exclusive():
            held = self._read()
            if held is None or held.token != self._token:
                by = f"taken over by {held.process} ({held.step})" if held else "its file is gone"
                self._lost = by
                return
            self._write(self._clock.now_ms())

    def release(self) -> None:
        """Give it back, if it is still ours."""
        with self._exclusive():
            held = self._read()
            if held is not None and held.token == self._token:
                self._path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Hold the mutex for the moment that reading and writing take."""
        with self._mutex.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _read(self) -> _Held | None:
        try:
            return _Held(**json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise DataError(
                f"the lease file {self._path} is damaged: {error}",
                hint="make sure that no filbert works on this folder, then remove the file",
            ) from error

    def _write(self, now_ms: int) -> None:
        held = _Held(
            process=str(Process.this()),
            step=self._step,
            token=self._token,
            renewed_ms=now_ms,
            lease_s=self.lease_s,
        )
        begun = time.monotonic()
        durable.write_whole(self._path, json.dumps(asdict(held)))
        self._renewed = begun


@contextlib.contextmanager
def hold_lease(
    crawl_path: Path, step: str, *, clock: Clock, lease_s: int, by: str = ""
) -> Iterator[Lease]:
    """Hold the lease of a crawl folder inside the block, renewed by a thread.

    Raises:
        DataError: Another process holds it.
    """
    lease = Lease(crawl_path, step, clock=clock, lease_s=lease_s, by=by)
    with durable.room(f"{step}: taking the lease"):
        lease.take()
    done = threading.Event()
    thread = threading.Thread(
        target=_keep, args=(lease, done), name=f"filbert-lease-{step}", daemon=True
    )
    thread.start()
    try:
        yield lease
    finally:
        done.set()
        thread.join()
        with contextlib.suppress(OSError, DataError):
            lease.release()


def _keep(lease: Lease, done: threading.Event) -> None:
    while not done.wait(lease.lease_s / 4):
        try:
            lease.renew()
        except (OSError, DataError) as error:
            # The next turn tries again; if none succeeds in time, `check` says so.
            _log.warning("lease.not_renewed", error=str(error))


def _locked(path: Path, held: _Held) -> DataError:
    owner = Process.parse(held.process)
    who = f"process {owner.pid} on {owner.host}" if owner else held.process
    return DataError(
        f"{path.parent} is locked: {held.step} by {who}, renewed {iso(held.renewed_ms)}",
        hint=f"wait for it to end; if it died, the lease can be taken {held.lease_s} s after that",
    )
