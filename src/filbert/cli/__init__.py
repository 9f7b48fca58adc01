"""The command line: `filbert <command> <crawl-dir> …`. A door: no logic behind it lives here.

Guarantee: importing this package loads no command and none of the heavy libraries.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "run"]


def run(args: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Args:
        args: The arguments after `filbert`; None takes those of the process.
    """
    from filbert.cli.failures import exit_code_of
    from filbert.cli.group import filbert

    given = sys.argv[1:] if args is None else list(args)

    def call() -> object:
        _check_text(given)
        return filbert.main(args=given, prog_name="filbert", standalone_mode=False)

    return exit_code_of(call)


def _check_text(args: Sequence[str]) -> None:
    """Refuse what no table, query or index can hold: bytes that are no UTF-8."""
    from filbert.errors import UserError

    for number, argument in enumerate(args, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = argument.encode("utf-8", "surrogateescape")[:80]
            raise UserError(
                f"argument {number} is not UTF-8: {shown!r}",
                hint="Write what is not ASCII in UTF-8; in a URL, as %XX.",
            ) from None


def main() -> None:
    """Run the command line of this process, and end it with the exit code.

    A TERM signal does what Ctrl-C does, also where the shell has Ctrl-C ignored (`… &`).
    """
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(run())


def _interrupt(_number: int, _frame: object) -> None:
    """Pass TERM to whoever takes SIGINT now: Python, or the event loop, which ends its tasks."""
    if not callable(signal.getsignal(signal.SIGINT)):
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)
