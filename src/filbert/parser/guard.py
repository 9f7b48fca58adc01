"""The parent's side of the guarded process.

Guarantee: every job given is answered, in order. A document that runs out of time or memory, or
takes its process down, becomes a `Failure`; the ones after it are given to a fresh process. No
process is left behind.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from filbert.errors import EngineError
from filbert.model.statuses import ParseMinor
from filbert.parser.child import receive, send
from filbert.parser.jobs import Failure, PageRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from filbert.parser.jobs import ParseJob, ParseOptions

__all__ = ["GuardedParser"]

_BATCH_JOBS = 32
_BATCH_BYTES = 4 << 20
_GRACE_S = 5.0


class GuardedParser:
    """Parses jobs in a process of its own; a context manager.

    Args:
        options: What the process needs to know.
    """

    def __init__(self, options: ParseOptions) -> None:
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Number of the process; None if there is none now."""
        return self._process.pid if self._process else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        self._stop(kill=kind is not None)

    def parse(self, jobs: Iterable[ParseJob]) -> Iterator[tuple[ParseJob, PageRows | Failure]]:
        """Yield each job with its rows, or why it has none.

        The next batch is read while the process works on the last one.

        Raises:
            EngineError: The process does not even start.
        """
        batches = _batches(jobs)
        batch = next(batches, None)
        while batch is not None:
            waiting = deque(batch)
            self._give(waiting)
            batch = next(batches, None)
            while waiting:
                job = waiting.popleft()
                answer = self._answer()
                if isinstance(answer, Failure) and waiting:
                    self._give(waiting)
                yield job, answer

    def _give(self, jobs: Iterable[ParseJob]) -> None:
        process = self._process or self._start()
        try:
            send(cast("BinaryIO", process.stdin), list(jobs))
        except BrokenPipeError:
            # It died between two batches; a fresh one has not been told anything yet.
            self._stop()
            send(cast("BinaryIO", self._start().stdin), list(jobs))

    def _answer(self) -> PageRows | Failure:
        assert self._process is not None
        try:
            answer = receive(cast("BinaryIO", self._process.stdout))
        except EOFError:
            return self._cause_of_death()
        if answer is None:
            self._stop(kill=True)
            return self._out_of_memory()
        return cast("PageRows", answer)

    def _cause_of_death(self) -> Failure:
        code = self._stop()
        if code == -signal.SIGALRM:
            return Failure(
                minor=ParseMinor.FAILED_EXCEPTION,
                message=f"time limit of {self._options.settings.parse.timeout_s} s",
                counter="time_limit",
            )
        if code == -signal.SIGKILL:
            return self._out_of_memory()
        return Failure(
            minor=ParseMinor.FAILED_EXCEPTION,
            message=f"the parsing process died ({_name(code)})",
            counter="crashed",
        )

    def _out_of_memory(self) -> Failure:
        limit = self._options.settings.parse.memory_limit_mb
        return Failure(
            minor=ParseMinor.FAILED_EXCEPTION,
            message=f"memory limit of {limit} MB",
            counter="memory_limit",
        )

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "filbert.parser.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self._process = process
        try:
            send(cast("BinaryIO", process.stdin), sys.path)
            send(cast("BinaryIO", process.stdin), self._options)
            receive(cast("BinaryIO", process.stdout))
        except (EOFError, BrokenPipeError):
            code = self._stop()
            raise EngineError(
                f"the parsing process does not start ({_name(code)})",
                hint="What it said is above: a plugin that cannot be loaded, or too little memory.",
            ) from None
        return process

    def _stop(self, *, kill: bool = False) -> int:
        """End the process, if there is one, and return how it ended."""
        process, self._process = self._process, None
        if process is None:
            return 0
        if kill:
            process.kill()
        for stream in (process.stdin, process.stdout):
            try:
                cast("BinaryIO", stream).close()
            except BrokenPipeError:
                continue
        try:
            return process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def _name(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _batches(jobs: Iterable[ParseJob]) -> Iterator[list[ParseJob]]:
    batch: list[ParseJob] = []
    size = 0
    for job in jobs:
        batch.append(job)
        size += len(job.body)
        if len(batch) >= _BATCH_JOBS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
