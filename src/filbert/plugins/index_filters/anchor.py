"""The index filter `anchor`: what other pages call this one.

Guarantee: each text stands once per linking host, empty ones not at all; with
`index.anchor_deduplicate` also texts that differ in case only stand once, in the spelling that
comes first by linking page. The order is that of the linking pages, so it is the same each time.
Source: Nutch `AnchorIndexingFilter`, `Inlinks.getAnchors`; golden table `indexing`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from filbert.rules.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from filbert.model.records import Document, Inlink
    from filbert.plugins.contracts import IndexInput
    from filbert.settings import Settings

__all__ = ["AnchorIndexFilter", "anchors_of"]


class AnchorIndexFilter:
    """Adds the field `anchor`."""

    name = "anchor"

    def __init__(self, *, deduplicate: bool) -> None:
        self._deduplicate = deduplicate

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter from `index.anchor_deduplicate`."""
        del folder  # it has no rule file
        return cls(deduplicate=settings.index.anchor_deduplicate)

    def filter(self, document: Document, page: IndexInput) -> Document | None:
        """Return the document with its anchors, if there are any."""
        anchors = anchors_of(page.inlinks)
        if self._deduplicate:
            anchors = list({anchor.lower(): anchor for anchor in reversed(anchors)}.values())[::-1]
        if not anchors:
            return document
        return replace(document, fields={**document.fields, "anchor": tuple(anchors)})


def anchors_of(inlinks: Iterable[Inlink]) -> list[str]:
    """Return the texts of the links, each once per linking host."""
    ordered = sorted(inlinks, key=lambda inlink: (inlink.from_url, inlink.anchor))
    per_host = {(host_of(link.from_url), link.anchor): link for link in ordered if link.anchor}
    return [link.anchor for link in per_host.values()]
