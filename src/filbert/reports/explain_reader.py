"""Rows of one URL out of all tables of a crawl folder, for `explain`.

Guarantee: only reads. Rows are plain dicts: times epoch milliseconds, maps dicts; a row of a
segment has its `segment`.
"""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filbert.engine.base import Collect, Files, Query
from filbert.engine.local import LocalEngine
from filbert.errors import FilbertError
from filbert.model.schemas import Type
from filbert.rules.explain_facts import VersionFacts
from filbert.rules.sql import literal
from filbert.rules.urls import url_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from filbert.model.schemas import TableSchema
    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder
    from filbert.store.tables import CommitRecord

__all__ = ["Reader", "open_reader"]

_VERSIONS = 200  # of the crawldb, the newest
_UPDATE = "update:"


@contextlib.contextmanager
def open_reader(crawl: CrawlFolder, settings: EngineSettings) -> Iterator[Reader]:
    """Open a reader; it spills, if at all, outside the crawl folder."""
    with (
        tempfile.TemporaryDirectory(prefix="filbert-") as spill,
        LocalEngine(settings, Path(spill)) as engine,
    ):
        yield Reader(crawl=crawl, engine=engine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Asks the tables."""

    crawl: CrawlFolder
    engine: LocalEngine

    def ask(self, sql: str, views: Mapping[str, Files]) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        written = self.engine.execute(Query(name="explain", sql=sql), views, Collect())
        assert written.table is not None
        return [dict(row) for row in written.table.to_pylist()]

    def one(self, name: str, column: str, value: str) -> dict[str, Any] | None:
        """Return the row of a crawl table where a column has a value."""
        table = self.crawl.table(name)
        bucket = url_hash(value) % table.buckets if "bucket" in table.schema.names else None
        files = table.files(bucket=bucket)
        return self._one(files, column, value)

    def _one(self, files: Files, column: str, value: str) -> dict[str, Any] | None:
        sql = f"select * from rows where {column} = {literal(value)} limit 1"
        found = self.ask(sql, {"rows": files}) if files.paths else []
        return _plain(found[0], files.schema) if found else None

    def in_segments(
        self, name: str, where: str, *, columns: str = "*", order: str = "", limit: int = 0
    ) -> tuple[list[dict[str, Any]], int]:
        """Return rows of a table over all segments, and how many there are in all."""
        views = {}
        selects = []
        schema = None
        for number, segment in enumerate(self.crawl.segments()):
            table = segment.table(name)
            files = table.files()
            schema = files.schema
            if files.paths:
                views[f"rows_{number}"] = files
                selects.append(
                    f"select {literal(segment.name)} as segment, {columns}"
                    f" from rows_{number} where {where}"
                )
        if not selects or schema is None:
            return [], 0
        union = " union all ".join(selects)
        ordered = f" order by {order}" if order else ""
        cut = f" limit {limit:d}" if limit else ""
        sql = f"select *, count(*) over () as in_all from ({union}) found{ordered}{cut}"
        found = self.ask(sql, views)
        in_all = int(found[0]["in_all"]) if found else 0
        return [_plain(row, schema) for row in found], in_all

    def versions(self, url: str) -> tuple[VersionFacts, ...]:
        """Return the row of `url` in each version of the crawldb that can still be read."""
        table = self.crawl.table("crawldb")
        bucket = url_hash(url) % table.buckets
        known: dict[tuple[str, ...], dict[str, Any] | None] = {}
        found = []
        for record in reversed(table.history()[:_VERSIONS]):
            try:
                files = table.files(record.version, bucket=bucket)
                if files.paths not in known:
                    known[files.paths] = self._one(files, "url", url)
            except FilbertError:
                continue  # vacuumed
            found.append(_version(record, known[files.paths]))
        return tuple(found)


def _version(record: CommitRecord, row: Mapping[str, Any] | None) -> VersionFacts:
    compared = {name: value for name, value in row.items() if name != "seq"} if row else None
    absorbed = (
        name.removeprefix(_UPDATE)
        for name, number in record.transactions.items()
        if name.startswith(_UPDATE) and number >= 0
    )
    return VersionFacts(
        version=record.version,
        time=record.time_ms,
        step=record.step,
        segments=tuple(sorted(absorbed)),
        row=compared,
    )


def _plain(row: dict[str, Any], schema: TableSchema) -> dict[str, Any]:
    for column in schema.columns:
        if column.type in (Type.STRING_MAP, Type.STRING_LISTS) and row.get(column.name) is not None:
            row[column.name] = dict(row[column.name])
    return row
