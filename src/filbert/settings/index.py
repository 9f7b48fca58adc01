"""Settings of indexing: documents and writers.

Source: Nutch's `indexer.*`, `indexingfilter.order`, `moreIndexingFilter.*`.
"""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Names, Section

__all__ = ["IndexSettings"]


class IndexSettings(Section):
    """What of a page goes into the index."""

    filters: Names = Field(
        ("basic", "anchor"), description="The index filters that make a document, in order."
    )
    writers: Names = Field(("embedded",), description="The index writers.")
    max_title_length: int = Field(100, ge=-1, description="Characters kept of a title; -1 all.")
    max_content_length: int = Field(
        -1, ge=-1, description="Characters kept of the content; -1 all."
    )
    add_domain: bool = Field(default=False, description="Add the field `domain`.")
    skip_notmodified: bool = Field(
        default=False, description="Leave alone the documents of pages that have not changed."
    )
    delete_gone: bool = Field(
        default=False, description="Delete the documents of pages that are gone or redirect."
    )
    delete_robots_noindex: bool = Field(
        default=False, description="Delete the documents of pages that say noindex."
    )
    delete_skipped: bool = Field(
        default=False, description="Delete the documents that an index filter discards."
    )
    filter: bool = Field(default=False, description="Apply the URL filters to documents.")
    normalize: bool = Field(default=False, description="Apply the URL normalisers to documents.")
    anchor_deduplicate: bool = Field(
        default=False, description="anchor: keep one of anchors that differ in case only."
    )
    more_mime_type_parts: bool = Field(
        default=True, description="more: index `text` and `html` of `text/html` too."
    )
