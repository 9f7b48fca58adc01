"""Settings of the browser protocol: pages rendered by a Chromium before they are parsed.

Source: Nutch's protocol-selenium (`page.load.delay`); the rest is ours.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from filbert.settings.base import Names, Section

__all__ = ["BrowserSettings"]


class BrowserSettings(Section):
    """When and how pages are rendered. Limits of a single request are those of `http`."""

    when: Literal["mapped", "needed"] = Field(
        "mapped",
        description="`mapped`: hosts that `protocols` maps to `browser`, and no other; `needed`: "
        "also each HTML page of any other host that shows next to nothing without its scripts.",
    )
    least_text: int = Field(
        200,
        ge=0,
        description="Bytes of visible text from which on a page needs no browser (`needed`).",
    )
    program: str = Field(
        "",
        description="The browser: a name on the PATH or a whole path; blank: `chromium` or a "
        "relative of it.",
    )
    pages: int = Field(2, ge=1, description="Pages rendered at once, per process.")
    page_limit_s: float = Field(
        30.0, gt=0, description="Seconds for a page with all that it loads; then it is as it is."
    )
    settle_ms: int = Field(
        3_000,
        ge=0,
        description="Milliseconds at most that a loaded page is given to fall silent.",
    )
    resources: Names = Field(
        ("document", "script", "stylesheet", "xhr", "fetch"),
        description="What a page may load, in the words of Chromium; also `image`, `font`, "
        "`media`, `other`.",
    )
    max_requests: int = Field(60, ge=0, description="Requests of one page, beside its own.")
    max_mb: int = Field(20, ge=1, description="Megabytes that these bring at most.")
    cache_mb: int = Field(
        32,
        ge=0,
        description="Scripts and style sheets kept for the next pages, in megabytes, so that a "
        "host is not asked for them again with each.",
    )
    restart_after: int = Field(
        200, ge=1, description="Pages after which the browser is started anew, as its memory grows."
    )
