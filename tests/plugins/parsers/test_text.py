"""The parser `text`."""

from __future__ import annotations

from filbert.model.records import Page
from filbert.plugins.parsers.text import TextParser
from filbert.settings import Settings


def _page(body: str, **headers: str) -> Page:
    return Page(
        url="http://a.com/t.txt",
        base_url="http://a.com/t.txt",
        body=body.encode(),
        content_type="text/plain",
        headers={name.replace("_", "-"): (value,) for name, value in headers.items()},
    )


def test_text_is_kept_and_addresses_are_links() -> None:
    """The text stays as it is but for blanks at its ends; there is no title."""
    parse = TextParser(Settings()).parse(_page("  Grüße:\n\n  http://b.org/ü.  \n"))[0]
    assert parse.text == "Grüße:\n\n  http://b.org/ü."
    assert [link.url for link in parse.links] == ["http://b.org/%C3%BC"]
    assert (parse.title, parse.charset) == ("", "utf-8")


def test_the_header_speaks_to_robots_here_too() -> None:
    """X-Robots-Tag holds for plain text as for pages."""
    parse = TextParser(Settings()).parse(_page("x http://b.org/", x_robots_tag="none"))[0]
    assert (parse.text, parse.links, parse.noindex) == ("", (), True)
