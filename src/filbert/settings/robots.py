"""Settings of robots.txt: what its status codes mean, deferral, cache.

Source: RFC 9309 and Nutch's `http.robots.*` properties.
"""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Names, Section

__all__ = ["RobotsSettings"]


class RobotsSettings(Section):
    """How robots.txt is read; that it is obeyed is no setting."""

    allowlist: Names = Field(
        (), description="Hosts (suffix match) whose owner lets us ignore robots.txt."
    )
    allow_403: bool = Field(
        default=True, description="403 for robots.txt allows all; false forbids all."
    )
    defer_5xx: bool = Field(
        default=True, description="5xx, 429 or no answer for robots.txt defers the host."
    )
    defer_delay_ms: int = Field(300_000, ge=0, description="How long each deferral lasts, in ms.")
    defer_retries: int = Field(
        3, ge=0, description="Deferrals before the host's URLs are left to a later round."
    )
    defer_max_idle_ms: int = Field(
        60_000,
        ge=0,
        description="When nothing but deferred hosts is left to fetch, a deferral that has longer "
        "than this to go, in ms, is not waited for: the URLs are left to a later round.",
    )
    store: bool = Field(
        default=False,
        description="Keep each robots.txt that was asked for as a WARC record, so that the archive "
        "of a crawl is whole: a replay obeys it.",
    )
    redirect_max: int = Field(5, ge=0, description="Redirects followed for robots.txt (RFC 9309).")
    cache_s: int = Field(
        86_400,
        ge=0,
        description="Seconds that a robots.txt is believed. RFC 9309 asks for a day at most; "
        "Nutch believes it for the whole run.",
    )
    size_limit: int = Field(
        524_288,
        ge=512_000,
        description="Bytes of robots.txt that are read. RFC 9309 wants 500 KiB at least; "
        "Nutch applies the page's limit.",
    )
