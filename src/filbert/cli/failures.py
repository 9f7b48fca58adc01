"""From errors to words on the terminal and exit codes.

Guarantee: an error that filbert raises on purpose never shows a traceback; a bug always does.
Exit codes: 0 done, or done before; 1 generate selected nothing, or a crawl asked and not one page
came; 2 wrong use, 3 damaged or held data or no room, 70 a bug in
filbert, 130 interrupted, 141 the reader of our output went away.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import TYPE_CHECKING

import click

from filbert.errors import FilbertError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BUG", "HELD", "INTERRUPTED", "WRONG_USE", "exit_code_of"]

WRONG_USE, HELD, BUG, INTERRUPTED, PIPE_CLOSED = 2, 3, 70, 130, 141


def exit_code_of(call: Callable[[], object]) -> int:
    """Call, and say by which code the process should end; errors go to stderr."""
    try:
        result = call()
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted; what was done is safe, the same command goes on")
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return WRONG_USE
    except FilbertError as error:
        _say(str(error))
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 (the last border: a bug shows its traceback)
        return _of_system(error)
    return result if isinstance(result, int) else 0


def _of_system(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" ({error.filename})" if error.filename else ""
        _say(
            f"there is no room left on the disk{where}\n"
            "  The last complete version is intact; make room, then run the same command again."
        )
        return HELD
    traceback.print_exception(error)
    _say("this is a bug in filbert; please report the lines above")
    return BUG


def _say(text: str) -> None:
    click.echo(f"{click.style('error:', fg='red', bold=True)} {text}", err=True)
