"""A URL as a person writes it, and as it is stored.

Guarantee: what is stored under exactly the text that was given goes first, as in Nutch's readers;
only then the key that the normalisers make of it is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.errors import FilbertError
from filbert.plugins.contracts import Scope
from filbert.plugins.registry import PluginRepository

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.settings import Settings

__all__ = ["spellings"]


def spellings(url: str, settings: Settings, folder: Path) -> tuple[str, ...]:
    """Return the keys that a URL may be stored under: as given, and normalised.

    Args:
        url: As a person writes it.
        settings: Those of the crawl folder; where their plugins are broken, the first key is all.
        folder: The crawl folder.
    """
    try:
        key = PluginRepository(settings, folder).url_chain().normalize(url, Scope.DEFAULT)
    except FilbertError:
        key = None
    return (url,) if key is None else tuple(dict.fromkeys((url, key)))
