"""From Nutch's properties to our settings.

Guarantee: each property that goes in comes out as settings, or as a note that says why not.
Properties that belong together (`plugin.includes` and the `*.order` lists) are read together.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from filbert.settings.catalog import catalog
from filbert.settings.nutch_missing import CHAIN_PROPERTIES, needs, without_counterpart
from filbert.settings.nutch_names import NUTCH_NAMES, OLD_NAMES
from filbert.settings.nutch_plugins import chains_of, names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Translation", "is_nutch_name", "substituted", "translate"]

_REFERENCE = re.compile(r"\$\{([^}$\s]+)\}")
_MOST_SUBSTITUTIONS = 20  # Hadoop's Configuration.MAX_SUBST
_UNLIKE = ("urlfilter.order", "indexingfilter.order", "scoring.filter.order")


@dataclass(slots=True)
class Translation:
    """What properties came to.

    Attributes:
        values: Text by setting, and the property that it came from.
        not_yet: Properties of things that are not built yet, and where they will be.
        ignored: Properties that set nothing here, and what to know instead.
        unknown: Properties that neither Nutch 1.22 nor filbert has.
        notes: What else a person should know.
    """

    values: dict[str, tuple[str, str]] = field(default_factory=dict)
    not_yet: dict[str, str] = field(default_factory=dict)
    ignored: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def is_nutch_name(name: str) -> bool:
    """Whether Nutch 1.22, or an older one, has this property."""
    return (
        name in NUTCH_NAMES
        or name in CHAIN_PROPERTIES
        or needs(name) is not None
        or without_counterpart(name) is not None
    )


def translate(
    properties: Mapping[str, str], complaints: dict[str, str] | None = None
) -> Translation:
    """Translate properties, references `${…}` included.

    Args:
        properties: Text by Nutch's property name.
        complaints: Takes what is wrong, by property, where not the first such is to be raised.

    Raises:
        ValueError: A value cannot be read; says of which property.
    """
    result = Translation()
    for name in properties:
        text = substituted(name, properties, result.notes).strip()
        with _collected(name, complaints):
            _one(name, text, result)
    with _collected("plugin.includes", complaints):
        _chains(properties, result)
    return result


@contextmanager
def _collected(name: str, complaints: dict[str, str] | None) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        if complaints is None:
            raise
        complaints[name] = str(error)


def _one(name: str, text: str, result: Translation) -> None:
    if name in NUTCH_NAMES:
        ours, convert = NUTCH_NAMES[name]
        try:
            value = convert(text)
        except ValueError:
            msg = f"{name} cannot be {text!r}: it is {catalog()[ours].expects}"
            raise ValueError(msg) from None
        if value is not None:
            result.values[ours] = (value, name)
        if name in OLD_NAMES:
            result.notes.append(f"{name} is an old name: it is {ours} now")
    elif name in CHAIN_PROPERTIES:
        pass
    elif (reason := without_counterpart(name)) is not None:
        result.ignored[name] = reason
    elif (issue := needs(name)) is not None:
        result.not_yet[name] = issue
    else:
        result.unknown.append(name)


def _chains(properties: Mapping[str, str], result: Translation) -> None:
    if includes := properties.get("plugin.includes", "").strip():
        try:
            chains, notes = chains_of(includes, properties.get("plugin.excludes", "").strip())
        except ValueError as error:
            msg = f"plugin.includes {error}"
            raise ValueError(msg) from None
        result.values |= {ours: (text, "plugin.includes") for ours, text in chains.items()}
        result.notes += [f"plugin.includes has {note}" for note in notes]
    for name in _UNLIKE:  # an order is a whitelist too
        if classes := properties.get(name, "").strip():
            names, notes = names_of(classes)
            result.values[CHAIN_PROPERTIES[name]] = (",".join(names), name)
            result.notes += [f"{name}: {note}" for note in notes]
    _normalizer_order(properties.get("urlnormalizer.order", "").strip(), result)


def _normalizer_order(classes: str, result: Translation) -> None:
    """Sort the normalisers: this order only sorts, unnamed ones run after."""
    if not classes:
        return
    ours = "urls.normalizers"
    default = catalog()[ours].default
    known = ",".join(default) if isinstance(default, tuple) else ""
    active = result.values.get(ours, (known, ""))[0].split(",")
    named, notes = names_of(classes)
    in_order = [one for one in named if one in active]
    in_order += [one for one in active if one and one not in in_order]
    result.values[ours] = (",".join(in_order), "urlnormalizer.order")
    result.notes += [f"urlnormalizer.order: {note}" for note in notes]


def substituted(name: str, properties: Mapping[str, str], notes: list[str]) -> str:
    """Return a property's text with its `${…}` replaced, as Hadoop's Configuration does.

    A reference is looked up among the properties given, then among our defaults of the setting
    that the property means; what is found nowhere stays as it is, with a note.
    """
    text = properties[name]
    for _ in range(_MOST_SUBSTITUTIONS):
        reference = _REFERENCE.search(text)
        if reference is None:
            return text
        value = properties.get(reference[1], _default_of(reference[1]))
        if value is None:
            notes.append(f"{name}: nothing is known of ${{{reference[1]}}}")
            return text
        text = text[: reference.start()] + value + text[reference.end() :]
    notes.append(f"{name}: its references go round in a circle")
    return text


def _default_of(name: str) -> str | None:
    if name not in NUTCH_NAMES:
        return None
    default = catalog()[NUTCH_NAMES[name][0]].default
    return str(default).lower() if isinstance(default, bool) else str(default)
