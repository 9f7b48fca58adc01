"""Settings of parsing: limits, charset, outlinks.

Source: Nutch's `parser.*`, `parse.*`, `db.max.outlink*`, `db.ignore.*`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from filbert.settings.base import Names, Section

__all__ = ["ParseSettings"]


class ParseSettings(Section):
    """What is taken out of a page."""

    parsers: Names = Field(
        ("html", "text"),
        description="The parsers, in order of preference; the first that takes the content type "
        "and succeeds is used.",
    )
    filters: Names = Field((), description="The parse filters, in order.")
    timeout_s: int = Field(30, ge=-1, description="Seconds for one document; -1 no limit.")
    memory_limit_mb: int = Field(
        1024, ge=64, description="Memory of a parsing process in MB; a document above it fails."
    )
    skip_truncated: bool = Field(
        default=False,
        description="Do not parse a page that was cut off. Nutch skips them; the first megabytes "
        "of a page have its title, most of its links and text.",
    )
    default_charset: str = Field(
        "windows-1252", description="Charset of a page that names none and shows none."
    )
    mime_magic: bool = Field(default=True, description="Look into the content for its type.")
    text_limit: int = Field(
        -1, ge=-1, description="Most characters of text kept of a page; -1 unlimited."
    )
    store_text: bool = Field(default=True, description="Keep the text (parse_text).")
    delete_failed_parse: bool = Field(
        default=False, description="A page that cannot be parsed leaves the index."
    )
    caching_forbidden_policy: Literal["none", "content", "all"] = Field(
        "content", description="What `noarchive` keeps from being shown: nothing, content, or all."
    )
    filter_urls: bool = Field(default=True, description="Apply the URL filters to outlinks.")
    normalize_urls: bool = Field(default=True, description="Apply the URL normalisers to outlinks.")
    max_outlinks_per_page: int = Field(100, ge=-1, description="Outlinks kept per page; -1 all.")
    max_outlink_length: int = Field(
        4096, ge=-1, description="Longest URL of an outlink or redirect, in characters; -1 any."
    )
    ignore_internal_links: bool = Field(
        default=False, description="Drop outlinks to the page's own host (or domain)."
    )
    ignore_external_links: bool = Field(
        default=False, description="Drop outlinks to other hosts (or domains)."
    )
    ignore_links_mode: Literal["host", "domain"] = Field(
        "host", description="What internal and external mean for these two."
    )
    ignore_also_redirects: bool = Field(
        default=True, description="The same for the targets of redirects."
    )
    outlinks_ignore_tags: Names = Field(
        (), description="HTML tags whose links are not taken, such as `img`, `script`."
    )
    form_use_action: bool = Field(default=False, description="Take the action of a GET form.")
