"""Where plugins are found: installed packages and single files, by one door.

Guarantee: a plugin that a setting names is loaded, checked against its contract and made, or the
error says which plugin of which package is wrong and how; an unknown name refuses with the
nearest right one. Built-ins are entry points as a stranger's are. A module file named in
`plugins.files` says what it brings in `PLUGINS`: extension point → classes.
Source: Nutch's `PluginRepository`, `ExtensionPoint`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint, distributions
from typing import TYPE_CHECKING, Any, cast

from filbert.errors import FilbertError, PluginError
from filbert.plugins.contracts import (
    FetchProtocol,
    IndexFilter,
    IndexWriter,
    ParseFilter,
    Parser,
    Publisher,
    Schedule,
    Scoring,
    Signature,
    UrlFilter,
    UrlNormalizer,
)
from filbert.plugins.module_files import load_module_file
from filbert.plugins.protocol_factory import mapping_from
from filbert.plugins.url_chain import UrlChain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.settings import Settings

__all__ = ["POINTS", "PluginOrigin", "PluginRepository"]

POINTS: dict[str, type] = {
    "url_normalizers": UrlNormalizer,
    "url_filters": UrlFilter,
    "protocols": FetchProtocol,
    "parsers": Parser,
    "parse_filters": ParseFilter,
    "signatures": Signature,
    "schedules": Schedule,
    "scorings": Scoring,
    "index_filters": IndexFilter,
    "index_writers": IndexWriter,
    "publishers": Publisher,
}
"""Extension points and their contracts; the entry point group is `filbert.<point>`."""

_GROUP = "filbert."


@dataclass(frozen=True, slots=True)
class PluginOrigin:
    """One plugin that could be used: its point, its name and where it comes from."""

    point: str
    name: str
    package: str
    source: EntryPoint | type

    def __str__(self) -> str:
        """Return the words by which errors name it."""
        return f"plugin {self.name!r} ({self.point}) of {self.package}"


class PluginRepository:
    """All plugins of a crawl, made when first asked for.

    Not picklable on purpose: a page task is given `(settings, folder)` and makes its own.

    Args:
        settings: The settings that name the plugins.
        folder: The folder that relative rule files are looked up in: the crawl folder.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._made: dict[tuple[str, str], Any] = {}

    def url_normalizers(self) -> list[UrlNormalizer]:
        """Return the URL normalisers, in order."""
        return self._chain("url_normalizers", self._settings.urls.normalizers)

    def url_filters(self) -> list[UrlFilter]:
        """Return the URL filters, in order."""
        return self._chain("url_filters", self._settings.urls.filters)

    def url_chain(self) -> UrlChain:
        """Return normalisers and filters as one chain, always the same one."""
        return self._url_chain

    def protocols(self) -> list[FetchProtocol]:
        """Return every protocol that may be chosen: one that must be mapped, only if it is.

        Raises:
            UserError: The file that maps hosts to protocols is wrong.
        """
        mapped = mapping_from(self._settings).names()
        made = self._chain("protocols", tuple(self._available["protocols"]))
        return [one for one in made if one.name in mapped or not getattr(one, "only_mapped", False)]

    def parsers(self) -> list[Parser]:
        """Return the parsers, in order of preference."""
        return self._chain("parsers", self._settings.parse.parsers)

    def parse_filters(self) -> list[ParseFilter]:
        """Return the parse filters, in order."""
        return self._chain("parse_filters", self._settings.parse.filters)

    def signature(self) -> Signature:
        """Return the signature."""
        return cast("Signature", self._one("signatures", self._settings.signature.name))

    def schedule(self) -> Schedule:
        """Return the fetch schedule."""
        return cast("Schedule", self._one("schedules", self._settings.schedule.name))

    def scorings(self) -> list[Scoring]:
        """Return the scoring plugins, in order."""
        return self._chain("scorings", self._settings.scoring.names)

    def index_filters(self) -> list[IndexFilter]:
        """Return the index filters, in order."""
        return self._chain("index_filters", self._settings.index.filters)

    def index_writers(self) -> list[IndexWriter]:
        """Return the index writers, in order."""
        return self._chain("index_writers", self._settings.index.writers)

    def publishers(self) -> list[Publisher]:
        """Return the publishers, in order."""
        return self._chain("publishers", self._settings.publish.publishers)

    def check(self) -> None:
        """Check that every plugin that the settings name is there, without making any.

        Raises:
            PluginError: One is not; names the nearest.
            UserError: The file that maps hosts to protocols is wrong.
        """
        chosen = self._settings
        named: dict[str, Sequence[str]] = {
            "url_normalizers": chosen.urls.normalizers,
            "url_filters": chosen.urls.filters,
            "protocols": mapping_from(chosen).names(),
            "parsers": chosen.parse.parsers,
            "parse_filters": chosen.parse.filters,
            "signatures": (chosen.signature.name,),
            "schedules": (chosen.schedule.name,),
            "scorings": chosen.scoring.names,
            "index_filters": chosen.index.filters,
            "index_writers": chosen.index.writers,
            "publishers": chosen.publish.publishers,
        }
        for point, names in named.items():
            for name in names:
                self._find(point, name)

    def available(self, point: str) -> Mapping[str, PluginOrigin]:
        """Return every plugin of an extension point, active or not, by name."""
        return self._available[point]

    @cached_property
    def _url_chain(self) -> UrlChain:
        return UrlChain(
            self.url_normalizers(),
            self.url_filters(),
            loop_count=self._settings.urls.loop_count,
        )

    @cached_property
    def _available(self) -> Mapping[str, Mapping[str, PluginOrigin]]:
        found: dict[str, dict[str, PluginOrigin]] = defaultdict(dict)
        for entry in _installed(tuple(sys.path)):
            point = entry.group.removeprefix(_GROUP)
            if point in POINTS:
                _add(found[point], _origin(point, entry))
        for name in self._settings.plugins.files:
            for point, classes in load_module_file(name, self._folder, tuple(POINTS)).items():
                for cls in classes:
                    found[point][cls.name] = PluginOrigin(point, cls.name, f"file {name}", cls)
        return found

    def _chain(self, point: str, names: Sequence[str]) -> list[Any]:
        return [self._one(point, name) for name in names]

    def _one(self, point: str, name: str) -> Any:
        key = (point, name)
        if key not in self._made:
            self._made[key] = self._make(self._find(point, name))
        return self._made[key]

    def _find(self, point: str, name: str) -> PluginOrigin:
        known = self._available[point]
        if name in known:
            return known[name]
        if not known:
            raise PluginError(
                f"no {point} are installed, so {name!r} is not there",
                hint="Install filbert itself (pip install -e . in its folder); "
                "its own plugins are entry points of the package.",
            )
        near = get_close_matches(name, known, n=1, cutoff=0.4)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise PluginError(
            f"there is no plugin {name!r} among the {point}",
            hint=f"{hint}There are: {', '.join(sorted(known))}.",
        )

    def _make(self, origin: PluginOrigin) -> Any:
        cls = _class_of(origin)
        _check_contract(origin, cls)
        try:
            return cls.from_settings(self._settings, self._folder)
        except FilbertError:
            raise
        except Exception as error:
            raise PluginError(f"{origin} cannot be made: {_words(error)}") from error


