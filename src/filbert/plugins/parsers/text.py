"""The parser `text`: plain text and its kin, with the addresses in it as links.

Guarantee: never raises for what a document contains; the title is empty, as in Nutch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from filbert.model.records import Link, Parse
from filbert.plugins.parsers.page_text import PageText, last_header
from filbert.rules.plain_links import plain_links
from filbert.rules.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.model.records import Page
    from filbert.settings import Settings

__all__ = ["TextParser"]


class TextParser:
    """Keeps the text as it is."""

    name = "text"
    content_types = (
        "text/plain",
        "text/csv",
        "text/tab-separated-values",
        "text/x-web-markdown",
        "text/markdown",
        "text/x-log",
        "text/calendar",
    )

    def __init__(self, settings: Settings) -> None:
        self._reader = PageText(settings)

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the parser; `folder` is not used."""
        del folder
        return cls(settings)

    def parse(self, page: Page) -> Sequence[Parse]:
        """Return the document's parse."""
        text, charset = self._reader.decoded(page)
        robots = self._reader.robots(page).at(page.fetch_time)
        targets = () if robots.nofollow else (resolve(page.base_url, u) for u in plain_links(text))
        return [
            Parse(
                text="" if robots.noindex else text.strip(),
                links=tuple(Link(url=url) for url in targets if url is not None),
                charset=charset,
                language=last_header(page, "content-language"),
                noindex=robots.noindex,
                nofollow=robots.nofollow,
                noarchive=robots.noarchive,
            )
        ]
