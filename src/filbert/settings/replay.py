"""Settings of replays: crawls that are answered from WARC files, not from the network.

Source: ours; Nutch has none.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from filbert.model.clock import date_ms
from filbert.settings.base import Section

__all__ = ["ReplaySettings"]


def _date(value: str) -> str:
    if value and date_ms(value) is None:
        raise ValueError("must be a date such as 2024-06-30T12:00:00Z, in UTC unless it says else")
    return value


class ReplaySettings(Section):
    """How `--replay` answers."""

    at: Annotated[str, AfterValidator(_date)] = Field(
        "",
        description="Of several captures of a URL, the newest at or before this date is taken: "
        "`2024-06-30`, `2024-06-30T12:00:00Z` or digits as web archives write them; blank: the "
        "newest.",
    )
    missing: Literal["due", "gone"] = Field(
        "due",
        description="A URL that the archive does not hold: `due` counts as a failed try, so that "
        "it comes again later; `gone` as a page that is not there.",
    )
    robots_missing: Literal["allow", "forbid"] = Field(
        "allow",
        description="A host whose robots.txt the archive does not hold: all is allowed, since what "
        "is in it was fetched already; or nothing.",
    )
    damaged: Literal["refuse", "skip"] = Field(
        "refuse",
        description="A damaged WARC file ends the command with file and place, or the damaged "
        "records are passed over and counted.",
    )
