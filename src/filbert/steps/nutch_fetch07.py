"""`nutch fetch07`: a segment of Nutch 0.7, fetched by our fetcher, written back as it was read.

Guarantee: as polite as every fetch of ours. Record i of `fetcher`, `content`, `parse_text` and
`parse_data` is of one page, in the order in which pages were done; with one thread that is the
order of the fetch list. A line of the list that is not to be fetched gets the MD5 of its URL and
empty content, text and data (`handleNoFetch`); a URL that could not be asked is one to be tried
again, never left out. The outputs appear when all is written.
Source: Nutch 0.6 `fetcher.Fetcher` (`run`, `outputPage`, `logError`, `close`).
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filbert.engine.base import Files, Query, WriteFiles
from filbert.errors import UserError
from filbert.fetcher.left_due import read_left_due
from filbert.fetcher.progress import read_progress
from filbert.model.schemas import CRAWL_GENERATE, Column, TableSchema, Type
from filbert.nutch.v07.fetched import Content, FetcherOutput
from filbert.nutch.v07.handle import (
    generated_columns,
    handle_fetch,
    handle_no_fetch,
    left_status,
    parse_data_of,
    redirected_entry,
    status_of,
)
from filbert.nutch.v07.page import FetchListEntry
from filbert.nutch.v07.parsed import ParseData, ParseText
from filbert.nutch.v07.segment import OldSegment, OldSegmentWriter
from filbert.nutch.v07.status import ProtocolStatus
from filbert.rules.urls import place_of, url_hash
from filbert.steps import fetch, parse
from filbert.steps.context import open_context
from filbert.store.parquet import ParquetSink, read_rows
from filbert.store.tables import Commit
from filbert.store.warc import read_capture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from filbert.nutch.v07.handle import Outputs
    from filbert.steps.context import StepContext
    from filbert.store.segments import Segment

__all__ = ["run"]

Row = dict[str, Any]
_OUTPUTS = (FetcherOutput.DIR_NAME, Content.DIR_NAME, ParseText.DIR_NAME, ParseData.DIR_NAME)
_STATUS_EVERY = 100
_LOOK_S = 0.2
_SUCCESS = 1
_OURS = ("fetcher.store_content=true", "parse.filter_urls=false", "http.redirect_max=3")
_DONE = TableSchema(
    name="done",
    key=("place",),
    columns=(
        Column("url", Type.STRING, "What was fetched.", nullable=False),
        Column("place", Type.BIGINT, "Its record in the outputs.", nullable=False),
    ),
)
_PLACED = {
    "parse_text": "select p.*, d.place from parse_text p join done d on d.url = p.url",
    "parse_data": "select p.*, d.place from parse_data p join done d on d.url = p.url",
    "crawl_parse": "select p.*, d.place from crawl_parse p join done d on d.url = p.from_url"
    " where p.kind = 'outlink'",
}


def run(
    segment: Path,
    overrides: Sequence[str],
    environ: Mapping[str, str],
    say: Callable[[str], None],
) -> int:
    """Fetch a segment of old; return how many records each output has.

    Args:
        segment: Its folder, with a `fetchlist`.
        overrides: `name=value` settings, as `-D` gives them.
        environ: The environment that settings may come from.
        say: Takes the lines of the log.

    Raises:
        UserError: There is no fetch list, the segment was fetched already, or `http.agent_name`
            is not set.
        CorruptDataError: The fetch list is damaged.
    """
    old = OldSegment(segment)
    if not old.has(FetchListEntry.DIR_NAME):
        raise UserError(f"{segment} has no {FetchListEntry.DIR_NAME} to be fetched")
    for name in _OUTPUTS:
        if (segment / name).exists():
            raise UserError(f"already exists: {segment / name}")
    with (
        tempfile.TemporaryDirectory(prefix="filbert-fetch07-") as folder,
        open_context(Path(folder) / "crawl", (*_OURS, *overrides), environ, create=True) as context,
    ):
        work = _Fetch07(context, old, say)
        work.fetch()
        return work.write()


@dataclass(slots=True)
class _Counts:
    """What the status lines say."""

    pages: int = 0
    errors: int = 0
    bytes: int = 0

    def lines(self, segment: str, took_ms: int) -> tuple[str, str]:
        seconds = max(took_ms, 1) / 1000
        each = f"{self.bytes / self.pages:.7g}" if self.pages else "NaN"
        return (
            (
                f"status: segment {segment}, {self.pages} pages, {self.errors} errors,"
                f" {self.bytes} bytes, {took_ms} ms"
            ),
            (
                f"status: {self.pages / seconds:.7g} pages/s,"
                f" {self.bytes * 8 / 1024 / seconds:.7g} kb/s, {each} bytes/page"
            ),
        )


class _Fetch07:
    def __init__(self, context: StepContext, old: OldSegment, say: Callable[[str], None]) -> None:
        self._context = context
        self._old = old
        self._say = say
        self._started = context.clock.now_ms()
        self._wanted = 0
        self._segment = self._listed()

    def _listed(self) -> Segment:
        """Make a segment of ours of the lines that are to be fetched."""
        segment = self._context.crawl.new_segment(self._started)
        with self._context.crawl.scratch("listed") as scratch:
            with ParquetSink(CRAWL_GENERATE, scratch, "listed") as sink:
                for number, entry in enumerate(self._old.fetch_list()):
                    if entry.fetch:
                        sink.append(_row(entry, number))
            self._wanted = sink.rows
            segment.table("crawl_generate").commit(Commit(step="fetch07", add=sink.files))
        return segment

    def fetch(self) -> None:
        """Fetch and parse, and log how it goes."""
        if not self._wanted:
            return
        with self._watched():
            fetch.run(self._context, fetch.FetchOptions(segment=self._segment.name))
        parse.run(self._context, parse.ParseOptions(segments=(self._segment.name,)))

    @contextmanager
    def _watched(self) -> Iterator[None]:
        ended = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(ended,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def _watch(self, ended: threading.Event) -> None:
        """Log a status at every 100th page."""
        told = 0
        while not ended.wait(_LOOK_S):
            counts = _Counts()
            for part in read_progress(self._segment.journal_dir):
                counts.pages += part.counters.get("fetch_success", 0)
                counts.errors += part.counters.get("fetch_retry", 0)
                counts.bytes += part.counters.get("bytes", 0)
            if counts.pages // _STATUS_EVERY > told:
                told = counts.pages // _STATUS_EVERY
                self._status(counts)

    def _status(self, counts: _Counts) -> None:
        took = self._context.clock.now_ms() - self._started
        for line in counts.lines(self._old.path.name, took):
            self._say(line)

    # ------------------------------------------------------------------ the outputs

    def write(self) -> int:
        """Write the four outputs; return how many records each has."""
        counts = _Counts()
        lines = self._in_order()
        with self._context.crawl.scratch("outputs") as scratch:
            done = _places(lines, scratch)
            takers = {name: _Taker(self._placed(name, done, scratch)) for name in _PLACED}
            fresh = self._old.path / ".fetch07"
            shutil.rmtree(fresh, ignore_errors=True)
            with OldSegmentWriter(fresh) as writer:
                for place, (entry, row) in enumerate(lines):
                    parsed = {name: taker.take(place) for name, taker in takers.items()}
                    outputs = self._outputs(entry, row, parsed)
                    writer.output_page(*outputs)
                    if row is not None:
                        _count(counts, outputs)
            for name in _OUTPUTS:
                (fresh / name).rename(self._old.path / name)
            fresh.rmdir()
        self._status(counts)
        return len(lines)

    def _outputs(
        self, entry: FetchListEntry, row: Row | None, parsed: Mapping[str, list[Row]]
    ) -> Outputs:
        if row is None:
            return handle_no_fetch(entry, ProtocolStatus(code=_SUCCESS), self._started)
        url, status = entry.page.url, row.get("left") or status_of(row)
        if not status.is_success or row["warc_file"] is None:
            self._say(f"fetch of {url} failed with: {status}")
            return handle_no_fetch(entry, status, row["fetch_time"])
        content = self._content(url, row)
        text = next((one["text"] for one in parsed["parse_text"]), "")
        data = parse_data_of(next(iter(parsed["parse_data"]), None), parsed["crawl_parse"], content)
        if not data.status.is_success:
            self._say(f"fetch okay, but can't parse {url}, reason: {data.status}")
        return handle_fetch(entry, row["fetch_time"], content, ParseText(text=text), data)

    def _content(self, url: str, row: Row) -> Content:
        place = (row["warc_file"], row["warc_offset"], row["warc_length"])
        capture = read_capture(self._segment.content_dir, *place)
        headers = {
            "-".join(word.capitalize() for word in name.split("-")): values[-1]
            for name, values in capture.headers.items()
        }
        return Content(
            url=url,
            base=url,
            content=capture.body,
            content_type=row["content_type"] or capture.content_type or "",
            metadata=headers,
        )

    def _in_order(self) -> list[tuple[FetchListEntry, Row | None]]:
        """Return each line of the list with its row of crawl_fetch, as they were done.

        A line that was not to be fetched has none, and comes behind the line before it. A page
        that was reached by a redirect has a line of its own, as in Nutch 0.7.
        """
        fetched: dict[int, list[Row]] = {}
        if self._segment.has("crawl_fetch"):
            for row in read_rows(self._segment.table("crawl_fetch").files()):
                fetched.setdefault(row["position"], []).append(row)
        reasons = {one.url: one.meaning for one in read_left_due(self._segment.left_due_dir)}
        found: list[tuple[int, int, int, FetchListEntry, Row | None]] = []
        now = self._started
        for number, entry in enumerate(self._old.fetch_list()):
            if not entry.fetch:
                found.append((now, number, 0, entry, None))
                continue
            rows = sorted(fetched.get(number, ()), key=itemgetter("hop"))
            for row in rows or [_left(entry, reasons, now)]:
                now = row["fetch_time"]
                line = entry if row["hop"] == 0 else redirected_entry(row["url"], now)
                found.append((now, number, row["hop"], line, row))
        if self._context.settings.fetcher.threads > 1:
            found.sort(key=itemgetter(0, 1, 2))
        return [(line, row) for *_, line, row in found]

    def _placed(self, name: str, done: Files, scratch: Path) -> Iterator[Row]:
        """Yield the rows of a table of parses with their places, in the order of the outputs."""
        table = self._segment.table(name)
        if not table.exists():
            return
        schema = TableSchema(name=name, key=(), columns=(*table.schema.columns, _DONE["place"]))
        order = "place, ordinal" if name == "crawl_parse" else "place"
        target = WriteFiles(
            schema=schema, directory=scratch, stem=name, order_by=order, scratch=True
        )
        query = Query(name="fetch07", sql=_PLACED[name])
        views = {name: table.files(), "done": done}
        files = self._context.engine.execute(query, views, target).files
        yield from read_rows(Files(schema=schema, paths=tuple(str(file.path) for file in files)))


class _Taker:
    """Rows in the order of their places, taken place by place."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def take(self, place: int) -> list[Row]:
        """Return the rows of a place; places are asked for in order."""
        found = []
        while self._next is not None and self._next["place"] == place:
            found.append(self._next)
            self._next = next(self._rows, None)
        return found


