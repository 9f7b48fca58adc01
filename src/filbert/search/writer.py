"""The index writer `embedded`: documents into the crawl folder's own index.

Guarantee: what is written, deleted and remembered becomes visible in one commit, or not at all: a
kill at any instant leaves the index of the last commit. One process writes at a time (the lock
ends with the process). Documents may come in any order; the last one of a URL stays.
Source: Nutch's `IndexWriter`; the part played there by Solr or Elasticsearch.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote, urlsplit

import msgpack
import tantivy

from filbert.errors import DataError, EngineError
from filbert.search import schema as names
from filbert.search.schema import create_index
from filbert.search.text import bigrams, fold, words_only

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from filbert.model.records import Document
    from filbert.settings import Settings
    from filbert.settings.search import SearchSettings

__all__ = ["EmbeddedWriter", "site_terms"]

_MB = 1024 * 1024
_LITTLE_ROOM = 16 * _MB  # free bytes below which a write that failed is taken for a full disk


class EmbeddedWriter:
    """Writes the index at `path`; a context manager.

    Args:
        path: The index folder; made on entering if it is missing.
        settings: How much memory to use.
    """

    name = "embedded"

    def __init__(self, path: Path, settings: SearchSettings) -> None:
        self._path = path
        self._settings = settings
        self._anew = False
        self._changed = False
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter | None = None
        self._memory: dict[str, str] = {}

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the writer of the crawl folder `folder`."""
        return cls(folder / "index", settings.search)

    def __enter__(self) -> Self:
        """Open the index for writing.

        Raises:
            DataError: It is damaged, of another version, or another process writes to it.
        """
        self._index = self._open()
        try:
            heap = self._settings.writer_memory_mb * _MB
            self._writer = self._index.writer(heap, num_threads=1)
            self._writer.garbage_collect_files()  # of a run that was killed or had no room
        except ValueError as error:
            raise _translated(error, self._path) from error
        self._memory = {} if self._anew else read_memory(self._index)
        if self._anew:
            self._writer.delete_all_documents()
        self._changed = False
        return self

    def __exit__(self, *exc: object) -> None:
        """Drop what is not committed; wait for the index's own merges."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        try:
            if self._changed:
                writer.rollback()
            writer.wait_merging_threads()
        except ValueError:
            if exc[0] is None:
                raise

    def clear(self) -> None:
        """Start from an empty index; called before entering. The old one stays until `commit`."""
        self._anew = True

    def memory(self) -> Mapping[str, str]:
        """Return what was remembered at the last commit."""
        return dict(self._memory)

    def remember(self, memory: Mapping[str, str]) -> None:
        """Have `memory` take the place of what was remembered, with the next commit."""
        self._memory = dict(memory)
        document = tantivy.Document()
        document.add_text(names.KIND, names.MEMORY)
        document.add_bytes(names.RECORD, json.dumps(self._memory, sort_keys=True).encode())
        writer = self._open_writer()
        writer.delete_documents_by_term(names.KIND, names.MEMORY)
        writer.add_document(document)

    def holds(self, url: str) -> bool:
        """Say whether the last commit has a document of `url`."""
        assert self._index is not None
        query = tantivy.Query.term_query(self._index.schema, names.URL, url, "basic")
        return bool(self._index.searcher().search(query, 1).hits)

    def write(self, document: Document) -> None:
        """Add the document, or replace the one of the same URL."""
        writer = self._open_writer()
        writer.delete_documents_by_term(names.URL, document.url)
        try:
            writer.add_document(_to_tantivy(document))
        except (ValueError, OSError) as error:
            raise _translated(error, self._path) from error

    def delete(self, url: str) -> None:
        """Delete the document of `url`; nothing happens if there is none."""
        self._open_writer().delete_documents_by_term(names.URL, url)

    def commit(self) -> None:
        """Make all that was written, deleted and remembered visible and durable.

        Raises:
            EngineError: The disk is full or fails; the last commit stays as it was.
        """
        assert self._index is not None
        try:
            self._open_writer().commit()
        except (ValueError, OSError) as error:
            raise _translated(error, self._path) from error
        self._changed = False
        self._index.reload()

    def _open(self) -> tantivy.Index:
        try:
            return create_index(self._path)
        except DataError:
            if not self._anew:
                raise
            shutil.rmtree(self._path)  # unreadable, and asked to be made anew
            return create_index(self._path)

    def _open_writer(self) -> tantivy.IndexWriter:
        assert self._writer is not None, "an index writer is a context manager"
        self._changed = True
        return self._writer


def read_memory(index: tantivy.Index) -> dict[str, str]:
    """Return what an index remembers; empty if nothing."""
    searcher = index.searcher()
    query = tantivy.Query.term_query(index.schema, names.KIND, names.MEMORY, "basic")
    hits = searcher.search(query, 1).hits
    if not hits:
        return {}
    record = searcher.doc(hits[0][1]).get_first(names.RECORD)
    memory: dict[str, str] = json.loads(record or b"{}")
    return memory


def site_terms(url: str) -> list[str]:
    """Return what `site:` may say for a URL: its host, the domains above it, host and port."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return []
    terms = [host] if host else []
    if not host.replace(".", "").isdigit() and ":" not in host:
        labels = host.split(".")
        terms += [".".join(labels[i:]) for i in range(1, len(labels))]
    if port is not None:
        terms.append(f"{host}:{port}")
    return terms


