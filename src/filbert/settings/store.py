"""Settings of the store: tables, captures, retention."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from filbert.settings.base import Section

__all__ = ["StoreSettings"]


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        msg = f"must be a power of two (such as {1 << value.bit_length()})"
        raise ValueError(msg)
    return value


class StoreSettings(Section):
    """How the crawl folder lies on disk."""

    buckets: Annotated[int, AfterValidator(_power_of_two)] = Field(
        16,
        ge=1,
        le=4096,
        description="Hash buckets of a new crawldb, a power of two: 100,000 to 800,000 rows each "
        "are best.",
    )
    keep_segments: str = Field(
        "",
        description="Segments that `filbert vacuum` keeps: the newest `10`, or those of `30 days`; "
        "blank: all.",
    )
    vacuum_after_hours: int = Field(
        168, ge=0, description="Hours that old table versions can be rolled back to."
    )
    warc_format: Literal["gzip", "zstd"] = Field(
        "gzip", description="Compression of the captures; gzip is what every archive tool reads."
    )
    warc_level: int = Field(
        1,
        ge=0,
        le=9,
        description="Level of that compression. At 0 and 1 of gzip, a body that came compressed is "
        "not compressed again: a tenth less work for 2 % more bytes.",
    )
    warc_requests: bool = Field(
        default=False, description="Keep each request as a WARC record before its response."
    )
    warc_max_mb: int = Field(1024, ge=1, description="Size at which a WARC file is closed, in MB.")
    fsync: Literal["batch", "each", "never"] = Field(
        "batch",
        description="When captures are forced to disk: several at once, each, or by the system.",
    )
    lease_s: int = Field(
        60, ge=1, description="Seconds after which a lease that is not renewed can be taken over."
    )
