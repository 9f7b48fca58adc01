"""A few worker processes that do page work, part by part.

Guarantee: results come as parts end; a worker that dies is named by its part; an error or Ctrl-C
stops all workers before it leaves this module; and a worker whose parent is gone ends at once, so
that no orphan goes on asking hosts. (The standard pool cannot say which part a worker died of.)
"""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import threading
import traceback
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.resource_tracker import ensure_running
from typing import TYPE_CHECKING

from filbert.errors import EngineError, FilbertError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from filbert.engine.base import PageTask, Part, PartResult

__all__ = ["run_parts"]

_GRACE_S = 10.0  # what a worker gets to end by itself after Ctrl-C, before it is killed


def run_parts(task: PageTask, parts: Sequence[Part], *, processes: int) -> Iterator[PartResult]:
    """Do `parts` in at most `processes` worker processes; 1: in this process, in order.

    Raises:
        EngineError: A worker died, or the task broke; names the part.
    """
    if processes == 1:
        for part in parts:
            yield _guarded(task, part)
        return
    pool = _Pool(task, min(processes, len(parts)))
    try:
        yield from pool.results(list(parts))
        pool.dismiss()
    finally:
        pool.stop()


def _guarded(task: PageTask, part: Part) -> PartResult:
    try:
        return task(part)
    except FilbertError:
        raise
    except Exception as error:
        trace = "".join(traceback.format_exception(error)).rstrip()
        reason = f"{type(error).__name__}: {error}"
        raise EngineError(f"part {part.number} failed: {reason}", hint=trace) from error


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    connection: Connection
    part: Part | None = None


class _Pool:
    def __init__(self, task: PageTask, size: int) -> None:
        self._workers: list[_Worker] = []
        try:
            for _ in range(size):
                self._workers.append(_start(task))
        except BaseException:
            self.stop()
            raise

    def results(self, waiting: list[Part]) -> Iterator[PartResult]:
        waiting.reverse()
        for worker in self._workers:
            _assign(worker, waiting)
        while busy := {w.connection: w for w in self._workers if w.part is not None}:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]  # it is one of ours
                result = _receive(worker)
                _assign(worker, waiting)
                yield result

    def dismiss(self) -> None:
        for worker in self._workers:
            worker.connection.close()
            worker.process.join()

    def stop(self) -> None:
        alive = [worker.process for worker in self._workers if worker.process.is_alive()]
        for process in alive:
            _signal(process, signal.SIGINT)
        for process in alive:
            process.join(_GRACE_S)
            if process.is_alive():
                process.kill()
                process.join()


def _start(task: PageTask) -> _Worker:
    ours, theirs = mp.Pipe()
    context = mp.get_context("spawn")
    process = context.Process(target=_work, args=(theirs, task), daemon=False)
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


def _assign(worker: _Worker, waiting: list[Part]) -> None:
    worker.part = waiting.pop() if waiting else None
    if worker.part is not None:
        try:
            worker.connection.send(worker.part)
        except OSError as error:
            raise _dead(worker) from error


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


def _work(connection: Connection, task: PageTask) -> None:
    """Be a worker: answer each part with its result or a FilbertError, until the pipe closes."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        while True:
            part = connection.recv()
            try:
                answer: object = _guarded(task, part)
            except FilbertError as error:
                answer = error
            connection.send(answer)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return


def _die_with_parent() -> None:
    parent = mp.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGKILL)
