"""Writes the pages of `docs/reference/` from the code, so that they cannot disagree with it.

`make docs` runs it; a test checks that what lies there is what it would write.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
import tomllib
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import click

from filbert.cli.commands import COMMANDS
from filbert.cli.failures import EXIT_CODES
from filbert.cli.group import filbert
from filbert.model import schemas, statuses
from filbert.plugins import contracts
from filbert.settings.catalog import Setting, catalog
from filbert.settings.nutch_names import NUTCH_NAMES
from filbert.settings.root import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).resolve().parent
HEAD = "<!-- Written by `make docs` from the code; change it there. -->\n\n"


def settings_page() -> str:
    """Every setting: default, meaning, Nutch's names."""
    lines = [
        HEAD + "# Settings\n",
        (
            "Defaults < rule files in the crawl folder < `filbert.toml` < environment "
            "(`FILBERT_FETCHER__THREADS=20`) < `-D fetcher.threads=20`. Nutch's names are taken in "
            "the file and by `-D`. `filbert config show` says what holds and why.\n"
        ),
    ]
    nutch: dict[str, list[str]] = {}
    for name, (ours, _) in NUTCH_NAMES.items():
        nutch.setdefault(ours, []).append(f"`{name}`")
    section = ""
    for setting in catalog().values():
        mine = setting.name.split(".")[0]
        if mine != section:
            section = mine
            lines += [
                f"\n## {section}\n",
                f"{_first_line(Settings.model_fields[section].annotation)}\n",
                "| setting | default | meaning | Nutch |",
                "|---|---|---|---|",
            ]
        lines.append(
            f"| `{setting.name}` | {_shown(setting.default)} | {_meaning(setting)} | "
            f"{', '.join(nutch.get(setting.name, []))} |"
        )
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Every command with its help."""
    lines = [HEAD + "# Commands\n", "## Exit codes\n", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {_cell(meaning)} |" for code, meaning in EXIT_CODES.items()]
    lines += ["", "What follows is what `filbert COMMAND --help` prints.\n"]
    for name, entry in COMMANDS.items():
        command = filbert.get_command(click.Context(filbert), name)
        assert command is not None
        lines += [f"## {name}\n", f"{entry.summary}\n"]
        for path, one in _commands(f"filbert {name}", command):
            context = click.Context(
                one,
                info_name=path,
                terminal_width=88,
                max_content_width=88,
                help_option_names=["-h", "--help"],
            )
            lines += ["```text", one.get_help(context).rstrip(), "```\n"]
    return "\n".join(lines)


def plugins_page() -> str:
    """Every built-in plugin, by extension point."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        HEAD + "# Built-in plugins\n",
        (
            "They enter by entry points, as a stranger's package does. What a plugin must have, "
            "and what it takes and gives, [stands below](#contracts)."
        ),
    ]
    for group, plugins in sorted(project.get("entry-points", {}).items()):
        lines += [f"\n## {group}\n", "| name | what it does |", "|---|---|"]
        for name, target in plugins.items():
            module, _, attribute = target.partition(":")
            plugin = getattr(importlib.import_module(module), attribute)
            lines.append(f"| `{name}` | {_first_line(plugin)} |")
    return "\n".join([*lines, *_contracts()]) + "\n"


def _contracts() -> Iterator[str]:
    """Yield the methods of each extension point, and the fields of what they take and give."""
    yield "\n# Contracts\n"
    yield "All names are imported from `filbert.plugins.contracts`."
    for name in contracts.__all__:
        thing = getattr(contracts, name)
        yield f"\n## {name}\n"
        yield f"{_first_line(thing)}\n"
        yield "```text"
        if isinstance(thing, type) and dataclasses.is_dataclass(thing):
            yield from _fields(name, thing)
        elif isinstance(thing, type) and issubclass(thing, Enum):
            yield ", ".join(f"{name}.{member.name}" for member in thing)
        else:
            yield from _methods(thing)
        yield "```"


def _fields(name: str, record: type) -> Iterator[str]:
    """Yield the call that makes a record, a line for each field."""
    parameters = inspect.signature(record).parameters.values()
    is_named = any(one.kind is inspect.Parameter.KEYWORD_ONLY for one in parameters)
    yield f"{name}({'*,' if is_named else ''}"
    for one in parameters:
        default = "" if one.default is inspect.Parameter.empty else f" = {one.default!r}"
        if isinstance(one.default, Enum):
            default = f" = {type(one.default).__name__}.{one.default.name}"
        yield f"    {one.name}: {one.annotation}{default.replace('<factory>', '{}')},"
    yield ")"


def _methods(contract: type) -> Iterator[str]:
    """Yield the attributes and methods that a plugin must have."""
    annotations = inspect.get_annotations(contract)
    yield from (f"{attribute}: {kind}" for attribute, kind in annotations.items())
    for attribute, value in vars(contract).items():
        function = value.fget if isinstance(value, property) else value
        function = function.__func__ if isinstance(function, classmethod) else function
        if not inspect.isfunction(function) or function.__module__ != contract.__module__:
            continue
        if attribute.startswith("_") and attribute not in _DOORS:
            continue
        signature = str(inspect.signature(function)).replace("'", "")
        word = "async def" if inspect.iscoroutinefunction(function) else "def"
        if isinstance(value, classmethod):
            yield "@classmethod"
        if isinstance(value, property):
            yield f"{attribute}: {signature.partition(' -> ')[2]}"
        else:
            yield f"{word} {attribute}{signature}: ..."


_DOORS = frozenset({"__enter__", "__exit__", "__aenter__", "__aexit__"})


def statuses_page() -> str:
    """Every status, with Nutch's number."""
    lines = [HEAD + "# Statuses\n", "The numbers are Nutch's."]
    for name in statuses.__all__:
        enum = getattr(statuses, name)
        lines += [f"\n## {name}\n", f"{_first_line(enum)}\n", "| number | name |", "|---|---|"]
        lines += [f"| {int(member)} | `{member.name.lower()}` |" for member in enum]
    return "\n".join(lines) + "\n"


def tables_page() -> str:
    """Every table of a crawl folder, with its columns."""
    lines = [
        HEAD + "# Tables\n",
        (
            "Each is a Delta Lake table: pandas, Polars, DuckDB and Spark open it. Times are UTC "
            "timestamps; `filbert sql` shows them as such, in views with statuses by name."
        ),
    ]
    for table in schemas.TABLES.values():
        key = ", ".join(f"`{name}`" for name in table.key)
        lines += [f"\n## {table.name}\n", f"Key: {key}.\n"]
        lines += ["| column | type | null | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{column.name}` | {column.type} | {'yes' if column.nullable else 'no'} | "
            f"{_cell(column.doc)} |"
            for column in table.columns
        ]
    return "\n".join(lines) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "plugins.md": plugins_page,
    "statuses.md": statuses_page,
    "tables.md": tables_page,
}


def main(folder: Path = HERE / "reference") -> None:
    """Write all pages into a folder."""
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


def _commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, one in command.commands.items():
            yield from _commands(f"{path} {name}", one)


def _meaning(setting: Setting) -> str:
    choices = ", ".join(f"`{choice}`" for choice in setting.choices if choice)
    return _cell(setting.description + (f" One of {choices}." if choices else ""))


def _shown(value: object) -> str:
    if value is None:
        return "off"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return ", ".join(f"`{one}`" for one in value)
    return f"`{value}`" if value != "" else ""


def _first_line(thing: object) -> str:
    return _cell((inspect.getdoc(thing) or "").partition("\n\n")[0])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
