"""Asking the embedded index.

Guarantee: a query sees one commit of the index. Hits come best first; equal ones by URL, so the
same index gives the same answer. If no page has all the words, pages that have some are shown,
and the result says so. The page's score moves a hit by (1 + score) to the power of
`search.score_weight`, among the best `_WINDOW` hits by text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypedDict

import msgpack
import tantivy

from filbert.errors import UserError
from filbert.rules.urls import host_of
from filbert.search import schema as names
from filbert.search.compile import Compiled, compile_query
from filbert.search.query import parse_query
from filbert.search.schema import index_exists, open_index
from filbert.search.snippet import Snippet, make_snippet, mark
from filbert.search.writer import read_memory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from filbert.settings.search import SearchSettings

__all__ = ["Hit", "SearchIndex", "SearchResult", "WordScore"]

_WINDOW = 1000  # hits by text that the page's score may reorder


@dataclass(frozen=True, slots=True)
class WordScore:
    """What one word adds to a hit in one field."""

    word: str
    field: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One page found; `fields` is the whole document as it was indexed."""

    url: str
    host: str
    title: Snippet
    snippet: Snippet
    score: float  # text_score * factor
    text_score: float  # BM25 with the field weights
    factor: float  # of the page's score
    boost: float  # the page's score as indexed
    fields: Mapping[str, list[str | int | float]]
    words: tuple[WordScore, ...] = ()  # with explain=True


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, how many pages match, and whether all words were wanted."""

    query: str
    total: int
    relaxed: bool
    hits: tuple[Hit, ...] = field(default=())


class _Record(TypedDict):
    url: str
    boost: float
    fields: dict[str, list[str | int | float]]


@dataclass(frozen=True, slots=True)
class _Ranked:
    score: float
    text_score: float
    boost: float
    record: _Record
    address: tantivy.DocAddress


class SearchIndex:
    """The index of a crawl folder, opened for reading.

    Args:
        index: The tantivy index.
        settings: Weights and the length of a snippet.
    """

    def __init__(self, index: tantivy.Index, settings: SearchSettings) -> None:
        self._index = index
        self._settings = settings
        self._searcher = index.searcher()

    @classmethod
    def open(cls, path: Path, settings: SearchSettings) -> Self:
        """Open the index at `path`.

        Raises:
            UserError: There is none yet.
            DataError: It is damaged, or of another version.
        """
        if not index_exists(path):
            raise UserError(f"there is no index at {path} yet", hint="run `filbert index` first")
        return cls(open_index(path), settings)

    def count(self) -> int:
        """Return the number of pages in the index."""
        page = tantivy.Query.term_query(self._index.schema, names.KIND, names.PAGE, "basic")
        return _total(self._searcher.search(page, 1))

    def memory(self) -> Mapping[str, str]:
        """Return what the index remembers of the crawl: segments absorbed, crawldb version."""
        return read_memory(self._index)

    def document(self, url: str) -> Mapping[str, list[str | int | float]] | None:
        """Return the fields of the document of `url`; None if the index has none."""
        query = tantivy.Query.term_query(self._index.schema, names.URL, url, "basic")
        hits = self._searcher.search(query, 1).hits
        if not hits:
            return None
        record = self._record(hits[0][1])
        return {"boost": [record["boost"]], **record["fields"]}

    def urls(self) -> list[str]:
        """Return all keys in the index, in order."""
        query = tantivy.Query.all_query()
        return [url for url, _ in self._searcher.terms_with_prefix(names.URL, "", query) if url]

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        offset: int = 0,
        per_host: int = 0,
        explain: bool = False,
    ) -> SearchResult:
        """Return the best pages for a query.

        Args:
            text: The query, in the language of `query.py`.
            limit: Hits wanted.
            offset: Hits passed over before them.
            per_host: Hits of one host at most; 0: any number.
            explain: Say what each word adds to a hit.

        Raises:
            UserError: The query is wrong; says where.
        """
        compiled = compile_query(parse_query(text), self._index.schema, self._settings)
        window = max(_WINDOW, offset + limit)
        query, relaxed = compiled.strict, False
        found = self._searcher.search(query, window)
        if not found.hits and compiled.relaxed is not None:
            query, relaxed = compiled.relaxed, True
            found = self._searcher.search(query, window)
        ranked = self._ranked(found.hits, offset + limit, per_host)
        hits = tuple(self._hit(one, compiled, explain=explain) for one in ranked[offset:])
        return SearchResult(
            query=text, total=_total(found), relaxed=relaxed and bool(hits), hits=hits
        )

    def _ranked(
        self, hits: list[tuple[float, tantivy.DocAddress]], wanted: int, per_host: int
    ) -> list[_Ranked]:
        boosts = self._searcher.fast_field_values(names.BOOST, [address for _, address in hits])
        scored = [
            (score * self._factor(boost or 0.0), score, boost or 0.0, address)
            for (score, address), boost in zip(hits, boosts, strict=True)
        ]
        scored.sort(key=lambda entry: -entry[0])
        taken: list[_Ranked] = []
        by_host: dict[str, int] = {}
        for score, text_score, boost, address in scored:
            if len(taken) >= wanted and score < taken[-1].score:
                break
            record = self._record(address)
            host = host_of(record["url"])
            by_host[host] = by_host.get(host, 0) + 1
            if not per_host or by_host[host] <= per_host:
                taken.append(_Ranked(score, text_score, boost, record, address))
        taken.sort(key=lambda one: (-one.score, one.record["url"]))
        return taken[:wanted]

    def _factor(self, boost: float) -> float:
        return float((1.0 + max(boost, 0.0)) ** self._settings.score_weight)

    def _record(self, address: tantivy.DocAddress) -> _Record:
        record: _Record = msgpack.unpackb(self._searcher.doc(address).get_first(names.RECORD))
        return record

    def _hit(self, ranked: _Ranked, compiled: Compiled, *, explain: bool) -> Hit:
        fields = ranked.record["fields"]
        url = ranked.record["url"]
        title = str(next(iter(fields.get("title", ())), "") or url)
        content = str(next(iter(fields.get("content", ())), ""))
        return Hit(
            url=url,
            host=host_of(url),
            title=mark(title, compiled.marks),
            snippet=make_snippet(
                content, compiled.marks, self._settings.snippet_length, title=title
            ),
            score=ranked.score,
            text_score=ranked.text_score,
            factor=self._factor(ranked.boost),
            boost=ranked.boost,
            fields=fields,
            words=self._word_scores(compiled, ranked) if explain else (),
        )

    def _word_scores(self, compiled: Compiled, ranked: _Ranked) -> tuple[WordScore, ...]:
        only = tantivy.Query.term_query(
            self._index.schema, names.URL, ranked.record["url"], "basic"
        )
        found = []
        for word, name, query in compiled.parts:
            must = tantivy.Occur.Must
            both = tantivy.Query.boolean_query(
                [(must, query), (must, tantivy.Query.const_score_query(only, 0.0))]
            )
            for score, _ in self._searcher.search(both, 1).hits:
                found.append(WordScore(word, name, score))
        return tuple(sorted(found, key=lambda one: -one.score))


def _total(found: tantivy.SearchResult) -> int:
    count: int | None = found.count  # type: ignore[attr-defined]  # missing in its type stub
    return count or 0
