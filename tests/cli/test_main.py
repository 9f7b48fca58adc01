"""The command line itself: help, errors, exit codes, budget."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.cli.commands import COMMANDS
from filbert.cli.failures import EXIT_CODES, exit_code_of
from filbert.errors import DataError, EngineError, PluginError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

_HEAVY = (
    "aiodns", "deltalake", "duckdb", "fastwarc", "pyarrow", "pycurl", "pydantic", "pyspark",
    "resiliparse", "rich", "selectolax", "structlog", "tantivy", "tldextract", "uvloop",
)  # fmt: skip


def _raises(error: BaseException) -> Callable[[], object]:
    def call() -> object:
        raise error

    return call


def test_help_imports_nothing_heavy() -> None:
    """`filbert --help` stays quick because it loads none of the heavy libraries."""
    code = (
        "import sys, filbert.cli\n"
        "assert filbert.cli.run(['--help']) == 0\n"
        f"print([name for name in {_HEAVY!r} if name in sys.modules])"
    )

    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert got.stdout.splitlines()[-1] == "[]"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Each command of the table has its line in the help."""
    assert run(["--help"]) == 0

    words = capsys.readouterr().out.split()
    assert [name for name in COMMANDS if name not in words] == []


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_examples_in_the_help_keep_their_lines(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An example can be copied from the help: no mark of click's stands in it."""
    assert run([*command, "--help"]) == 0

    out = capsys.readouterr().out
    assert "\\b" not in out
    assert [line for line in out.splitlines() if line.count("filbert ") > 1] == []


def test_an_unknown_command_refuses_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped command is exit 2 and a proposal."""
    assert run(["serch"]) == 2

    assert "Did you mean search?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (UserError("wrong", hint="right"), 2, "error: wrong\n  right\n"),
        (DataError("held"), 3, "error: held\n"),
        (KeyboardInterrupt(), 130, "the same command goes on"),
        (OSError(errno.ENOSPC, "full"), 3, "there is no room left on the disk"),
        (RuntimeError("oops"), 70, "this is a bug in filbert"),
    ],
)
def test_errors_come_to_exit_codes(
    error: BaseException, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each kind of error has its exit code and says what to do."""
    assert exit_code_of(_raises(error)) == code

    assert words in capsys.readouterr().err


def test_every_exit_code_is_in_the_reference() -> None:
    """The codes are one table, which the reference prints; errors use no other."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")][1:]
    assert [int(row.split("|")[1]) for row in rows] == sorted(EXIT_CODES)
    errors = (UserError, DataError, PluginError, EngineError)
    assert {one.exit_code for one in errors} <= set(EXIT_CODES)


def test_what_a_command_returns_is_the_exit_code() -> None:
    """`generate` says 1 when nothing is due; None is 0."""
    assert [exit_code_of(lambda: 1), exit_code_of(lambda: None)] == [1, 0]


@pytest.mark.parametrize(
    "call",
    [
        "run(['--help'])",
        "run(['sql', '--help'])",
        "run(['config', 'show'])",  # a table, by rich
        "run(['config', 'show', '--format', 'csv'])",
        "run(['no-such-command'])",
        "exit_code_of(lambda: print('x' * 100_000))",
        "exit_code_of(lambda: print('x'))",
    ],
)
def test_a_reader_that_went_away_is_no_error(call: str) -> None:
    """`filbert … | head` ends with 141 and says nothing, whichever library wrote."""
    read, write = os.pipe()
    os.close(read)
    code = (
        f"from filbert.cli import run\nfrom filbert.cli.failures import exit_code_of\nexit({call})"
    )
    with os.fdopen(write) as closed:
        wrong = "no-such" in call
        got = subprocess.run(
            [sys.executable, "-c", code],
            stdout=subprocess.DEVNULL if wrong else closed,
            stderr=closed if wrong else subprocess.PIPE,
            check=False,
        )

    assert (got.returncode, got.stderr or b"") == (141, b"")


_WAITING = """
import signal
from filbert import cli
from filbert.cli.failures import exit_code_of
def wait():
    print("ready", flush=True)
    signal.pause()
signal.signal(signal.SIGINT, signal.{interrupt})
cli.run = lambda: exit_code_of(wait)
cli.main()
"""


@pytest.mark.parametrize("interrupt", ["default_int_handler", "SIG_IGN"])
def test_term_ends_a_command_as_ctrl_c_does(interrupt: str) -> None:
    """A TERM signal ends with 130 and says how to go on, even where Ctrl-C is ignored."""
    code = _WAITING.format(interrupt=interrupt)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)

    assert process.returncode == 130
    assert "interrupted; what was done is safe, the same command goes on" in said
