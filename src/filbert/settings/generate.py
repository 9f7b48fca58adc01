"""Settings of generate: how many, which, how spread. Source: Nutch's `generate.*` properties."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from filbert.settings.base import Section

__all__ = ["GenerateSettings"]


class GenerateSettings(Section):
    """How a round's fetch list is chosen."""

    top_n: int = Field(-1, ge=-1, description="URLs per segment at most; -1 no limit.")
    max_count: int = Field(
        -1, ge=-1, description="URLs per host (or domain) and segment at most; -1 no limit."
    )
    count_mode: Literal["host", "domain"] = Field("host", description="What `max_count` counts by.")
    max_num_segments: int = Field(1, ge=1, description="Segments made in one go at most.")
    num_fetchers: int = Field(
        1, ge=1, description="Parts of a segment; each can be fetched by a process of its own."
    )
    partition_mode: Literal["host", "domain", "ip"] = Field(
        "domain",
        description="What lies together in one part. (Nutch: host; a redirect within a domain can "
        "then be followed at once, since one part alone asks all its hosts.)",
    )
    min_score: float | None = Field(
        0.0, description="Least sort value of a chosen URL; `off` for none."
    )
    min_interval_s: int = Field(
        -1,
        ge=-1,
        description="Leave out pages whose interval is above this many seconds; -1 off. (The name "
        "is Nutch's; it is a maximum.)",
    )
    restrict_status: str = Field(
        "", description="Choose only pages of this status, such as `db_unfetched`; blank: all."
    )
    expr: str = Field("", description="Choose only pages for which this JEXL expression is true.")
    update_crawldb: bool = Field(
        default=False, description="Mark what was chosen, so that overlapping rounds differ."
    )
    gen_delay_ms: int = Field(
        604_800_000, ge=0, description="How long such a mark blocks a URL, in ms (7 days)."
    )
    filter: bool = Field(
        default=True,
        description="Apply the URL filters where the crawldb does not yet agree with them.",
    )
    normalize: bool = Field(
        default=True,
        description="Apply the URL normalisers where the crawldb does not yet agree with them.",
    )