def _row(entry: FetchListEntry, number: int) -> Row:
    host, domain = place_of(entry.page.url)
    return {
        **generated_columns(entry),
        "host": host,
        "domain": domain,
        "bucket": url_hash(entry.page.url) % 2,
        "seq": 0,
        "part": 0,
        "position": number,
    }


def _left(entry: FetchListEntry, reasons: Mapping[str, str], now: int) -> Row:
    """Return what stands for the row of a URL that could not be asked."""
    why = reasons.get(entry.page.url, "it was not asked for")
    return {"url": entry.page.url, "hop": 0, "fetch_time": now, "left": left_status(why)}


def _places(lines: Sequence[tuple[FetchListEntry, Row | None]], scratch: Path) -> Files:
    """Write which URL has which place, so that parses can be brought into that order."""
    with ParquetSink(_DONE, scratch, "done") as sink:
        for place, (_, row) in enumerate(lines):
            if row is not None:
                sink.append({"url": row["url"], "place": place})
    return Files(schema=_DONE, paths=tuple(str(file.path) for file in sink.files))


def _count(counts: _Counts, outputs: Outputs) -> None:
    if outputs.output.status.is_success:
        counts.pages += 1
        counts.bytes += len(outputs.content.content or b"")
    else:
        counts.errors += 1
