"""The worker processes: results, errors, deaths, interrupts."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from filbert.engine.base import Part
from filbert.engine.pool import Workers
from filbert.errors import EngineError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filbert.engine.base import PageTask, PartResult

PROGRAM = """
import os, time
from filbert.engine.base import Part, PartResult
from filbert.engine.pool import Workers

class Sleep:
    def __call__(self, part):
        print(os.getpid(), flush=True)
        time.sleep(30)
        return PartResult(number=part.number)

if __name__ == "__main__":
    try:
        list(Workers(2).run(Sleep(), [Part(number=0), Part(number=1)]))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.fixture
def square(monkeypatch: pytest.MonkeyPatch) -> PageTask:
    """A task that a spawned process can import."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    task: PageTask = importlib.import_module("page_tasks").Square()
    return task


def parts(*payloads: object) -> list[Part]:
    """Parts numbered from 0."""
    return [Part(number=number, payload=payload) for number, payload in enumerate(payloads)]


def done(processes: int, task: PageTask, work: list[Part]) -> list[PartResult]:
    """What comes of the parts, of workers that end with the call."""
    with Workers(processes) as workers:
        return list(workers.run(task, work))


def test_one_process_does_the_parts_in_order_here(square: PageTask) -> None:
    """With one process, parts run in this process, in order."""
    got = [r.counters["square"] for r in done(1, square, parts(*"abc"))]
    assert got == [0, 1, 4]


def test_an_error_of_a_task_names_its_part(square: PageTask) -> None:
    """A task that breaks becomes an EngineError with the part; filbert's own errors pass."""
    with pytest.raises(EngineError, match="part 1 failed: ZeroDivisionError: broken"):
        done(1, square, parts("", "break"))
    with pytest.raises(UserError, match="wrong file"):
        done(1, square, parts("user"))


@pytest.mark.slow
def test_two_processes_do_all_parts(square: PageTask) -> None:
    """Every part's result comes, whichever worker did it."""
    got = sorted(r.number for r in done(2, square, parts(*"abcdef")))
    assert got == [0, 1, 2, 3, 4, 5]


@pytest.mark.slow
def test_errors_cross_the_process_with_their_hint(square: PageTask) -> None:
    """A FilbertError raised in a worker arrives as itself."""
    with pytest.raises(UserError) as caught:
        done(2, square, parts("user", ""))
    assert (caught.value.message, caught.value.hint) == ("wrong file", "name another")


@pytest.mark.slow
def test_a_dead_worker_names_its_part(square: PageTask) -> None:
    """A worker killed from outside is an EngineError that says which part it held."""
    with pytest.raises(EngineError, match=r"part 1 died \(killed by SIGKILL\)"):
        done(2, square, parts("", "die", ""))


@pytest.mark.slow
def test_workers_are_kept_for_the_next_parts(square: PageTask) -> None:
    """The same processes do the parts of the next call; after an error, fresh ones."""
    with Workers(2) as workers:
        first = _pids(workers.run(square, parts("pid")))
        assert _pids(workers.run(square, parts("pid"))) == first
        with pytest.raises(EngineError, match=r"part 0 died"):
            list(workers.run(square, parts("die")))
        third = _pids(workers.run(square, parts("pid")))
        assert third.isdisjoint(first)
    assert not any(map(_alive, third))


@pytest.mark.slow
def test_a_worker_that_died_while_idle_is_replaced(square: PageTask) -> None:
    """A worker that the system killed between two calls costs nobody a part."""
    with Workers(2) as workers:
        (pid,) = _pids(workers.run(square, parts("pid")))
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert _pids(workers.run(square, parts("pid"))).isdisjoint({pid})


@pytest.mark.slow
def test_workers_that_nobody_closed_do_not_hold_up_the_end(tmp_path: Path) -> None:
    """A program that forgets to leave the context still ends."""
    program = tmp_path / "program.py"
    program.write_text(
        PROGRAM.split("class Sleep", maxsplit=1)[0]
        + "class Nothing:\n"
        + "    def __call__(self, part):\n"
        + "        return PartResult(number=part.number)\n"
        + "if __name__ == '__main__':\n"
        + "    workers = Workers(2)\n"
        + "    print(len(list(workers.run(Nothing(), [Part(number=0)]))))\n"
    )
    ended = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, timeout=20
    )
    assert (ended.stdout, ended.returncode) == ("1\n", 0)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "said"), [(signal.SIGINT, True), (signal.SIGKILL, False)])
def test_no_worker_outlives_its_parent(
    tmp_path_factory: pytest.TempPathFactory, number: signal.Signals, said: bool
) -> None:
    """After Ctrl-C, and even after kill -9 of the parent, no worker goes on."""
    program = tmp_path_factory.mktemp("pool") / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(parent.stdout.readline()) for _ in range(2)]
        parent.send_signal(number)
        assert (parent.communicate(timeout=20)[0] == "interrupted\n") == said
    _await_end(pids)


def _await_end(pids: list[int]) -> None:
    deadline = time.monotonic() + 10
    while alive := [pid for pid in pids if _alive(pid)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.02)


def _pids(results: Iterator[PartResult]) -> set[int]:
    return {result.counters["pid"] for result in results}


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
