"""`filbert search`: hits of the embedded index, as values that a door prints.

Guarantee: only reads. In a row the snippet and title are HTML-safe, matches between `<b>` and
`</b>`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from filbert.model.clock import iso
from filbert.search.searcher import SearchIndex

if TYPE_CHECKING:
    from filbert.search.searcher import Hit, SearchResult
    from filbert.settings.search import SearchSettings
    from filbert.store.crawl import CrawlFolder

__all__ = ["ROW_COLUMNS", "SearchOptions", "hit_row", "search"]

ROW_COLUMNS = (
    "rank",
    "url",
    "title",
    "snippet",
    "score",
    "text_score",
    "page_score",
    "host",
    "language",
    "fetched",
    "segment",
    "digest",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What is looked for.

    Attributes:
        query: In the language of `search.query`.
        limit: Hits wanted.
        offset: Hits passed over before them.
        per_host: Hits of one host at most; 0: any number.
        explain: Say what each word adds.
    """

    query: str
    limit: int = 10
    offset: int = 0
    per_host: int = 0
    explain: bool = False


def search(
    crawl: CrawlFolder, settings: SearchSettings, options: SearchOptions
) -> tuple[SearchResult, int]:
    """Return the hits, and the number of pages in the index.

    Raises:
        UserError: The query is wrong, or there is no index yet.
        DataError: The index is damaged.
    """
    index = SearchIndex.open(crawl.index_dir, settings)
    result = index.search(
        options.query,
        limit=options.limit,
        offset=options.offset,
        per_host=options.per_host,
        explain=options.explain,
    )
    return result, index.count()


def hit_row(hit: Hit, rank: int) -> dict[str, Any]:
    """Return a hit as plain values, by the names of `ROW_COLUMNS` and, if explained, `words`."""
    fetched = _first(hit, "tstamp")
    row: dict[str, Any] = {
        "rank": rank,
        "url": hit.url,
        "title": hit.title.html(),
        "snippet": hit.snippet.html(),
        "score": round(hit.score, 6),
        "text_score": round(hit.text_score, 6),
        "page_score": hit.boost,
        "host": hit.host,
        "language": _first(hit, "lang"),
        "fetched": iso(int(fetched)) if fetched is not None else None,
        "segment": _first(hit, "segment"),
        "digest": _first(hit, "digest"),
    }
    if hit.words:
        row["words"] = [
            {"word": one.word, "field": one.field, "score": round(one.score, 6)}
            for one in hit.words
        ]
    return row


def _first(hit: Hit, name: str) -> str | int | float | None:
    values = hit.fields.get(name, [])
    return values[0] if values else None
