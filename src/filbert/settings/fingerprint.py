"""A stable fingerprint of some settings.

Guarantee: equal settings give equal fingerprints on every machine and Python; of a file that a
setting names, the content counts, not where it lies.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from filbert.settings.catalog import catalog, value_of

if TYPE_CHECKING:
    from filbert.settings.root import Settings

__all__ = ["fingerprint"]


def fingerprint(settings: Settings, *names: str) -> str:
    """Return 16 hexadecimal digits that stand for the values of these settings.

    Args:
        settings: The settings.
        names: Dotted names (`urls.filters`) or whole sections (`urls`); none means all.

    Raises:
        KeyError: There is no such setting or section.
    """
    chosen = {name: _stable(settings, name) for name in _expand(names)}
    text = json.dumps(chosen, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _expand(names: tuple[str, ...]) -> list[str]:
    every = catalog()
    if not names:
        return list(every)
    chosen = []
    for name in names:
        found = [known for known in every if known == name or known.startswith(f"{name}.")]
        if not found:
            raise KeyError(name)
        chosen += found
    return chosen


def _stable(settings: Settings, name: str) -> object:
    value = value_of(settings, name)
    if name == "plugins.files":
        return [_of_file(one) for one in settings.plugins.files]
    if catalog()[name].path is not None and value:
        return _of_file(str(value))
    return value


def _of_file(name: str) -> str:
    path = Path(name)
    if not path.is_file():
        return name
    return hashlib.sha256(path.read_bytes()).hexdigest()
