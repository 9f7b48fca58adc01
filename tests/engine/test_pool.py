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
from filbert.engine.pool import run_parts
from filbert.errors import EngineError, UserError

if TYPE_CHECKING:
    from filbert.engine.base import PageTask

PROGRAM = """
import os, time
from filbert.engine.base import Part, PartResult
from filbert.engine.pool import run_parts

class Sleep:
    def __call__(self, part):
        print(os.getpid(), flush=True)
        time.sleep(30)
        return PartResult(number=part.number)

if __name__ == "__main__":
    try:
        list(run_parts(Sleep(), [Part(number=0), Part(number=1)], processes=2))
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


def test_one_process_does_the_parts_in_order_here(square: PageTask) -> None:
    """With one process, parts run in this process, in order."""
    got = [r.counters["square"] for r in run_parts(square, parts(*"abc"), processes=1)]
    assert got == [0, 1, 4]


def test_an_error_of_a_task_names_its_part(square: PageTask) -> None:
    """A task that breaks becomes an EngineError with the part; filbert's own errors pass."""
    with pytest.raises(EngineError, match="part 1 failed: ZeroDivisionError: broken"):
        list(run_parts(square, parts("", "break"), processes=1))
    with pytest.raises(UserError, match="wrong file"):
        list(run_parts(square, parts("user"), processes=1))


@pytest.mark.slow
def test_two_processes_do_all_parts(square: PageTask) -> None:
    """Every part's result comes, whichever worker did it."""
    got = sorted(r.number for r in run_parts(square, parts(*"abcdef"), processes=2))
    assert got == [0, 1, 2, 3, 4, 5]


@pytest.mark.slow
def test_errors_cross_the_process_with_their_hint(square: PageTask) -> None:
    """A FilbertError raised in a worker arrives as itself."""
    with pytest.raises(UserError) as caught:
        list(run_parts(square, parts("user", ""), processes=2))
    assert (caught.value.message, caught.value.hint) == ("wrong file", "name another")


@pytest.mark.slow
def test_a_dead_worker_names_its_part(square: PageTask) -> None:
    """A worker killed from outside is an EngineError that says which part it held."""
    with pytest.raises(EngineError, match=r"part 1 died \(killed by SIGKILL\)"):
        list(run_parts(square, parts("", "die", ""), processes=2))


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
    deadline = time.monotonic() + 10
    while alive := [pid for pid in pids if _alive(pid)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
