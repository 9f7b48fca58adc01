"""Page work of `parse`: the captures of one part.

Guarantee: every successful capture of the part gets a row of parse_data, whatever it holds. Rows
go straight to files; memory does not grow with the part.
Source: Nutch `ParseSegment`.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from filbert.engine.base import PartResult
from filbert.errors import DataError
from filbert.model.schemas import CRAWL_PARSE, PARSE_DATA, PARSE_TEXT
from filbert.model.statuses import FetchStatus, ParseMinor
from filbert.parser.jobs import Failure, PageRows, ParseJob, ParseOptions
from filbert.parser.kept import guarded_parser
from filbert.parser.parsing import PageParser
from filbert.parser.rows import RowMaker
from filbert.plugins.publishing import Publishing
from filbert.plugins.registry import PluginRepository
from filbert.rules.use_preferences import USES
from filbert.store.parquet import ParquetSink, read_rows
from filbert.store.warc import read_capture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.engine.base import Files, Part
    from filbert.settings import Settings

__all__ = ["ParsePart"]

_Order = tuple[int, int, int]
_ORDER = ("fetch_time", "position", "hop")
_COLUMNS = (
    "url",
    *_ORDER,
    "score",
    "content_type",
    "truncated",
    "metadata",
    "warc_file",
    "warc_offset",
    "warc_length",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsePart:
    """The page task; picklable.

    Attributes:
        settings: Settings of the crawl.
        folder: The crawl folder, where plugins look for their files.
        fetched: The segment's crawl_fetch.
        content_dir: Where its WARC files lie.
        into: A scratch folder.
    """

    settings: Settings
    folder: Path
    fetched: Files
    content_dir: Path
    into: Path

    def __call__(self, part: Part) -> PartResult:
        """Parse the captures of part `part.number`."""
        counters: Counter[str] = Counter()
        stem = f"part-{part.number:05d}"
        options = ParseOptions(settings=self.settings, folder=self.folder)
        with ExitStack() as stack:
            sinks = {
                schema.name: stack.enter_context(ParquetSink(schema, self.into, stem))
                for schema in (PARSE_DATA, PARSE_TEXT, CRAWL_PARSE)
            }
            guarded = stack.enter_context(guarded_parser(options))
            publishing = stack.enter_context(self._publishing(counters))
            damaged: list[tuple[ParseJob, Failure]] = []
            jobs = self._jobs(part.number, counters, damaged)
            for job, answer in chain(guarded.parse(jobs), damaged):
                rows = self._failed(job, answer) if isinstance(answer, Failure) else answer
                sinks["parse_data"].extend(rows.parse_data)
                sinks["parse_text"].extend(rows.parse_text)
                sinks["crawl_parse"].extend(rows.crawl_parse)
                counters.update(rows.counters)
                _report(publishing, job, rows)
        files = {name: sink.files for name, sink in sinks.items()}
        return PartResult(number=part.number, files=files, counters=counters)

    def _publishing(self, counters: Counter[str]) -> Publishing:
        if not self.settings.publish.publishers:
            return Publishing((), counters)
        return Publishing(PluginRepository(self.settings, self.folder).publishers(), counters)

    def _jobs(
        self, part: int, counters: Counter[str], damaged: list[tuple[ParseJob, Failure]]
    ) -> Iterator[ParseJob]:
        where = (
            f"part = {int(part)} and status = {int(FetchStatus.FETCH_SUCCESS)}"
            " and warc_file is not null"
        )
        newest = self._newest(where)
        for row in read_rows(self.fetched, _COLUMNS, where):
            if newest.get(row["url"], _order(row)) != _order(row):
                counters["captured_twice"] += 1
                continue
            job = self._job(row)
            if isinstance(job, ParseJob):
                yield job
            else:
                damaged.append((_known(row), job))

    def _newest(self, where: str) -> dict[str, _Order]:
        """Return which capture counts, of URLs that were captured more than once.

        That happens only when a redirect leads to a page that is in the fetch list too. The order
        is updatedb's.
        """
        targets = {row["url"] for row in read_rows(self.fetched, ("url",), f"{where} and hop > 0")}
        newest: dict[str, _Order] = {}
        if targets:
            for row in read_rows(self.fetched, ("url", *_ORDER), where):
                if row["url"] in targets:
                    order = _order(row)
                    newest[row["url"]] = min(newest.get(row["url"], order), order)
        return newest

    def _job(self, row: dict[str, Any]) -> ParseJob | Failure:
        limit = self.settings.http.content_limit
        try:
            capture = read_capture(
                self.content_dir,
                row["warc_file"],
                row["warc_offset"],
                row["warc_length"],
                limit=limit if limit >= 0 else None,
            )
        except DataError as error:
            return Failure(
                minor=ParseMinor.FAILED_MISSING_CONTENT,
                message=str(error).partition("\n")[0],
                counter="capture_unreadable",
            )
        return replace(
            _known(row),
            base_url=capture.url or row["url"],
            body=capture.body,
            declared_type=capture.content_type,
            headers=capture.headers,
        )

    def _failed(self, job: ParseJob, failure: Failure) -> PageRows:
        plugins = PluginRepository(self.settings, self.folder)
        parsed = PageParser(self.settings, plugins).given_up(job, failure.minor, failure.message)
        rows = RowMaker(self.settings, plugins).rows(job, parsed)
        rows.counters[failure.counter] += 1
        if failure.minor is ParseMinor.FAILED_MISSING_CONTENT:
            # A fingerprint of nothing would make duplicates of all pages whose captures are lost.
            rows.crawl_parse.clear()
        return rows


def _report(publishing: Publishing, job: ParseJob, rows: PageRows) -> None:
    """Tell publishers what a page was parsed to."""
    if publishing and rows.parse_data:
        said = rows.parse_data[0]
        facts = {
            "title": said["title"],
            "content_type": job.known_type,
            "outlinks": [row["url"] for row in rows.crawl_parse if row["kind"] == "outlink"],
        }
        publishing.tell("report", job.url, job.fetch_time, **facts)


def _known(row: dict[str, Any]) -> ParseJob:
    """Return what crawl_fetch alone says of a capture."""
    return ParseJob(
        url=row["url"],
        base_url=row["url"],
        body=b"",
        declared_type=None,
        headers={},
        fetch_time=row["fetch_time"],
        truncated=row["truncated"],
        score=row["score"],
        known_type=row["content_type"],
        uses=tuple((row["metadata"] or {}).get(USES, "").splitlines()),
    )


def _order(row: dict[str, Any]) -> _Order:
    return (-row["fetch_time"], row["position"], row["hop"])