def _to_tantivy(page: Document) -> tantivy.Document:
    document = tantivy.Document()
    document.add_text(names.KIND, names.PAGE)
    document.add_text(names.URL, page.url)
    document.add_float(names.BOOST, page.boost)
    document.add_integer(names.TIME, int(_first(page, "tstamp") or 0))
    for term in site_terms(page.url):
        document.add_text(names.SITE, term)
    for language in _languages(page):
        document.add_text(names.LANGUAGE, language)
    _add_words(document, page)
    document.add_bytes(names.RECORD, _record(page))
    return document


def _add_words(document: tantivy.Document, page: Document) -> None:
    title, text = fold(str(_first(page, "title") or "")), fold(str(_first(page, "content") or ""))
    _add_text(document, "title", [title])
    _add_text(document, "text", [text])
    _add_text(document, "anchor", [fold(str(anchor)) for anchor in page.fields.get("anchor", ())])
    document.add_text("url_words", fold(unquote(page.url.partition("://")[2] or page.url)))
    document.add_text("host_words", fold(str(_first(page, "host") or "")))
    if "en" in _languages(page):
        document.add_text(names.STEM_FIELD, f"{words_only(title)} {words_only(text)}")


def _add_text(document: tantivy.Document, name: str, folded: Iterable[str]) -> None:
    for value in folded:
        document.add_text(name, words_only(value))
        if terms := bigrams(value):
            document.add_text(f"{name}_pairs", terms)


def _languages(page: Document) -> list[str]:
    language = str(_first(page, "lang") or "").lower().replace("_", "-")
    if not language:
        return []
    primary = language.split("-")[0]
    return [language] if primary == language else [language, primary]


def _first(page: Document, name: str) -> str | int | float | None:
    values = page.fields.get(name, ())
    return values[0] if values else None


def _record(page: Document) -> bytes:
    fields = {name: list(values) for name, values in page.fields.items()}
    packed: bytes = msgpack.packb({"url": page.url, "boost": page.boost, "fields": fields})
    return packed


def _translated(error: Exception, path: Path) -> DataError | EngineError:
    text = str(error)
    if "LockBusy" in text:
        return DataError(
            f"another process is writing the index at {path}", hint="wait until it has ended"
        )
    message = f"the index at {path} could not be written: {text}"
    if "No space left" in text or shutil.disk_usage(path).free < _LITTLE_ROOM:
        return EngineError(
            f"the disk is full: {message}",
            hint="the index is as it was before; make room, and run the same again",
        )
    return EngineError(message)
