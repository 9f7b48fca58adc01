"""A few worker processes that do page work, part by part.

Guarantee: results come as parts end; a worker that dies is named by its part; an error or Ctrl-C
stops all workers at work before it leaves this module; and a worker whose parent is gone ends at
once, so that no orphan goes on asking hosts. (The standard pool cannot say which part a worker
died of.) Workers are kept from one call to the next, since a fresh one spends half a second on its
imports; one that has grown large while it worked is not.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import threading
import traceback
import weakref
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.resource_tracker import ensure_running
from pathlib import Path
from typing import TYPE_CHECKING, Self

from filbert.errors import EngineError, FilbertError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from filbert.engine.base import PageTask, Part, PartResult

__all__ = ["Workers", "lifetime"]

_GRACE_S = 10.0  # what a worker gets to end by itself after Ctrl-C, before it is killed
_MOST_KEPT_BYTES = 400 << 20  # of an idle worker: memory that the queries after it want
_lifetime: ExitStack | None = None


class Workers:
    """Worker processes, started when they are first needed. A context manager.

    Args:
        processes: How many at most; 1: parts are done in this process, in order.
    """

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._idle: list[_Worker] = []
        # Should nobody leave the context, this interpreter would wait for them in vain at its end.
        weakref.finalize(self, _dismiss, self._idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """Let the workers go; they are at work only while `run` is."""
        _dismiss(self._idle)

    def run(self, task: PageTask, parts: Sequence[Part]) -> Iterator[PartResult]:
        """Do `parts`, yielding results as they end.

        Raises:
            EngineError: A worker died, or the task broke; names the part.
        """
        if self._processes == 1:
            for part in parts:
                yield _guarded(task, part)
            return
        pool = _Pool(task, self._taken(min(self._processes, len(parts))))
        try:
            yield from pool.results(list(parts))
        except BaseException:
            pool.stop()
            raise
        large = [worker for worker in pool.workers if worker.resident() > _MOST_KEPT_BYTES]
        self._idle.extend(worker for worker in pool.workers if worker not in large)
        _dismiss(large)

    def _taken(self, size: int) -> list[_Worker]:
        """Return `size` workers: idle ones that still live, and fresh ones."""
        taken: list[_Worker] = []
        try:
            while self._idle and len(taken) < size:
                worker = self._idle.pop()
                if worker.process.is_alive():
                    taken.append(worker)
                else:
                    _dismiss([worker])
            while len(taken) < size:
                taken.append(_start())
        except BaseException:
            _stop(taken)
            raise
        return taken


def lifetime() -> ExitStack | None:
    """Return what ends with this worker process: for what is dear to make and serves many parts.

    None in any other process, where a part has to end all that it began.
    """
    return _lifetime


def _guarded(task: PageTask, part: Part) -> PartResult:
    try:
        return task(part)
    except FilbertError:
        raise
    except Exception as error:
        trace = "".join(traceback.format_exception(error)).rstrip()
        reason = f"{type(error).__name__}: {error}"
        raise EngineError(f"part {part.number} failed: {reason}", hint=trace) from error


@dataclass(slots=True, eq=False)
class _Worker:
    process: SpawnProcess
    connection: Connection
    part: Part | None = None

    def resident(self) -> int:
        """Return the bytes of memory that it holds; 0 where the system does not tell."""
        try:
            text = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii")
        except OSError:
            return 0
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")


class _Pool:
    """Workers at work on the parts of one task."""

    def __init__(self, task: PageTask, workers: list[_Worker]) -> None:
        self.workers = workers
        self._task = task

    def results(self, waiting: list[Part]) -> Iterator[PartResult]:
        waiting.reverse()
        for worker in self.workers:
            self._assign(worker, waiting)
        while busy := {w.connection: w for w in self.workers if w.part is not None}:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]  # it is one of ours
                result = _receive(worker)
                self._assign(worker, waiting)
                yield result

    def stop(self) -> None:
        _stop(self.workers)

    def _assign(self, worker: _Worker, waiting: list[Part]) -> None:
        worker.part = waiting.pop() if waiting else None
        if worker.part is not None:
            try:
                worker.connection.send((self._task, worker.part))
            except OSError as error:
                raise _dead(worker) from error


def _dismiss(workers: list[_Worker]) -> None:
    """End idle workers, and empty the list."""
    for worker in workers:
        worker.connection.close()
    for worker in workers:
        worker.process.join(_GRACE_S)
    _stop([worker for worker in workers if worker.process.is_alive()])
    workers.clear()


def _stop(workers: Sequence[_Worker]) -> None:
    alive = [worker.process for worker in workers if worker.process.is_alive()]
    for process in alive:
        _signal(process, signal.SIGINT)
    for process in alive:
        process.join(_GRACE_S)
        if process.is_alive():
            process.kill()
            process.join()
    for worker in workers:
        worker.connection.close()


def _start() -> _Worker:
    ours, theirs = mp.Pipe()
    context = mp.get_context("spawn")
    process = context.Process(target=_work, args=(theirs,), daemon=False)
    # Ctrl-C reaches the whole group: not before the worker has its handler in place. (The first
    # start of the resource tracker would lift the block again.)
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return _Worker(process, ours)


def _receive(worker: _Worker) -> PartResult:
    try:
        answer = worker.connection.recv()
    except (EOFError, OSError) as error:
        raise _dead(worker) from error
    if isinstance(answer, FilbertError):
        raise answer
    result: PartResult = answer
    return result


def _dead(worker: _Worker) -> EngineError:
    worker.process.join(_GRACE_S)
    code = worker.process.exitcode
    number = worker.part.number if worker.part else -1
    why = f"killed by {signal.Signals(-code).name}" if code and code < 0 else f"exit code {code}"
    return EngineError(
        f"the worker process of part {number} died ({why})",
        hint="nothing of this step was committed, what was captured is safe; the same command"
        " goes on. SIGKILL is often the system's answer to too little memory.",
    )


def _signal(process: SpawnProcess, number: signal.Signals) -> None:
    if process.pid is not None and process.is_alive():
        os.kill(process.pid, number)


def _work(connection: Connection) -> None:
    """Be a worker: answer each part with its result or a FilbertError, until the pipe closes."""
    global _lifetime
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with ExitStack() as _lifetime:
        try:
            # A shell's `… &` has it ignored, and so would we: then a stop would wait for the kill.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            while True:
                task, part = connection.recv()
                connection.send(_answer(task, part))
        except (EOFError, BrokenPipeError, KeyboardInterrupt):
            return


def _answer(task: PageTask, part: Part) -> PartResult | FilbertError:
    try:
        return _guarded(task, part)
    except FilbertError as error:
        return error


def _die_with_parent() -> None:
    parent = mp.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGKILL)
