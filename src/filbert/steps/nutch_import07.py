"""`nutch import` of what Nutch 0.6 and 0.7 left: a web database, segments.

Guarantee: as for a crawl of 1.x: the source is not changed, each table is committed once. A link
of the web database comes from a content, not from a URL: it is a link of every page that has that
content.
Source: Nutch 0.7 `db.WebDBReader`, `segment.SegmentReader`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from filbert.model.records import CrawlDatum, FetchRecord, ProtocolOutput
from filbert.model.schemas import (
    CRAWL_GENERATE,
    CRAWL_PARSE,
    CRAWLDB,
    DATUM_COLUMNS,
    LINKDB,
    PARSE_DATA,
    PARSE_TEXT,
)
from filbert.model.statuses import FetchStatus, ProtocolStatus
from filbert.nutch.v07.rows import (
    LISTED,
    content_as_new,
    entry_columns,
    fetch_status_of,
    page_columns,
    parse_columns,
    parsed_columns,
)
from filbert.nutch.v07.segment import OldSegment
from filbert.nutch.v07.status import ParseStatus
from filbert.nutch.v07.status import ProtocolStatus as OldStatus
from filbert.nutch.v07.webdb import WebDB
from filbert.nutch.v1.captures import protocol_output
from filbert.rules.urls import place_of, url_hash
from filbert.steps.nutch_tables import commit_in_buckets, commit_once, note_origins
from filbert.store.captures import CaptureLog, CaptureOptions
from filbert.store.parquet import ParquetSink
from filbert.store.seal import seal
from filbert.store.segments import Segment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.engine.base import WrittenFile
    from filbert.nutch.damage import Damage
    from filbert.nutch.v07.segment import Captured
    from filbert.nutch.v07.sources import OldSource
    from filbert.steps.context import StepContext

__all__ = ["import_old"]

_CANT_PARSE, _FAILED_PARSE = 4, 2  # of 0.6; of ParseStatus
_LONG = "org.apache.hadoop.io.LongWritable"
_FAILED = frozenset({FetchStatus.FETCH_RETRY, FetchStatus.FETCH_GONE})


def import_old(
    context: StepContext, source: OldSource, scratch: Path, damage: Damage | None
) -> tuple[tuple[str, ...], Counter[str]]:
    """Import what there is of Nutch 0.6 or 0.7.

    Args:
        context: The step's.
        source: It.
        scratch: Where files are written.
        damage: Takes what is left out; None: damage is an error.

    Returns:
        What is to be told, and what is here in the end.
    """
    counters: Counter[str] = Counter()
    notes = tuple(f"{folder} is no web database: nothing of it came" for folder in source.empty)
    for folder in source.segments:
        path = context.crawl.segments_dir / folder.name
        path.mkdir(parents=True, exist_ok=True)
        segment = Segment(path, clock=context.clock)
        old = OldSegment(folder, damage=damage)
        _OldSegment(context, old, segment, scratch / folder.name).run()
        counters["captures"] += segment.table("crawl_fetch").count()
        counters["segments"] += 1
    if source.webdb is not None:
        _import_webdb(context, source.webdb, scratch, damage)
        counters["pages"] = context.crawl.table("crawldb").count()
        counters["links"] = context.crawl.table("linkdb").count()
    return notes, counters


def _import_webdb(context: StepContext, path: Path, scratch: Path, damage: Damage | None) -> None:
    crawldb, linkdb = context.crawl.table("crawldb"), context.crawl.table("linkdb")
    with WebDB(path, damage=damage) as db:
        if linkdb.transaction("import:linkdb") is None:
            with ParquetSink(LINKDB, scratch / "links", "links") as sink:
                sink.extend(_links(db, linkdb.buckets))
            commit_in_buckets(context, linkdb, sink.files, scratch / "linkdb")
        if crawldb.transaction("import:crawldb") is None:
            seq = crawldb.next_version()
            with ParquetSink(CRAWLDB, scratch / "pages", "pages") as pages:
                for page in db.pages():
                    bucket = url_hash(page.url) % crawldb.buckets
                    pages.append({**page_columns(page), "bucket": bucket, "seq": seq})
            note_origins(context, pages.files, scratch, str(path))
            commit_in_buckets(context, crawldb, pages.files, scratch / "crawldb")


def _links(db: WebDB, buckets: int) -> Iterator[dict[str, Any]]:
    """Yield each link once for each page that has the content that it is on."""
    pages = groupby(db.pages_by_md5(), lambda page: page.md5)
    md5, several = next(pages, (None, iter(())))
    for source, links in groupby(db.links_by_md5(), lambda link: link.from_id):
        while md5 is not None and md5 < source:
            md5, several = next(pages, (None, iter(())))
        urls = [page.url for page in several] if md5 == source else []
        for link in links:
            bucket = url_hash(link.url) % buckets
            for url in urls:
                yield {"url": link.url, "from_url": url, "anchor": link.anchor, "bucket": bucket}


class _OldSegment:
    def __init__(
        self, context: StepContext, old: OldSegment, segment: Segment, scratch: Path
    ) -> None:
        self._context = context
        self._old = old
        self._segment = segment
        self._scratch = scratch

    def run(self) -> None:
        table = self._segment.table
        if self._old.has("fetchlist"):
            commit_once(table("crawl_generate"), self._fetch_list)
        done = table("crawl_fetch").transaction("import:crawl_fetch") is not None
        if not self._old.is_fetched or done:
            return
        fetches, links, texts, parses = self._captures()
        commit_once(table("crawl_parse"), lambda: links)
        if self._old.is_parsed:
            commit_once(table("parse_text"), lambda: texts)
            commit_once(table("parse_data"), lambda: parses)
        commit_once(table("crawl_fetch"), lambda: fetches)
        shutil.rmtree(self._segment.journal_dir, ignore_errors=True)

    def _fetch_list(self) -> tuple[WrittenFile, ...]:
        buckets = self._context.crawl.table("crawldb").buckets
        with ParquetSink(CRAWL_GENERATE, self._scratch, "generate") as sink:
            for number, entry in enumerate(self._old.fetch_list()):
                bucket = url_hash(entry.page.url) % buckets
                more = {"bucket": bucket, "seq": 0, "part": 0, "position": number}
                sink.append({**entry_columns(entry), **more})
        return sink.files

    def _captures(self) -> tuple[tuple[WrittenFile, ...], ...]:
        """Write what the fetch left; return the files of four tables."""
        for folder in (self._segment.content_dir, self._segment.journal_dir):
            shutil.rmtree(folder, ignore_errors=True)
        options = CaptureOptions.from_settings(self._context.settings)
        with (
            CaptureLog(
                self._segment.content_dir,
                self._segment.journal_dir,
                0,
                options=options,
                clock=self._context.clock,
            ) as log,
            ParquetSink(CRAWL_PARSE, self._scratch, "links") as links,
            ParquetSink(PARSE_TEXT, self._scratch, "text") as texts,
            ParquetSink(PARSE_DATA, self._scratch, "data") as parses,
        ):
            parsed: set[str] = set()  # a page to which a redirect led may come twice
            for number, one in enumerate(self._old.captures()):
                record = _record(one, number)
                log.append(record, _output(one, record))
                if record.status is not FetchStatus.FETCH_SUCCESS or record.url in parsed:
                    continue
                parsed.add(record.url)
                links.extend(_parse_rows(one, record))
                if one.data is not None:
                    data = one.data
                    if one.old_status == _CANT_PARSE:
                        data = replace(data, status=ParseStatus(major=_FAILED_PARSE))
                    parses.append(parse_columns(record.url, data, one.output.md5.value))
                    text = one.text.text if one.text is not None else None
                    texts.append({"url": record.url, "text": text or ""})
        sealed = seal(self._segment.journal_dir, 0, self._scratch)
        return sealed.files["crawl_fetch"], links.files, texts.files, parses.files


def _record(one: Captured, number: int) -> FetchRecord:
    """Return the row of crawl_fetch of a page; what was not to be fetched is not modified."""
    entry, said = one.output.entry, one.output.status
    if one.old_status == _CANT_PARSE:
        said = OldStatus(code=ProtocolStatus.SUCCESS)
    status = fetch_status_of(said) if entry.fetch else FetchStatus.FETCH_NOTMODIFIED
    row = entry_columns(entry)
    noted = {LISTED: str(entry.page.next_fetch)}
    if status is not FetchStatus.FETCH_SUCCESS:
        noted |= parsed_columns(one.text, one.data)
    row["metadata"] = {**(row["metadata"] or {}), **noted}
    row["metadata_types"] = {**(row["metadata_types"] or {}), LISTED: _LONG}
    datum = {name: row[name] for name in DATUM_COLUMNS if row.get(name) is not None}
    code = ProtocolStatus(said.code) if said.code in set(ProtocolStatus) else ProtocolStatus.FAILED
    message = next(iter(said.args or ()), None)
    moved = status in {FetchStatus.FETCH_REDIR_PERM, FetchStatus.FETCH_REDIR_TEMP}
    return FetchRecord(
        url=row["url"],
        host=row["host"],
        domain=row["domain"],
        hop=0,
        part=0,
        position=number,
        status=status,
        fetch_time=one.output.fetch_date,
        datum=CrawlDatum(**datum),
        protocol_code=code,
        protocol_message=message or "",
        http_status=None,
        reason=code.label if status in _FAILED else None,
        redirect_url=message if moved else None,
    )


def _output(one: Captured, record: FetchRecord) -> ProtocolOutput | None:
    if one.content is None or not one.content.content:
        return None
    return protocol_output(content_as_new(one.content), record)


def _parse_rows(one: Captured, record: FetchRecord) -> Iterator[dict[str, Any]]:
    """Yield the rows of crawl_parse of a page: its signature, and its links."""
    base = {
        "from_url": record.url,
        "fetch_time": record.fetch_time,
        "retries": 0,
        "fetch_interval": record.datum.fetch_interval,
    }
    yield {
        **base,
        "url": record.url,
        "host": record.host,
        "domain": record.domain,
        "ordinal": 0,
        "kind": "signature",
        "to_db": True,
        "to_linkdb": False,
        "score": 0.0,
        "signature": one.output.md5.value,
    }
    for number, link in enumerate(one.data.outlinks if one.data else (), 1):
        host, domain = place_of(link.to_url)
        yield {
            **base,
            "url": link.to_url,
            "host": host,
            "domain": domain,
            "ordinal": number,
            "kind": "outlink",
            "to_db": True,
            "to_linkdb": True,
            "anchor": link.anchor,
            "score": record.datum.score,
        }
