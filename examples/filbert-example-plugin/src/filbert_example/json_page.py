"""A parser in ten lines: JSON documents with `title`, `text` and `links`."""

import json

from filbert.plugins.contracts import Link, Page, Parse


class JsonPage:
    """Reads {"title": ..., "text": ..., "links": [...]}; anything else is a failed parse."""

    name = "json-page"
    content_types = ("application/json",)

    @classmethod
    def from_settings(cls, settings, folder):
        return cls()

    def parse(self, page: Page) -> list[Parse]:
        """Return the document's parse; an exception here becomes a failed parse with its text."""
        data = json.loads(page.body)
        links = tuple(Link(url=url) for url in data.get("links", []))
        return [Parse(title=data["title"], text=data["text"], links=links)]
