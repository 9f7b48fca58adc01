"""The command line of the old fetcher, as it was: `filbert nutch fetch07`.

Guarantee: options and log lines of Nutch 0.6: `[-logLevel level] [-showThreadID] [-threads n] dir`,
and `-local`, `-noParsing`, which it also took. Exit codes are ours.
Source: Nutch 0.6 `fetcher.Fetcher.main`, `util.LogFormatter`.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["command"]

_LEVELS = ("SEVERE", "WARNING", "INFO", "CONFIG", "FINE", "FINER", "FINEST", "ALL", "OFF")
_USAGE = "Usage: filbert nutch fetch07 [-logLevel level] [-showThreadID] [-threads n] dir"


class _AsItWas(click.Command):
    """Takes its words as they are: the options of old are no options of click's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args in (["-h"], ["--help"]):
            click.echo(ctx.get_help())
            ctx.exit()
        ctx.params["words"] = tuple(args)
        return []


@click.command(cls=_AsItWas, options_metavar="", add_help_option=False)
@click.argument("words", metavar="[-logLevel L] [-showThreadID] [-threads N] DIR", nargs=-1)
def command(words: tuple[str, ...]) -> None:
    r"""Fetch a segment of Nutch 0.6 or 0.7, and write its outputs as that did.

    DIR has a `fetchlist`; `fetcher`, `content`, `parse_text` and `parse_data` are written beside
    it. The fetch is ours: polite, robots.txt obeyed. `-D name=value` sets a setting;
    `http.agent_name` must be set for all but hosts of this machine.

    \b
    filbert nutch fetch07 -threads 10 segments/20060331120000 -D http.agent_name=my-robot
    """
    from filbert.cli.logs import set_up_logs
    from filbert.steps.nutch_fetch07 import run

    asked = _read(words)
    set_up_logs("warning")
    say = _say_at(asked.level, show_thread_id=asked.show_thread_id)
    say(f"logging at {asked.level}")
    run(Path(asked.folder), (f"fetcher.threads={asked.threads}", *asked.settings), os.environ, say)


@dataclass(slots=True)
class _Asked:
    """What the words of the command line say."""

    level: str = "INFO"
    show_thread_id: bool = False
    threads: int = 10
    folder: str = ""
    settings: tuple[str, ...] = ()


def _read(words: tuple[str, ...]) -> _Asked:
    """Read the words; the last that is no option is the folder, as of old.

    Raises:
        click.UsageError: No folder; an option, a level or a number that is none.
    """
    asked = _Asked()
    rest = iter(words)
    for word in rest:
        if word == "-logLevel":
            asked.level = next(rest, "")
            if asked.level not in _LEVELS:
                raise click.UsageError(f'Bad level "{asked.level}"; there are {", ".join(_LEVELS)}')
        elif word == "-threads":
            asked.threads = _number(next(rest, ""))
        elif word == "-showThreadID":
            asked.show_thread_id = True
        elif word == "-D":
            asked.settings = (*asked.settings, next(rest, ""))
        elif word in ("-local", "-noParsing"):
            click.echo(f"note: {word} changes nothing here", err=True)
        elif word.startswith("-"):
            raise click.UsageError(f"there is no option {word}\n{_USAGE}")
        else:
            asked.folder = word
    if not asked.folder:
        raise click.UsageError(_USAGE)
    return asked


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise click.UsageError(f"-threads {text}: this is no number of threads")
    return int(text)


def _say_at(level: str, *, show_thread_id: bool) -> Callable[[str], None]:
    """Return what writes a line of the log, as the old formatter did."""
    quiet = level in ("SEVERE", "WARNING", "OFF")
    thread = f" {threading.get_ident() % 100_000}" if show_thread_id else ""

    def say(text: str) -> None:
        if not quiet:
            click.echo(f"{time.strftime('%y%m%d %H%M%S')}{thread} {text}", err=True)

    return say
