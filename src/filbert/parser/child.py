"""The guarded process: `python -m filbert.parser.child`.

Guarantee: one document cannot take the machine down or hold up the others. Each has a wall-clock
limit, set as an alarm that ends this process even inside C code, and the process has a limit on
its memory; the parent sees it die and goes on with a fresh one. When the parent is gone, so is
this process at its next message. What plugins print goes to the error output.
Protocol: messages are a length in 8 bytes and a pickle; see `guard.py` for the parent's side.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from filbert.parser.jobs import PageRows, ParseJob

__all__ = ["main", "receive", "send"]

_LENGTH = 8


def send(stream: BinaryIO, message: object) -> None:
    """Write one message; BrokenPipeError if nobody reads."""
    raw = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(raw).to_bytes(_LENGTH, "big"))
    stream.write(raw)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message; EOFError if the other side is gone."""
    head = stream.read(_LENGTH)
    size = int.from_bytes(head, "big") if len(head) == _LENGTH else -1
    raw = stream.read(size) if size >= 0 else b""
    if size < 0 or len(raw) < size:
        raise EOFError("the other side is gone")
    return pickle.loads(raw)  # noqa: S301 - from our own parent or child, by a private pipe


class _Worker:
    """Parses jobs by the options that came first."""

    def __init__(self, options: Any) -> None:
        from filbert.parser.parsing import PageParser
        from filbert.parser.rows import RowMaker
        from filbert.plugins.registry import PluginRepository
        from filbert.rules.urls import place_of

        settings = options.settings
        plugins = PluginRepository(settings, options.folder)
        self._parser = PageParser(settings, plugins)
        self._maker = RowMaker(settings, plugins)
        self._timeout_s = settings.parse.timeout_s
        place_of("http://example.com/")  # reads the suffix list: not on the first page's time
        _limit_memory(settings.parse.memory_limit_mb)

    def work(self, job: ParseJob) -> PageRows:
        """Parse one page, or die by the alarm."""
        limit = max(self._timeout_s, 0)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            return self._maker.rows(job, self._parser.parse(job))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> int:
    """Serve until the parent closes the pipe."""
    reader, writer = _pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        sys.path[:] = receive(reader)
        worker = _Worker(receive(reader))
        send(writer, "ready")
        while True:
            for job in receive(reader):
                send(writer, _answer(worker, job))
    except (EOFError, BrokenPipeError):
        return 0


def _answer(worker: _Worker, job: ParseJob) -> PageRows | None:
    """Return the rows; None if the memory did not suffice, after which the parent ends us."""
    try:
        return worker.work(job)
    except MemoryError:
        return None


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes to the parent, and keep them from whoever prints."""
    reader = os.fdopen(os.dup(0), "rb")
    writer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return reader, writer


def _limit_memory(megabytes: int) -> None:
    """Allow `megabytes` on top of what the process already maps."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + (megabytes << 20)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
