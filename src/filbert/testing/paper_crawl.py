"""A crawl folder on paper: rows that a test says, committed as the steps would commit them.

Guarantee: a column that is not said has the plainest value of its type, so that a test says only
what it is about. Nothing is fetched or parsed.
"""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING, Any

from filbert.model.clock import FixedClock
from filbert.model.schemas import TABLES, Type
from filbert.model.statuses import FetchStatus, PageStatus, ParseMajor
from filbert.rules.urls import place_of, url_hash
from filbert.store.commits import Commit
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.store.segments import Segment
    from filbert.store.tables import Table

__all__ = ["NOW", "PaperCrawl", "page_row"]

NOW = 1_796_000_000_000
_DAY_MS = 86_400_000
_PLAIN: Mapping[Type, Any] = {
    Type.STRING: "",
    Type.BINARY: b"",
    Type.BOOLEAN: False,
    Type.FLOAT: 1.0,
    Type.DOUBLE: 1.0,
}


def page_row(table: str, url: str, /, **said: Any) -> dict[str, Any]:
    """Return a row of `table` for `url` with what is said, the rest plain."""
    schema = TABLES[table]
    row: dict[str, Any] = {
        column.name: _PLAIN.get(column.type, 0) for column in schema.columns if not column.nullable
    }
    if "url" in row:
        row["url"] = url
    if "domain" in row:
        row["host"], row["domain"] = place_of(url)
    if "fetch_interval" in row:
        row["fetch_interval"] = 2_592_000
    return {**row, **said}


class PaperCrawl:
    """Makes a crawl folder and its tables.

    Args:
        path: Where; made if it is not there.
        clock: Its time; moved a second by each segment.
    """

    def __init__(self, path: Path, *, clock: FixedClock | None = None) -> None:
        self.clock = clock or FixedClock(NOW)
        self.folder = CrawlFolder.create(path, clock=self.clock, buckets=1)

    def crawldb(
        self,
        pages: Mapping[str, PageStatus | Mapping[str, Any]],
        *,
        step: str = "updatedb",
        absorbs: Sequence[Segment] = (),
    ) -> int:
        """Make a version of the crawldb of just these pages; return its number."""
        table = self.folder.table("crawldb")
        rows = []
        for url, said in pages.items():
            values: dict[str, Any] = (
                {"status": said} if isinstance(said, PageStatus) else dict(said)
            )
            values.setdefault("seq", table.next_version())
            values.setdefault("fetch_time", self.clock.now_ms() + 30 * _DAY_MS)
            rows.append(page_row("crawldb", url, **values))
        transactions = {f"update:{segment.name}": 1 for segment in absorbs}
        return self._commit(table, rows, step=step, transactions=transactions, replace=True)

    def rows(self, name: str, rows: Sequence[Mapping[str, Any]], *, step: str = "test") -> int:
        """Add rows to origins, linkdb or hostdb."""
        table = self.folder.table(name)
        whole = [page_row(name, said.get("url", ""), **said) for said in rows]
        for row in whole:
            if name == "linkdb":
                row["bucket"] = url_hash(row["url"]) % table.buckets
        return self._commit(table, whole, step=step)

    def segment(
        self,
        fetched: Mapping[str, Mapping[str, Any]],
        *,
        links: Sequence[Mapping[str, Any]] = (),
    ) -> Segment:
        """Make a parsed segment.

        Args:
            fetched: URL to what is said of it: columns of crawl_fetch by their name, `title`,
                `text` and `parsed` (columns of parse_data); a page without text is not parsed.
            links: Rows of crawl_parse.
        """
        now = self.clock.now_ms()
        segment = self.folder.new_segment(now)
        fetches, parses, texts = [], [], []
        for position, (url, said) in enumerate(fetched.items()):
            values = dict(said)
            text, title = values.pop("text", None), values.pop("title", "")
            parsed = values.pop("parsed", {})
            values = {"status": FetchStatus.FETCH_SUCCESS, "fetch_time": now, **values}
            fetches.append(page_row("crawl_fetch", url, position=position, **values))
            if text is None:
                continue
            facts = {"major": ParseMajor.SUCCESS, "title": title, "canonical": True}
            facts["signature"] = md5(text.encode(), usedforsecurity=False).digest()
            parses.append(page_row("parse_data", url, **{**facts, **parsed}))
            texts.append(page_row("parse_text", url, text=text))
        generated = [
            page_row("crawl_generate", url, position=position)
            for position, url in enumerate(fetched)
        ]
        self._commit(segment.table("crawl_generate"), generated, step="generate")
        rows = [page_row("crawl_parse", said["url"], **said) for said in links]
        self._commit(segment.table("crawl_parse"), rows, step="parse")
        self._commit(segment.table("crawl_fetch"), fetches, step="fetch")
        self._commit(segment.table("parse_text"), texts, step="parse")
        self._commit(segment.table("parse_data"), parses, step="parse")
        self.clock.advance(1000)
        return segment

    def _commit(
        self,
        table: Table,
        rows: Sequence[Mapping[str, Any]],
        *,
        step: str,
        transactions: Mapping[str, int] | None = None,
        replace: bool = False,
    ) -> int:
        with self.folder.scratch("paper") as scratch:
            with ParquetSink(table.schema, scratch, table.name) as sink:
                sink.extend(rows)
            return table.commit(
                Commit(
                    step=step,
                    add=sink.files,
                    remove="all" if replace else (),
                    transactions=transactions or {},
                )
            )
