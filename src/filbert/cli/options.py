"""Options and arguments that commands share.

Guarantee: a command that uses them reads settings, logs and prints as all others do. This module
imports click alone.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from filbert.cli.logs import FORMATS, LEVELS, set_up_logs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from filbert.settings import Settings
    from filbert.store.segments import Segment

__all__ = [
    "ReplayCommand",
    "chain_options",
    "common_options",
    "crawl_dir_argument",
    "format_option",
    "note_under_way",
    "output_option",
    "read_settings",
    "replay_option",
    "segments_argument",
    "urls_of",
]

_Command = TypeVar("_Command", bound="Callable[..., object]")

_REPLAY = "--replay"
OUTPUT_FORMATS = ("table", "jsonl", "csv")


def crawl_dir_argument(command: _Command) -> _Command:
    """Add the argument CRAWL_DIR, passed on as `crawl_dir: Path`."""
    return click.argument(
        "crawl_dir", metavar="CRAWL_DIR", type=click.Path(path_type=Path, file_okay=False)
    )(command)


def segments_argument(command: _Command) -> _Command:
    """Add the argument [SEGMENT]..., passed on as `segments: tuple[str, ...]`."""
    return click.argument("segments", metavar="[SEGMENT]...", nargs=-1)(command)


def chain_options(what: str) -> Callable[[_Command], _Command]:
    """Add `--no-filter` and `--no-normalize`, passed on as `judge` and `normalize: bool | None`.

    They are False when given, else None: as the settings say. `what` are the URLs concerned.
    """

    def add(command: _Command) -> _Command:
        decorated = click.option(
            "--no-normalize",
            "normalize",
            is_flag=True,
            callback=_off,
            help=f"Do not normalise {what}.",
        )(command)
        return click.option(
            "--no-filter",
            "judge",
            is_flag=True,
            callback=_off,
            help=f"Do not apply the URL filters to {what}.",
        )(decorated)

    return add


def common_options(command: _Command) -> _Command:
    """Add `-D name=value` (passed on as `overrides: tuple[str, ...]`) and the log options."""
    decorated = click.option(
        "-D",
        "overrides",
        metavar="NAME=VALUE",
        multiple=True,
        help="Set a setting, by our name or Nutch's. May be given several times.",
    )(command)
    decorated = click.option(
        "--log-format",
        type=click.Choice(FORMATS),
        default="auto",
        show_default=True,
        envvar="FILBERT_LOG_FORMAT",
        expose_value=False,
        callback=_remember_format,
        is_eager=True,
        help="How log lines look; auto: for people on a terminal, else plain.",
    )(decorated)
    return click.option(
        "--log-level",
        type=click.Choice(LEVELS, case_sensitive=False),
        default="info",
        show_default=True,
        envvar="FILBERT_LOG_LEVEL",
        expose_value=False,
        callback=_start_logs,
        help="The least level of log lines that are shown.",
    )(decorated)


def format_option(*extra: str) -> Callable[[_Command], _Command]:
    """Add `--format`, passed on as `form: str`: table, jsonl, csv, and what a command adds."""
    return click.option(
        "--format",
        "form",
        type=click.Choice([*OUTPUT_FORMATS, *extra]),
        default=OUTPUT_FORMATS[0],
        show_default=True,
        help="A table for people, or JSON lines or CSV for programs.",
    )


class ReplayCommand(click.Command):
    """A command whose `--replay` takes all names up to the next option, as a shell's `*` gives."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say `--replay` before each name that follows it."""
        spread: list[str] = []
        of_replay = False
        for arg in args:
            if arg.startswith("-"):
                of_replay = arg == _REPLAY
                spread += [] if of_replay else [arg]
            else:
                spread += [_REPLAY, arg] if of_replay else [arg]
        if args[-1:] == [_REPLAY]:
            spread.append(_REPLAY)  # click says that a name is missing
        return super().parse_args(ctx, spread)


def replay_option(command: _Command) -> _Command:
    """Add `--replay FILE...` to a `ReplayCommand`, passed on as `replay: tuple[Path, ...]`."""
    return click.option(
        _REPLAY,
        metavar="FILE...",
        multiple=True,
        type=click.Path(path_type=Path, exists=True),
        help="Answer from these WARC files, or folders of them, and ask no host. Takes all names "
        "up to the next option.",
    )(command)


def output_option(command: _Command) -> _Command:
    """Add `-o FILE` of `--dump`, passed on as `output: Path | None`; its folder is there."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, dir_okay=False, writable=True),
        callback=_in_a_folder,
        help="Of --dump: write here instead of to stdout.",
    )(command)


def read_settings(crawl_dir: Path | None, overrides: Sequence[str] = ()) -> Settings:
    """Return the settings that hold for a crawl folder; say warnings on stderr.

    Raises:
        UserError: A name is unknown or a value wrong.
    """
    from filbert.settings import load_settings

    loaded = load_settings(crawl_dir, overrides, os.environ)
    for warning in loaded.warnings:
        click.echo(f"note: {warning}", err=True)
    return loaded.settings


def note_under_way(segments: Iterable[Segment]) -> None:
    """Say on stderr which segments have captures that no table shows yet."""
    from filbert.reports.under_way import not_shown

    for line in not_shown(segments):
        click.echo(f"note: {line}", err=True)


def urls_of(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the URLs of the arguments, or, without any, the lines of the standard input."""
    if arguments:
        yield from arguments
        return
    for line in sys.stdin:
        if url := line.strip():
            yield url


def _off(_ctx: click.Context, _parameter: click.Parameter, given: bool) -> bool | None:  # noqa: FBT001 (click's signature)
    return False if given else None


def _in_a_folder(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and not value.parent.is_dir():
        message = f"there is no folder {value.parent} to write {value.name} into"
        raise click.BadParameter(message, ctx, parameter)
    return value


def _remember_format(ctx: click.Context, _parameter: click.Parameter, value: str) -> str:
    ctx.meta["filbert.log_format"] = value
    return value


def _start_logs(ctx: click.Context, _parameter: click.Parameter, value: str) -> str:
    set_up_logs(value, ctx.meta.get("filbert.log_format", "auto"))
    return value
