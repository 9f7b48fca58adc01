"""An index filter: how many words a page has."""

from dataclasses import replace

from filbert.plugins.contracts import Document, IndexInput


class WordCount:
    """Adds the field `words`, and drops pages of fewer than three."""

    name = "word-count"

    @classmethod
    def from_settings(cls, settings, folder):
        return cls()

    def filter(self, document: Document, page: IndexInput) -> Document | None:
        """Return the document with its count, or None to drop it."""
        words = len(page.text.split())
        if words < 3:
            return None
        return replace(document, fields={**document.fields, "words": (words,)})
