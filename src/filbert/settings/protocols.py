"""Settings of protocols: which plugin fetches the URLs of a host or a scheme.

Source: Nutch's `host-protocol-mapping.txt`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from filbert.settings.base import Names, PathOf, Section

__all__ = ["ProtocolsSettings"]


def _pairs(entries: tuple[str, ...]) -> tuple[str, ...]:
    for entry in entries:
        what, equals, plugin = entry.partition("=")
        if not (what.strip() and equals and plugin.strip()):
            raise ValueError(f"must be pairs such as example.org=browser, not {entry!r}")
    return entries


class ProtocolsSettings(Section):
    """Which protocol plugin fetches a URL: by host, registered domain, scheme, in this order."""

    file: Annotated[str, PathOf("host-protocol-mapping.txt")] = Field(
        "",
        description="A mapping file as Nutch has it: a host or registered domain, or "
        "`protocol:<scheme>`, a tab, the plugin's name or Nutch's id of it.",
    )
    by_host: Annotated[Names, AfterValidator(_pairs)] = Field(
        (),
        description="The same as `host=plugin`, such as `example.org=browser`; goes before the "
        "file.",
    )
    by_scheme: Annotated[Names, AfterValidator(_pairs)] = Field(
        (), description="The same as `scheme=plugin`, such as `https=http`."
    )
