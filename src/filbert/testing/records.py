"""Builders of records for tests: say what matters, the rest is ordinary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.model.records import CrawlDatum, FetchItem
from filbert.rules.urls import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["datum", "fetch_item", "generate_row"]


def datum(**changes: object) -> CrawlDatum:
    """Return an ordinary datum; `changes` are its fields."""
    fields: dict[str, object] = {"fetch_interval": 2_592_000, "score": 1.0, **changes}
    return CrawlDatum(**fields)  # type: ignore[arg-type]


def fetch_item(url: str, *, position: int = 0, hop: int = 0, **changes: object) -> FetchItem:
    """Return an item of part 0; `changes` are fields of its datum."""
    host, domain = place_of(url)
    return FetchItem(
        url=url,
        host=host,
        domain=domain,
        part=0,
        position=position,
        hop=hop,
        datum=datum(**changes),
    )


def generate_row(url: str, *, position: int = 0, part: int = 0) -> Mapping[str, object]:
    """Return an ordinary row of crawl_generate, as the fetcher reads it."""
    host, domain = place_of(url)
    return {
        "url": url,
        "bucket": 0,
        "host": host,
        "domain": domain,
        "status": 1,
        "fetch_time": 0,
        "modified_time": None,
        "retries": 0,
        "fetch_interval": 2_592_000,
        "score": 1.0,
        "signature": None,
        "fixed_interval": None,
        "depth": None,
        "max_depth": None,
        "orphan_time": None,
        "content_type": None,
        "repr_url": None,
        "metadata": {},
        "metadata_types": None,
        "generate_time": 0,
        "seq": 0,
        "part": part,
        "position": position,
    }
