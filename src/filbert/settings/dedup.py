"""Settings of dedup. Source: Nutch's `deduplication.*`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from filbert.settings.base import Names, Section

__all__ = ["DedupSettings"]


class DedupSettings(Section):
    """Which of several equal pages stays."""

    group: Literal["none", "host", "domain"] = Field(
        "none", description="Compare all pages, or only those of one host or domain."
    )
    compare_order: Names = Field(
        ("score", "fetchTime", "urlLength"),
        description="What decides, in order: `score`, `fetchTime`, `urlLength`, `httpsOverHttp`.",
    )
