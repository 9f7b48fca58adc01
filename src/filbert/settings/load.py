"""The settings that hold for a crawl, and where each value came from.

Guarantee: defaults < rule files that lie in the crawl folder < `filbert.toml` < environment
(`FILBERT_<SECTION>__<NAME>`) < `-D name=value`. Our names and Nutch's are taken in each layer; an
unknown name refuses with the nearest right one; a wrong value refuses with place and remedy.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.settings.catalog import catalog
from filbert.settings.layers import Layer, Source, from_environment, from_file, from_overrides
from filbert.settings.root import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SETTINGS_FILE", "Loaded", "Source", "load_settings"]

SETTINGS_FILE = "filbert.toml"
_DEFAULT = Source(layer="default", where="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Settings, where each came from, and what a person should know.

    Attributes:
        settings: The settings.
        provenance: Where a value came from, by dotted name; every setting is there.
        warnings: Old or unused names that were met.
    """

    settings: Settings
    provenance: Mapping[str, Source]
    warnings: tuple[str, ...] = ()


def load_settings(
    crawl_dir: Path | None,
    overrides: Sequence[str] = (),
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Loaded:
    """Read all layers.

    Args:
        crawl_dir: The crawl folder; need not exist; None for none.
        overrides: `name=value`, as `-D` gives them.
        environ: The environment, usually `os.environ`.

    Raises:
        UserError: A name is unknown, a value wrong, or a file not readable.
    """
    layers: list[Layer] = []
    if crawl_dir is not None:
        layers.append(_rule_files(crawl_dir))
        layers.append(from_file(crawl_dir / SETTINGS_FILE))
    layers.append(from_environment(environ))
    layers.append(from_overrides(overrides))

    provenance = dict.fromkeys(catalog(), _DEFAULT)
    values: dict[str, object] = {}
    for layer in layers:
        for name, (value, source) in layer.values.items():
            values[name] = value
            provenance[name] = source
    _check_files(values, provenance)
    return Loaded(
        settings=Settings.model_validate(_nested(values)),
        provenance=MappingProxyType(provenance),
        warnings=tuple(warning for layer in layers for warning in layer.warnings),
    )


def _rule_files(crawl_dir: Path) -> Layer:
    """Find Nutch's rule files where they lie in the crawl folder."""
    layer = Layer()
    for name, setting in catalog().items():
        if setting.path is not None and setting.path.standard_name:
            path = crawl_dir / setting.path.standard_name
            if path.is_file():
                layer.values[name] = (
                    str(path.absolute()),
                    Source(layer="crawl folder", where=setting.path.standard_name),
                )
    return layer


def _check_files(values: Mapping[str, object], provenance: Mapping[str, Source]) -> None:
    for name, value in values.items():
        path = catalog()[name].path
        must_be = path is not None and (path.standard_name or path.read)
        if must_be and value and not Path(str(value)).is_file():
            msg = f"{name} names the file {value}, which is not there ({provenance[name]})"
            raise UserError(msg, hint="Mend the path, or leave the setting out.")


def _nested(values: Mapping[str, object]) -> dict[str, dict[str, object]]:
    nested: dict[str, dict[str, object]] = {}
    for name, value in values.items():
        section, _, field = name.partition(".")
        nested.setdefault(section, {})[field] = value
    return nested
