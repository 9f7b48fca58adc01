"""Settings of publishers: who is told what happens to pages.

Source: Nutch's `fetcher.publisher` and `publisher.order`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from filbert.settings.base import Names, PathOf, Section

__all__ = ["PublishSettings"]


class PublishSettings(Section):
    """Whom a fetch and a parse tell of each page."""

    publishers: Names = Field((), description="Publishers, in order; empty: nobody is told.")
    jsonl_file: Annotated[str, PathOf()] = Field(
        "",
        description="Where the publisher `jsonl` writes: a file, a named pipe or a device such as "
        "/dev/stderr; blank: `events.jsonl` in the crawl folder.",
    )
