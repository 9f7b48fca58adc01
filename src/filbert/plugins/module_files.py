"""Plugins in a single file: `plugins = ["./my_site.py"]`.

Guarantee: a file or module that cannot be imported, or that does not say what it brings, is a
PluginError that names it and shows what would be right.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

from filbert.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

__all__ = ["load_module_file"]

_SHAPE = 'It must have PLUGINS = {"url_filters": [MyFilter]}: extension point to classes.'


def load_module_file(name: str, folder: Path, points: Sequence[str]) -> Mapping[str, Sequence[Any]]:
    """Return the plugin classes of a file (`./my_site.py`) or module (`my_package.filters`).

    Args:
        name: The file or module, as the setting says.
        folder: Where a relative file lies.
        points: The extension points that there are.

    Raises:
        PluginError: It is not there, breaks on import, or has no right `PLUGINS`.
    """
    module = _imported(name, folder)
    brought = getattr(module, "PLUGINS", None)
    if not isinstance(brought, dict):
        raise PluginError(f"the plugin file {name} has no PLUGINS", hint=_SHAPE)
    for point, classes in brought.items():
        if point not in points:
            raise PluginError(
                f"the plugin file {name}: there is no extension point {point!r}",
                hint=f"There are: {', '.join(points)}.",
            )
        for cls in classes:
            if not isinstance(cls, type) or not isinstance(getattr(cls, "name", None), str):
                raise PluginError(
                    f"the plugin file {name}: {cls!r} in {point} is no class with a `name`",
                    hint=_SHAPE,
                )
    return brought


def _imported(name: str, folder: Path) -> ModuleType:
    is_file = name.endswith(".py") or "/" in name
    path = folder / name
    if is_file and not path.is_file():
        raise PluginError(f"the plugin file {path} is not there", hint=_nearest(path))
    try:
        return _from_file(path) if is_file else importlib.import_module(name)
    except Exception as error:
        raise PluginError(
            f"the plugin file {name} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _nearest(path: Path) -> str:
    """Return what may have been meant instead of a file that is not there."""
    beside = [one.name for one in path.parent.glob("*.py")]
    near = difflib.get_close_matches(path.name, beside, n=1)
    return f"Did you mean {path.parent / near[0]}?" if near else "Mend the setting plugins."


def _from_file(path: Path) -> ModuleType:
    """Import the file under a name of its own, once per content."""
    digest = hashlib.sha256(str(path.absolute()).encode() + path.read_bytes()).hexdigest()[:12]
    module_name = f"filbert_plugin_{path.stem}_{digest}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module
