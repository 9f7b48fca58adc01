"""The parser `html`: title, text, links and what a page says to robots.

Guarantee: never raises for what a page contains. `noindex` leaves no title and no text,
`nofollow` no links, as in Nutch; links are absolute, in the order of the page, before
normalisers, filters and limits.
Source: Nutch parse-html (`HtmlParser`, `DOMContentUtils`, `HTMLMetaProcessor`); golden table
`parse-html`, where differences of the two tree builders are counted by name.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Self

from selectolax.lexbor import LexborHTMLParser

from filbert.model.records import Link, Parse
from filbert.model.statuses import ParseMinor
from filbert.plugins.parsers.html_head import HtmlHead, read_head
from filbert.plugins.parsers.html_tree import links_of, text_of, title_of
from filbert.plugins.parsers.names import cap_names
from filbert.plugins.parsers.nesting import cap_nesting
from filbert.plugins.parsers.page_text import PageText, last_header
from filbert.rules.refresh import parse_refresh
from filbert.rules.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filbert.model.records import Page
    from filbert.rules.robots_tags import RobotsTags
    from filbert.settings import Settings

__all__ = ["HtmlParser"]


class HtmlParser:
    """Parses HTML and XHTML as a browser does."""

    name = "html"
    content_types = ("text/html", "application/xhtml+xml")

    def __init__(self, settings: Settings) -> None:
        self._ignored = frozenset(tag.lower() for tag in settings.parse.outlinks_ignore_tags)
        self._forms = settings.parse.form_use_action
        self._reader = PageText(settings)

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the parser; `folder` is not used."""
        del folder
        return cls(settings)

    def parse(self, page: Page) -> Sequence[Parse]:
        """Return the page's parse; there is nothing inside a page of HTML."""
        text, charset = self._reader.decoded(page)
        tree = LexborHTMLParser(cap_nesting(cap_names(text)))
        head = read_head(tree, page.base_url, self._reader.agents)
        robots = (head.robots | self._reader.robots(page)).at(page.fetch_time)
        root = tree.root
        links, dropped = self._links(tree, head, robots)
        refresh = head.refresh or _header_refresh(page)
        return [
            Parse(
                minor=ParseMinor.SUCCESS_REDIRECT if refresh else ParseMinor.OK,
                title="" if robots.noindex or root is None else title_of(root),
                text="" if robots.noindex or root is None else text_of(root),
                links=links,
                links_dropped=dropped,
                charset=charset,
                language=head.language or last_header(page, "content-language"),
                canonical_url=head.canonical_url,
                noindex=robots.noindex,
                nofollow=robots.nofollow,
                noarchive=robots.noarchive,
                refresh=refresh,
                metadata={name: tuple(values) for name, values in head.metadata.items()},
            )
        ]

    def _links(
        self, tree: LexborHTMLParser, head: HtmlHead, robots: RobotsTags
    ) -> tuple[tuple[Link, ...], Counter[str]]:
        """Return the page's links, and how many it has that nobody may or can follow."""
        links: list[Link] = []
        dropped: Counter[str] = Counter()
        root = tree.root
        for raw in links_of(root, self._ignored, forms=self._forms) if root is not None else ():
            if robots.nofollow:
                dropped["robots_nofollow"] += 1
            elif "nofollow" in raw.rel:
                dropped["rel_nofollow"] += 1
            elif (url := resolve(head.base_url, raw.href)) is None:
                dropped["scheme"] += 1
            else:
                links.append(Link(url=url, anchor=raw.anchor))
        return tuple(links), dropped


def _header_refresh(page: Page) -> tuple[str, int] | None:
    value = last_header(page, "refresh")
    found = parse_refresh(value) if value else None
    if found is None:
        return None
    target = resolve(page.base_url, found[1]) if found[1] else page.url
    return (target, found[0]) if target else None
