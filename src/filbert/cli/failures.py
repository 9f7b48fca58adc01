"""From errors to words on the terminal and exit codes.

Guarantee: an error that filbert raises on purpose never shows a traceback; a bug always does.
Source: Nutch's generate ends with 1 if it chose nothing, and every other step without work with 0.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import sys
import traceback
from typing import TYPE_CHECKING

import click

from filbert.errors import FilbertError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "BUG",
    "EXIT_CODES",
    "HELD",
    "INTERRUPTED",
    "WRONG_USE",
    "ReaderGoneError",
    "exit_code_of",
    "telling_readers_gone",
]

WRONG_USE, HELD, BUG, INTERRUPTED, PIPE_CLOSED = 2, 3, 70, 130, 141

EXIT_CODES = {
    0: "Done; also a step that found its work done before, or no work: a script goes on.",
    1: "Nothing came of it: `generate` chose no page, a `crawl` asked and not one page came, a "
    "search has no hit, a URL that was asked for is not there, `parsechecker` could not parse.",
    WRONG_USE: "Wrong use; the message says what is right. Nothing was changed.",
    HELD: "The data is damaged or held by another command, or the disk is full or cannot be "
    "written. What was complete before is intact.",
    BUG: "A bug in filbert.",
    INTERRUPTED: "Interrupted or stopped as asked; the same command goes on.",
    PIPE_CLOSED: "The reader of the output went away, such as `head`; nothing is said.",
}
"""Each code with which a command can end, and what it means."""


class ReaderGoneError(Exception):
    """The reader of our output went away; no OSError, which click would end with code 1."""


@contextlib.contextmanager
def telling_readers_gone() -> Iterator[None]:
    """Turn what says that the reader of our output went away into `ReaderGoneError`."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # rich ends the process so
            raise ReaderGoneError from error
        raise


_DENIED = {
    errno.EROFS: "cannot be written: read-only file system",
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
}


def exit_code_of(call: Callable[[], object]) -> int:
    """Call, and say by which code the process should end; errors go to stderr."""
    try:
        return _code_of(call)
    except (BrokenPipeError, ReaderGoneError):
        _end_quietly()
        return PIPE_CLOSED


def _code_of(call: Callable[[], object]) -> int:
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
    except (BrokenPipeError, ReaderGoneError):
        raise
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
    if isinstance(error, OSError) and error.errno in _DENIED and error.filename:
        _say(f"{error.filename}: {_DENIED[error.errno]}\n  What was complete before is intact.")
        return HELD
    traceback.print_exception(error)
    _say("this is a bug in filbert; please report the lines above")
    return BUG


def _end_quietly() -> None:
    """Let nothing more be said to who went away, at the end of the process neither."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        if poll.poll(0):  # the other end is closed
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _say(text: str) -> None:
    click.echo(f"{click.style('error:', fg='red', bold=True)} {text}", err=True)
