"""Page work of `index`: from rows to documents, one chunk at a time.

Guarantee: a chunk is a function of its rows and the settings; what a plugin drops or breaks on is
counted under a named reason. Documents go through a file, so that neither side holds a segment in
memory.
Source: Nutch `IndexerMapReduce`, `IndexingFilters`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgpack

from filbert.engine.base import PartResult
from filbert.model.records import Document, Inlink
from filbert.plugins.contracts import IndexInput, Scope
from filbert.plugins.registry import PluginRepository
from filbert.store import durable
from filbert.store.parquet import read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from filbert.engine.base import Files, Part
    from filbert.plugins.url_chain import UrlChain
    from filbert.settings import Settings

__all__ = ["Change", "MakeDocuments", "read_changes"]

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do to an index: write `document`, or delete `url` for `reason`."""

    url: str
    document: Document | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeDocuments:
    """The page task; picklable.

    Args:
        settings: Settings of the crawl.
        folder: The crawl folder, where plugins look for their files.
        documents: Rows of `rules.index.DOCUMENTS`.
        inlinks: Rows of `rules.index.INLINKS`.
        into: A scratch folder.
    """

    settings: Settings
    folder: Path
    documents: Files
    inlinks: Files
    into: Path

    def __call__(self, part: Part) -> PartResult:
        """Make the documents of chunk `part.number`; the payload is the file of changes."""
        maker = _Maker(self.settings, PluginRepository(self.settings, self.folder))
        where = f"chunk = {int(part.number)}"
        linked = _Grouped(read_rows(self.inlinks, ("url", "from_url", "anchor"), where))
        path = self.into / f"changes-{part.number:05d}.msgpack"
        packer = msgpack.Packer()
        with durable.room("making documents"), path.open("wb") as file:
            for row in read_rows(self.documents, where=where):
                links = linked.of(row["url"])
                for change in maker.changes(row, links):
                    file.write(packer.pack(_packed(change)))
        return PartResult(number=part.number, counters=maker.counters, payload=path)


def read_changes(path: Path) -> Iterator[Change]:
    """Yield the changes of a file that a chunk made."""
    with path.open("rb") as file:
        for url, fields, boost, why in msgpack.Unpacker(file, use_list=False, max_buffer_size=0):
            document = Document(url=url, fields=fields, boost=boost) if fields else None
            yield Change(url, document, why)


def _packed(change: Change) -> tuple[str, Mapping[str, Any] | None, float, str]:
    document = change.document
    if document is None:
        return change.url, None, 0.0, change.reason
    return change.url, dict(document.fields), document.boost, ""


class _Grouped:
    """Rows sorted by URL, given out group by group in step with another sorted stream."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._groups = groupby(rows, itemgetter("url"))
        self._next = next(self._groups, None)

    def of(self, url: str) -> list[Row]:
        """Return the rows of `url`; URLs must be asked for in order."""
        while self._next is not None and self._next[0] < url:
            self._next = next(self._groups, None)
        return list(self._next[1]) if self._next is not None and self._next[0] == url else []


class _Maker:
    def __init__(self, settings: Settings, plugins: PluginRepository) -> None:
        self.counters: Counter[str] = Counter()
        self._settings = settings.index
        self._filters = plugins.index_filters()
        self._scorings = plugins.scorings()
        asked = settings.index.filter or settings.index.normalize
        self._chain = plugins.url_chain() if asked else None

    def changes(self, row: Row, links: list[Row]) -> Iterator[Change]:
        """Yield what a judged row does to the index."""
        verdict = str(row["verdict"])
        url = row["url"] if self._chain is None else self._chosen(row["url"], self._chain)
        if url is None:
            self.counters["skip_url_filter"] += 1
        elif verdict.startswith("delete_"):
            yield Change(url, None, verdict.removeprefix("delete_"))
        elif verdict == "add":
            yield from self._added(url, row, links)
        else:
            self.counters[verdict] += 1

    def _chosen(self, url: str, chain: UrlChain) -> str | None:
        verdict = chain.apply(
            url, Scope.INDEXER, normalize=self._settings.normalize, judge=self._settings.filter
        )
        return verdict.url

    def _added(self, url: str, row: Row, links: list[Row]) -> Iterator[Change]:
        page = _input(url, row, links)
        document = self._scored(self._filtered(_first_fields(page), page), page)
        if document is not None:
            self.counters["indexed"] += 1
            yield Change(url, document)
        elif self._settings.delete_skipped:
            yield Change(url, None, "index_filter")

    def _filtered(self, document: Document, page: IndexInput) -> Document | None:
        found: Document | None = document
        for one in self._filters:
            try:
                found = one.filter(found, page) if found is not None else None
            except Exception:  # noqa: BLE001 - a stranger's code; counted by its name
                self.counters[f"skip_error_in_{one.name}"] += 1
                return None
            if found is None:
                self.counters[f"skip_by_{one.name}"] += 1
                return None
        return found

    def _scored(self, document: Document | None, page: IndexInput) -> Document | None:
        if document is None:
            return None
        boost = 1.0
        for scoring in self._scorings:
            try:
                boost = scoring.index_score(document, page.score, boost)
            except Exception:  # noqa: BLE001 - a stranger's code; counted by its name
                self.counters[f"skip_error_in_{scoring.name}"] += 1
                return None
        return replace(document, boost=boost, fields={**document.fields, "boost": (boost,)})


def _first_fields(page: IndexInput) -> Document:
    fields: dict[str, tuple[str | int | float, ...]] = {
        "id": (page.url,),
        "segment": (page.segment,),
    }
    if page.signature:
        fields["digest"] = (page.signature.hex(),)
    if page.language:
        fields["lang"] = (page.language,)
    return Document(url=page.url, fields=fields)


def _input(url: str, row: Row, links: list[Row]) -> IndexInput:
    return IndexInput(
        url=url,
        segment=row["segment"],
        title=row["title"] or "",
        text=row["text"] or "",
        content_metadata=_lists(row["content_metadata"]),
        parse_metadata=_lists(row["parse_metadata"]),
        metadata=row["metadata"] or {},
        content_type=row["content_type"],
        language=row["language"],
        charset=row["charset"],
        signature=row["signature"],
        noarchive=row["noarchive"],
        repr_url=row["repr_url"],
        fetch_time=row["fetch_time"],
        modified_time=row["modified_time"],
        score=row["score"],
        host=row["host"],
        inlinks=tuple(Inlink(from_url=one["from_url"], anchor=one["anchor"]) for one in links),
    )


def _lists(metadata: Mapping[str, list[str]] | None) -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in (metadata or {}).items()}
