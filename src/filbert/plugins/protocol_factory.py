"""Which protocol plugin fetches a URL.

Guarantee: the same URL always gets the same plugin, and only one that speaks its scheme: by the
mapping of its host, of its registered domain, of its scheme; else the last found that speaks the
scheme and does not ask to be mapped (`only_mapped`).
Source: Nutch `ProtocolFactory`; docs/how-to/other-protocols.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from filbert.errors import UserError
from filbert.rules.protocols import ProtocolMapping, mapping_of, parse_mapping
from filbert.rules.urls import host_of, place_of, scheme_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from filbert.plugins.contracts import FetchProtocol
    from filbert.settings import Settings

__all__ = ["ProtocolFactory", "mapping_from", "said_mapping"]


_BROWSER = ProtocolMapping(schemes={"http": "browser", "https": "browser"})


def mapping_from(settings: Settings) -> ProtocolMapping:
    """Return the mapping that holds: what the settings say, and the browser if it may be needed.

    Raises:
        UserError: The file cannot be read, or a line of it says nothing.
    """
    said = said_mapping(settings)
    return said.over(_BROWSER) if settings.browser.when == "needed" else said


def said_mapping(settings: Settings) -> ProtocolMapping:
    """Return the mapping that the settings say, the file's included.

    Raises:
        UserError: The file cannot be read, or a line of it says nothing.
    """
    chosen = settings.protocols
    mapping = mapping_of(chosen.by_host, chosen.by_scheme)
    if not chosen.file:
        return mapping
    try:
        file = parse_mapping(Path(chosen.file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {chosen.file} (protocols.file): {error}") from error
    if file.bad_lines:
        raise UserError(
            f"{chosen.file}, {file.bad_lines[0]}",
            hint="A line is a host, a tab, and the name of a protocol plugin.",
        )
    return mapping.over(file)


_NO_MAPPING = ProtocolMapping()


class ProtocolFactory:
    """The plugins, and how they are chosen.

    Args:
        protocols: Those that are there, entered.
        mapping: Which hosts and schemes are mapped to which.

    Raises:
        UserError: A scheme is mapped to a plugin that does not speak it.
    """

    def __init__(self, protocols: Iterable[Any], mapping: ProtocolMapping = _NO_MAPPING) -> None:
        self._by_name: dict[str, FetchProtocol] = {}
        self._by_scheme: dict[str, FetchProtocol] = {}
        self._hosts = mapping.hosts
        for protocol in protocols:
            self._by_name[protocol.name] = protocol
            if not getattr(protocol, "only_mapped", False):
                self._by_scheme.update(dict.fromkeys(protocol.schemes, protocol))
        for scheme, name in mapping.schemes.items():
            self._map(scheme, name)

    def _map(self, scheme: str, name: str) -> None:
        protocol = self._by_name.get(name)
        if protocol is None or scheme not in protocol.schemes:
            raise UserError(
                f"protocol {name} does not fetch {scheme}: URLs",
                hint="See protocols.by_scheme, and host-protocol-mapping.txt in the crawl folder.",
            )
        self._by_scheme[scheme] = protocol

    def speaks(self, scheme: str) -> bool:
        """Say whether any plugin fetches URLs of a scheme."""
        return scheme in self._by_scheme

    def of_scheme(self, scheme: str) -> FetchProtocol | None:
        """Return the plugin of a scheme where no host is mapped; None: there is none."""
        return self._by_scheme.get(scheme)

    def of(self, url: str) -> FetchProtocol | None:
        """Return the plugin that fetches a URL; None: there is none."""
        scheme = scheme_of(url)
        if self._hosts:
            mapped = self._mapped(url)
            if mapped is not None and scheme in mapped.schemes:
                return mapped
        return self._by_scheme.get(scheme)

    def _mapped(self, url: str) -> FetchProtocol | None:
        name = self._hosts.get(host_of(url))
        if name is None:
            name = self._hosts.get(place_of(url)[1], "")
        return self._by_name.get(name)
