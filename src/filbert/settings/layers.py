"""The layers of settings: a file, the environment, the command line.

Guarantee: each value is typed and checked in the layer that says it, so that an error can name
the file and line, the variable, or the option.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.settings.catalog import Setting, catalog
from filbert.settings.nutch_missing import CHAIN_PROPERTIES
from filbert.settings.nutch_names import NUTCH_NAMES
from filbert.settings.translate import is_nutch_name, translate
from filbert.settings.values import from_text, from_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Layer", "Source", "from_environment", "from_file", "from_overrides"]

_ALIASES = {"plugins": "plugins.files"}
_OTHER_VARIABLES = frozenset({"FILBERT_LOG_FORMAT", "FILBERT_LOG_LEVEL"})  # of the command line
_ENVIRONMENT = re.compile(r"FILBERT_(?:([A-Z]+)__([A-Z0-9_]+)|(PLUGINS))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a value came from.

    Attributes:
        layer: `default`, `crawl folder`, `file`, `environment` or `command line`.
        where: The file and line, the variable, or the option; Nutch's name when that was used.
    """

    layer: str
    where: str

    def __str__(self) -> str:
        """Return both, for people."""
        return f"{self.layer}: {self.where}" if self.where else self.layer


@dataclass(slots=True)
class Layer:
    """Typed values of one layer, by dotted name."""

    values: dict[str, tuple[object, Source]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def from_file(path: Path) -> Layer:
    """Read a settings file; a missing one is an empty layer.

    Raises:
        UserError: It is no UTF-8, no TOML, or says something wrong; names the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return Layer()
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8 (byte {error.start})"
        raise UserError(msg, hint="Save it as UTF-8.") from None
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise UserError(msg) from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        msg = f"{path} is not TOML: {error}"
        raise UserError(msg, hint='A setting is a line such as: name = "value"') from None
    return _from_flat(dict(_flat(content, "")), path, text)


def _from_flat(flat: Mapping[str, object], path: Path, text: str) -> Layer:
    layer, nutch = Layer(), {}
    for written, value in flat.items():
        where = f"{path.name} line {_line_of(text, written)}"
        setting = catalog().get(_ALIASES.get(written, written))
        if setting is None:
            _known(written, f"{path} line {_line_of(text, written)}")
            nutch[written] = _as_text(value)
            continue
        try:
            typed = from_toml(setting, value)
        except ValueError as error:
            msg = f"{path} line {_line_of(text, written)}: {error}"
            raise UserError(msg) from None
        source = Source(layer="file", where=where)
        layer.values[setting.name] = (_located(setting, typed, path.parent), source)
    _add_nutch(layer, nutch, Source(layer="file", where=path.name), path.parent)
    return layer


def from_environment(environ: Mapping[str, str]) -> Layer:
    """Read `FILBERT_<SECTION>__<NAME>` variables.

    Raises:
        UserError: A variable names no setting, or its value is wrong.
    """
    layer = Layer()
    for variable in sorted(environ):
        match = _ENVIRONMENT.fullmatch(variable)
        if match is None:
            if variable.startswith("FILBERT_") and variable not in _OTHER_VARIABLES:
                layer.warnings.append(_meant(variable))
            continue
        name = "plugins" if match[3] else f"{match[1]}.{match[2]}".lower()
        setting = catalog().get(_ALIASES.get(name, name))
        if setting is None:
            raise _unknown(name, f"environment variable {variable}")
        source = Source(layer="environment", where=variable)
        layer.values[setting.name] = (_typed(setting, environ[variable], source), source)
    return layer


def _meant(variable: str) -> str:
    """Say that a variable sets nothing; refuse it where it can only be a setting misspelt.

    That is `FILBERT_HTTP_AGENT_NAME`, where two underscores should part section and name.
    """
    right = {"FILBERT_" + name.replace(".", "__").upper(): name for name in catalog()}
    for one in right:
        if variable.replace("__", "_") == one.replace("__", "_"):
            raise UserError(
                f"environment variable {variable}: there is no such setting",
                hint=f"Did you mean {one}, with two underscores?",
            )
    near = difflib.get_close_matches(variable, right, n=1, cutoff=0.75)
    hint = f"did you mean {near[0]}?" if near else "a setting is FILBERT_<SECTION>__<NAME>"
    return f"environment variable {variable} sets nothing: {hint}"


def from_overrides(overrides: Sequence[str]) -> Layer:
    """Read `name=value` pairs, as `-D` gives them; the last of a name counts.

    Raises:
        UserError: A pair names no setting, has no `=`, or its value is wrong.
    """
    layer, nutch = Layer(), {}
    for pair in overrides:
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            msg = f"-D {pair}: this is no setting"
            raise UserError(msg, hint="Write -D name=value, such as -D fetcher.threads=20")
        setting = catalog().get(_ALIASES.get(name, name))
        if setting is None:
            _known(name, f"-D {pair}")
            nutch[name] = text
            continue
        source = Source(layer="command line", where=f"-D {name}")
        layer.values[setting.name] = (_typed(setting, text, source), source)
    _add_nutch(layer, nutch, Source(layer="command line", where="-D"), Path.cwd())
    return layer


def _add_nutch(layer: Layer, properties: dict[str, str], source: Source, base: Path) -> None:
    """Translate the Nutch names of a layer; our own names in it go before them."""
    try:
        result = translate(properties)
    except ValueError as error:
        msg = f"{source.where}: {error}"
        raise UserError(msg) from None
    for name, issue in result.not_yet.items():
        msg = (
            f"{source.where}: {name} is a setting of Nutch that filbert does not have yet ({issue})"
        )
        raise UserError(msg, hint="Leave it out; `filbert config import` lists all such names.")
    for name, (text, nutch_name) in result.values.items():
        if name in layer.values:
            continue
        said = Source(layer=source.layer, where=f"{source.where} {nutch_name}")
        setting = catalog()[name]
        layer.values[name] = (_typed(setting, text, said, base), said)
    layer.warnings += [f"{name} sets nothing: {why}" for name, why in result.ignored.items()]
    layer.warnings += result.notes


def _typed(setting: Setting, text: str, source: Source, base: Path | None = None) -> object:
    try:
        value = from_text(setting, text)
    except ValueError as error:
        msg = f"{source.where}: {error}"
        raise UserError(msg) from None
    return _located(setting, value, base or Path.cwd())


def _located(setting: Setting, value: object, base: Path) -> object:
    """Make the paths of a value absolute, so that they mean the same everywhere."""
    if setting.name == "plugins.files" and isinstance(value, tuple):
        return tuple(str((base / one).absolute()) if _is_path(one) else one for one in value)
    if setting.path is not None and isinstance(value, str) and value:
        return str((base / value).absolute())
    return value


def _is_path(name: str) -> bool:
    return name.endswith(".py") or "/" in name


def _known(name: str, where: str) -> None:
    if not is_nutch_name(name):
        raise _unknown(name, where)


def _unknown(name: str, where: str) -> UserError:
    inside = [one for one in catalog() if one.startswith(f"{name}.")]
    if inside:
        return UserError(
            f"{where}: {name} is a section, not a setting",
            hint=f"Set one of its settings, such as {inside[0]}.",
        )
    names = [*catalog(), *_ALIASES, *NUTCH_NAMES, *CHAIN_PROPERTIES]
    last = name.rpartition(".")[2]  # perhaps the right name in the wrong section
    near = [one for one in catalog() if one.rpartition(".")[2] == last]
    near = near or difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    hint = (
        f"Did you mean {' or '.join(near[:3])}?"
        if near
        else "`filbert config show` lists all settings."
    )
    return UserError(f"{where}: there is no setting {name}", hint=hint)


def _flat(content: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(str(one) for one in value)
    return str(value)


def _line_of(text: str, name: str) -> int:
    """Find the line that sets a dotted name: a look at the text, for people's eyes only."""
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([^\]]+?)\s*\]", line):
            section = _bare(header[1]) + "."
        elif (key := re.match(r"\s*([^=#]+?)\s*=", line)) and section + _bare(key[1]) == name:
            return number
    return 1


def _bare(key: str) -> str:
    return re.sub(r"""["'\s]""", "", key)
