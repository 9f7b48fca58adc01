"""`filbert search`: hits of the embedded index, as values that a door prints.

Guarantee: only reads. `FIELDS` says what stands in a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from filbert.errors import UserError
from filbert.model.clock import iso
from filbert.search.schema import index_exists
from filbert.search.searcher import SearchIndex

if TYPE_CHECKING:
    from filbert.search.searcher import Hit, SearchResult
    from filbert.settings.search import SearchSettings
    from filbert.store.crawl import CrawlFolder

__all__ = ["FIELDS", "SearchOptions", "hit_row", "search", "what_to_run"]

FIELDS = {
    "rank": "its place among the hits, from 1",
    "url": "the page's URL",
    "title": "the title as indexed (index.max_title_length), or the URL; plain text",
    "title_html": "the same, escaped for HTML, what matches between <b> and </b>",
    "snippet": "the part of the text that matches best (search.snippet_length); plain text",
    "snippet_html": "the same, escaped for HTML, what matches between <b> and </b>",
    "score": "text_score times what the page's score gives (search.score_weight)",
    "text_score": "BM25 of the words, with the weights of the fields",
    "page_score": "the page's score, from the crawldb",
    "host": "the URL's host",
    "language": "the page's language, if it names one",
    "fetched": "when it was fetched, UTC",
    "segment": "the segment that it came from",
    "digest": "the fingerprint of its content",
}
"""What a row has, in order."""


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
    if not index_exists(crawl.index_dir):
        raise UserError(f"{crawl.path} has no index yet", hint=what_to_run(crawl))
    index = SearchIndex.open(crawl.index_dir, settings)
    result = index.search(
        options.query,
        limit=options.limit,
        offset=options.offset,
        per_host=options.per_host,
        explain=options.explain,
    )
    return result, index.count()


def what_to_run(crawl: CrawlFolder) -> str:
    """Return what brings pages into the index."""
    return (
        f"`filbert index {crawl.path}` writes what is fetched and parsed; "
        f"`filbert crawl {crawl.path}` fetches, and ends with the index"
    )


def hit_row(hit: Hit, rank: int) -> dict[str, Any]:
    """Return a hit as plain values, by the names of `FIELDS` and, if explained, `words`."""
    fetched = _first(hit, "tstamp")
    row: dict[str, Any] = {
        "rank": rank,
        "url": hit.url,
        "title": hit.title.text,
        "title_html": hit.title.html(),
        "snippet": hit.snippet.text,
        "snippet_html": hit.snippet.html(),
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
