"""`nutch-site.xml` read, and written again as `filbert.toml`.

Guarantee: the XML is read without entities, DTDs or includes, so that a file from somewhere else
cannot read files or eat memory; each of its properties is in what comes out: as a setting, or in
a comment that says why not.
Source: Hadoop's `Configuration` format.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from filbert.errors import UserError
from filbert.settings.catalog import catalog
from filbert.settings.translate import Translation, translate
from filbert.settings.values import from_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Imported", "import_site", "read_site"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import came to.

    Attributes:
        toml: The text of a `filbert.toml`.
        taken: How many properties became settings.
        left: How many stand in its comments.
        notes: What else a person should know; in the comments, too.
    """

    toml: str
    taken: int
    left: int
    notes: tuple[str, ...] = ()


def import_site(path: Path) -> Imported:
    """Translate a `nutch-site.xml`.

    Raises:
        UserError: It cannot be read, is no such file, or values are wrong: names them all.
    """
    site = read_site(path)
    complaints: dict[str, str] = {}
    result = translate(site.properties, complaints)
    lines = _settings(result, complaints)
    if complaints:
        wrong = [
            f"{path} line {site.lines.get(name, 1)}: {_of_property(name, why)}"
            for name, why in sorted(complaints.items(), key=lambda one: site.lines.get(one[0], 1))
        ]
        raise UserError("\n".join(wrong), hint="Mend this there, and import again.")
    result.notes += site.notes
    comments = _comments(result, site.properties)
    head = f"# From {path.name}: settings of this crawl. `filbert config show` explains each.\n"
    left = len(result.not_yet) + len(result.ignored) + len(result.unknown)
    return Imported(
        toml=head + "".join(lines) + "".join(comments),
        taken=len(site.properties) - left,
        left=left,
        notes=tuple(result.notes),
    )


def _of_property(name: str, why: str) -> str:
    return why if why.startswith(f"{name} ") else f"{name}: {why}"


@dataclass(slots=True)
class Site:
    """The properties of a Hadoop configuration file.

    Attributes:
        properties: Text by name: the last of a name, or the first that is final.
        lines: Where each stands.
        notes: Names that stand more than once.
    """

    properties: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_site(path: Path) -> Site:
    """Read a Hadoop configuration file.

    Raises:
        UserError: It cannot be read, or is no such file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise UserError(msg) from None
    reader = _Reader()
    try:
        reader.feed(content)
    except expat.ExpatError as error:
        msg = f"{path} is not XML: {error}"
        raise UserError(msg, hint="A Nutch configuration file is wanted.") from None
    except ValueError as error:
        msg = f"{path}: {error}"
        raise UserError(msg) from None
    return reader.site


@dataclass(slots=True)
class _Reader:
    site: Site = field(default_factory=Site)
    _final: set[str] = field(default_factory=set)
    _line: int = 0
    _parser: expat.XMLParserType | None = None
    _path: list[str] = field(default_factory=list)
    _parts: dict[str, str] = field(default_factory=dict)

    def feed(self, content: bytes) -> None:
        parser = self._parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        parser.Parse(content, True)  # noqa: FBT003 (expat's own signature)

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        self._path.append(name)
        if len(self._path) == 1 and name != "configuration":
            msg = f"the root element is <{name}>, not <configuration>: no Nutch configuration file"
            raise ValueError(msg)
        if name.endswith("include"):
            msg = "it includes another file, which is not read: import that one too"
            raise ValueError(msg)
        if name == "property":
            self._parts.clear()
            self._line = self._parser.CurrentLineNumber if self._parser else 0

    def _text(self, text: str) -> None:
        if self._path[1:2] == ["property"] and len(self._path) == 3:
            self._parts[self._path[2]] = self._parts.get(self._path[2], "") + text

    def _end(self, name: str) -> None:
        self._path.pop()
        if name == "property" and (key := self._parts.get("name", "").strip()):
            self._property(key)

    def _property(self, key: str) -> None:
        """Take a property as Hadoop does: the last counts, but one that is final stays."""
        site = self.site
        if key in site.properties:
            final = key in self._final
            counts = "the first is final, and counts" if final else "the last counts"
            lines = f"lines {site.lines[key]} and {self._line}"
            site.notes.append(f"{key} stands twice ({lines}): {counts}")
            if final:
                return
        site.properties[key] = self._parts.get("value", "")
        site.lines[key] = self._line
        if self._parts.get("final", "").strip() == "true":
            self._final.add(key)

    @staticmethod
    def _entity(name: str, *_rest: object) -> None:
        msg = f"it declares the entity {name!r}: entities are not read"
        raise ValueError(msg)


def _settings(result: Translation, complaints: dict[str, str]) -> list[str]:
    lines: list[str] = []
    section = ""
    for name, setting in catalog().items():
        if name not in result.values:
            continue
        text, nutch_name = result.values[name]
        try:
            value = _toml(from_text(setting, text))
        except ValueError as error:
            complaints[nutch_name] = str(error)
            continue
        mine, _, key = name.partition(".")
        if mine != section:
            lines.append(f"\n[{mine}]\n")
            section = mine
        lines.append(f"{key} = {value}  # {nutch_name}\n")
    return lines


def _comments(result: Translation, properties: dict[str, str]) -> list[str]:
    lines: list[str] = []
    groups: tuple[tuple[str, dict[str, str]], ...] = (
        ("Not yet in filbert", result.not_yet),
        ("Without a counterpart", result.ignored),
        ("Unknown to Nutch 1.22 and to filbert", dict.fromkeys(result.unknown, "")),
    )
    for title, names in groups:
        if names:
            lines.append(f"\n# {title}:\n")
        for name, reason in names.items():
            value = " ".join(properties[name].split())
            lines.append(f"#   {name} = {value}" + (f"  ({reason})\n" if reason else "\n"))
    if result.notes:
        lines.append("\n# To know:\n")
        lines += [f"#   {' '.join(note.split())}\n" for note in result.notes]
    return lines


def _toml(value: object) -> str:
    if value is None:
        return '"off"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