@lru_cache(maxsize=4)
def _installed(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return our entry points of all packages on `path`, in one scan.

    (The standard library's look-up by group scans all packages for each group.)
    """
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for package in distributions(path=list(path)):
        ours = tuple(one for one in package.entry_points if one.group.startswith(_GROUP))
        if ours:
            found.setdefault(package.name.lower(), ours)  # the first on the path counts
    return tuple(entry for entries in found.values() for entry in entries)


def _origin(point: str, entry: EntryPoint) -> PluginOrigin:
    package = f"package {entry.dist.name} {entry.dist.version}" if entry.dist else "a package"
    return PluginOrigin(point, entry.name, package, entry)


def _add(known: dict[str, PluginOrigin], origin: PluginOrigin) -> None:
    """Add a plugin; the same entry point seen twice on the path is one."""
    other = known.get(origin.name)
    if other is not None and other.source != origin.source:
        raise PluginError(
            f"two packages bring the {origin.point} {origin.name!r}: "
            f"{other.package} and {origin.package}",
            hint="Uninstall one of them, or rename its entry point.",
        )
    known[origin.name] = origin


def _class_of(origin: PluginOrigin) -> Any:
    if not isinstance(origin.source, EntryPoint):
        return origin.source
    try:
        return origin.source.load()
    except Exception as error:
        raise PluginError(
            f"{origin} cannot be loaded from {origin.source.value}: {_words(error)}"
        ) from error


def _check_contract(origin: PluginOrigin, cls: Any) -> None:
    contract = POINTS[origin.point]
    wanted = {"from_settings", *_members(contract)}
    missing = sorted(name for name in wanted if not hasattr(cls, name))
    if missing:
        raise PluginError(
            f"{origin} has no {', '.join(missing)}",
            hint=f"It must have what filbert.plugins.contracts.{contract.__name__} shows.",
        )


def _members(contract: type) -> set[str]:
    """Return the methods and class attributes that a contract asks for."""
    names: set[str] = set()
    for base in contract.__mro__:
        if base.__module__ == contract.__module__:
            own = vars(base)
            names |= {n for n in own if callable(own[n]) or isinstance(own[n], property)}
            names |= set(getattr(base, "__annotations__", {}))
    names = {n for n in names if not n.startswith("_") or n in _CONTEXT_METHODS}
    return names - {"from_settings"}


_CONTEXT_METHODS = {"__enter__", "__exit__", "__aenter__", "__aexit__"}


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
