"""The index filter `basic`: host, domain, url, content, title, cache policy, time of the fetch.

Guarantee: a page whose URL no plugin could fetch is dropped, as in Nutch. The page that stands
for a redirect chain (`repr_url`) lends its URL and host; one that is no URL is ignored, where
Nutch drops the page. Lengths are characters; the replacement character U+FFFD is left out.
Source: Nutch `BasicIndexingFilter`; golden table `indexing`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from filbert.rules.url_parts import UrlParts, split
from filbert.rules.urls import domain_of

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.records import Document
    from filbert.plugins.contracts import IndexInput
    from filbert.settings import Settings
    from filbert.settings.index import IndexSettings

__all__ = ["BasicIndexFilter"]

_CACHE_POLICY = "caching.forbidden"
_REPLACEMENT = "\ufffd"


class BasicIndexFilter:
    """Adds what a search needs at least."""

    name = "basic"

    def __init__(self, settings: IndexSettings, noarchive_policy: str = "content") -> None:
        self._settings = settings
        self._noarchive_policy = noarchive_policy

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the filter from `index.*` and `parse.caching_forbidden_policy`."""
        del folder  # it has no rule file
        return cls(settings.index, settings.parse.caching_forbidden_policy)

    def filter(self, document: Document, page: IndexInput) -> Document | None:
        """Return the document with its fields; None if the page's URL is none."""
        own = split(page.url)
        if own is None:
            return None
        url, parts = _shown(page, own)
        fields: dict[str, tuple[str | int | float, ...]] = dict(document.fields)
        if self._settings.add_domain:
            fields["domain"] = (domain_of(parts.host.lower()),)
        fields["host"] = (parts.host,)
        fields["url"] = (url,)
        fields["content"] = (_cut(page.text, self._settings.max_content_length),)
        if title := _cut(page.title, self._settings.max_title_length):
            fields["title"] = (title,)
        if policy := self._cache_policy(page):
            fields["cache"] = (policy,)
        fields["tstamp"] = (page.fetch_time,)
        return replace(document, fields=fields)

    def _cache_policy(self, page: IndexInput) -> str:
        """Return what may not be shown from a cache: `content` or `all`; "" if all may."""
        for metadata in (page.parse_metadata, page.content_metadata):
            for policy in metadata.get(_CACHE_POLICY, ()):
                return "" if policy == "none" else policy
        policy = self._noarchive_policy if page.noarchive else "none"
        return "" if policy == "none" else policy


def _shown(page: IndexInput, own: UrlParts) -> tuple[str, UrlParts]:
    representative = split(page.repr_url) if page.repr_url else None
    if representative is None or page.repr_url is None:
        return page.url, own
    return page.repr_url, representative


def _cut(text: str, limit: int) -> str:
    return (text if limit < 0 else text[:limit]).replace(_REPLACEMENT, "")
