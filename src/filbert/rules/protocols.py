"""Which protocol plugin a host or a scheme is mapped to.

Guarantee: pure functions; whatever a mapping file holds is read or told with its line. The exact
host goes before its registered domain, that before the scheme.
Source: Nutch's `ProtocolFactory` and `host-protocol-mapping.txt`: `host TAB id`, `protocol:scheme
TAB id`, where the id is that of an extension, such as `org.apache.nutch.protocol.okhttp.OkHttp`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["ProtocolMapping", "mapping_of", "parse_mapping"]

_SCHEME = "protocol:"
# Nutch's plugins by their ids, the package's or the extension's; ours by what they do.
_OF_NUTCH = {
    "http": ("http", "okhttp", "httpclient"),
    "browser": ("selenium", "interactiveselenium", "htmlunit"),
    "file": ("file",),
    "ftp": ("ftp",),
}
_NUTCH_IDS = {
    spelling: ours
    for ours, theirs in _OF_NUTCH.items()
    for one in theirs
    for spelling in (f"protocol-{one}", f"org.apache.nutch.protocol.{one}")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolMapping:
    """Names of protocol plugins.

    Attributes:
        hosts: By host or registered domain, lower case.
        schemes: By scheme.
        bad_lines: Lines that say nothing, with their numbers.
    """

    hosts: Mapping[str, str] = field(default_factory=dict)
    schemes: Mapping[str, str] = field(default_factory=dict)
    bad_lines: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return every plugin that is named, once."""
        return tuple(dict.fromkeys([*self.hosts.values(), *self.schemes.values()]))

    def over(self, other: ProtocolMapping) -> ProtocolMapping:
        """Return both, where this one goes before the other."""
        return ProtocolMapping(
            hosts={**other.hosts, **self.hosts},
            schemes={**other.schemes, **self.schemes},
            bad_lines=other.bad_lines + self.bad_lines,
        )


def parse_mapping(text: str) -> ProtocolMapping:
    """Read Nutch's file: two columns with a tab between them; `#` begins a comment."""
    hosts: dict[str, str] = {}
    schemes: dict[str, str] = {}
    bad: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("\t")]
        what, plugin = columns if len(columns) == 2 else ("", "")
        if not (what and plugin):
            bad.append(f"line {number}: {line.strip()[:80]}")
        elif what.startswith(_SCHEME):
            schemes[what.removeprefix(_SCHEME).lower()] = _ours(plugin)
        else:
            hosts[what.lower()] = _ours(plugin)
    return ProtocolMapping(hosts=hosts, schemes=schemes, bad_lines=tuple(bad))


def mapping_of(by_host: Iterable[str], by_scheme: Iterable[str]) -> ProtocolMapping:
    """Return the mapping that settings say, each entry `what=plugin`."""
    return ProtocolMapping(hosts=_pairs(by_host), schemes=_pairs(by_scheme))


def _pairs(entries: Iterable[str]) -> dict[str, str]:
    parts = (entry.partition("=") for entry in entries)
    return {what.strip().lower(): _ours(plugin.strip()) for what, _, plugin in parts}


def _ours(plugin: str) -> str:
    """Return our name of a plugin of Nutch's; any other as it stands."""
    package = plugin.rpartition(".")[0] if plugin.startswith("org.apache.nutch.") else plugin
    return _NUTCH_IDS.get(package, plugin)
