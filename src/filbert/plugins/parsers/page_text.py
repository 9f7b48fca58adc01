"""What parsers of text share: a page's bytes as text, and what its headers say.

Guarantee: never raises for what a page or its headers contain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.rules.charset import decode, sniff_charset
from filbert.rules.robots_tags import RobotsTags, from_header

if TYPE_CHECKING:
    from filbert.model.records import Page
    from filbert.settings import Settings

__all__ = ["PageText", "last_header"]


class PageText:
    """Reads pages by the settings of a crawl.

    Attributes:
        agents: The names under which robots directives are for us.
    """

    def __init__(self, settings: Settings) -> None:
        self._default_charset = settings.parse.default_charset
        self.agents = settings.http.robot_names()

    def decoded(self, page: Page) -> tuple[str, str]:
        """Return a page's text, and the name of the charset that it was read by."""
        content_type = last_header(page, "content-type")
        charset = sniff_charset(page.body, content_type, self._default_charset)
        return decode(page.body, charset), charset.name

    def robots(self, page: Page) -> RobotsTags:
        """Return what `X-Robots-Tag` says to us."""
        return from_header(page.headers.get("x-robots-tag", ()), self.agents)


def last_header(page: Page, name: str) -> str | None:
    """Return the last value of a header; None if the page has none."""
    values = page.headers.get(name, ())
    return values[-1] if values else None
