"""The command group that imports a command only when it is called.

Guarantee: `filbert --help` reads the table alone.
"""

from __future__ import annotations

import difflib
import importlib
from typing import Any

import click

from filbert import __version__
from filbert.cli.commands import COMMANDS
from filbert.cli.failures import telling_readers_gone

__all__ = ["LazyGroup", "filbert"]


class LazyGroup(click.Group):
    """A group whose commands come from the table."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read a command line; the help that it may print can lose its reader."""
        with telling_readers_gone():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Call the command; whatever it prints can lose its reader."""
        with telling_readers_gone():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            msg = f"{COMMANDS[cmd_name].target} is no click command"
            raise TypeError(msg)
        command.name = cmd_name
        keep_lines(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of a call; an unknown one refuses with the nearest."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean {near[0]}?" if near else " `filbert --help` lists all commands."
            ctx.fail(f"There is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, without importing one."""
        del ctx
        width = max(len(name) for name in COMMANDS)
        for group in dict.fromkeys(entry.group for entry in COMMANDS.values()):
            with formatter.section(group):
                formatter.write_dl(
                    [
                        (name.ljust(width), entry.summary)
                        for name, entry in COMMANDS.items()
                        if entry.group == group
                    ]
                )


def keep_lines(command: click.Command) -> None:
    """Make the mark of paragraphs that keep their lines what click looks for.

    It is the character U+0008; a raw docstring, which ruff asks for, has backslash and b.
    """
    if command.help:
        command.help = command.help.replace("\\b\n", "\b\n")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="filbert")
def filbert() -> None:
    r"""Crawl the web in rounds, politely, and search what was found.

    \b
    A first crawl:   filbert crawl my-crawl/ --seeds https://example.org/ --rounds 3 \
                       -D http.agent_name=my-bot
    Then:            filbert search my-crawl/ "some words"

    Exit codes: 0 done, 1 nothing came (generate chose no page), 2 wrong use, 3 damaged or held
    data, 130 interrupted.
    """


keep_lines(filbert)
