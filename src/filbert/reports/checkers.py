"""What the URL chains and the parsers of a crawl make of one URL or page.

Guarantee: nothing is written and no server is asked: a page is a local file, or the newest
capture of a URL. The answer is that of the steps, by the same code.
Source: Nutch `URLFilterChecker`, `URLNormalizerChecker`, `ParserChecker`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filbert.errors import UserError
from filbert.model.statuses import FetchStatus
from filbert.parser.jobs import PageRows, ParseJob
from filbert.parser.parsing import PageParser
from filbert.parser.rows import RowMaker
from filbert.plugins.contracts import Scope
from filbert.plugins.registry import PluginRepository
from filbert.rules.sql import literal
from filbert.store.parquet import read_rows
from filbert.store.warc import read_capture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from filbert.settings import Settings
    from filbert.store.crawl import CrawlFolder
    from filbert.store.segments import Segment

__all__ = ["CheckedUrl", "check_filters", "check_normalizers", "check_page", "page_of"]


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    """A URL, what became of it, and by which rule."""

    url: str
    result: str | None
    reason: str = ""
    rule: str = ""


def check_filters(settings: Settings, folder: Path, urls: Iterable[str]) -> Iterator[CheckedUrl]:
    """Yield what the URL filters say of each URL, as it stands: no normaliser acts before."""
    chain = PluginRepository(settings, folder).url_chain()
    for url in urls:
        verdict = chain.judge(url)
        reason = "" if verdict.accepted else verdict.reason
        yield CheckedUrl(url, url if verdict.accepted else None, reason, verdict.rule)


def check_normalizers(
    settings: Settings, folder: Path, urls: Iterable[str], scope: Scope = Scope.DEFAULT
) -> Iterator[CheckedUrl]:
    """Yield what the normalisers make of each URL."""
    chain = PluginRepository(settings, folder).url_chain()
    for url in urls:
        verdict = chain.apply(url, scope, judge=False)
        yield CheckedUrl(url, verdict.url, verdict.reason, verdict.rule)


def page_of(
    crawl: CrawlFolder | None, source: str, *, url: str = "", content_type: str | None = None
) -> ParseJob:
    """Return the page that `source` names.

    Args:
        crawl: The crawl folder, if there is one.
        source: Path of a local file, or a URL that was captured.
        url: What a local file's URL is to be; blank: its own `file:` URL.
        content_type: What a server would call a local file.

    Raises:
        UserError: There is no such file, and no capture of such a URL.
        DataError: A capture is damaged.
    """
    path = Path(source)
    if path.is_file():
        return _job(url or path.resolve().as_uri(), path.read_bytes(), content_type)
    for segment in reversed(crawl.segments()) if crawl is not None else ():
        if (job := _captured(segment, source)) is not None:
            return job
    raise UserError(
        f"{source} is no file, and no segment has a capture of it",
        hint="Name a local file, or a URL that was fetched (as its key: normalised).",
    )


def check_page(settings: Settings, folder: Path, job: ParseJob) -> tuple[str, PageRows]:
    """Return the detected type of a page, and the rows that `parse` would make of it."""
    plugins = PluginRepository(settings, folder)
    parsed = PageParser(settings, plugins).parse(job)
    return parsed.page.content_type, RowMaker(settings, plugins).rows(job, parsed)


def _captured(segment: Segment, url: str) -> ParseJob | None:
    where = (
        f"url = {literal(url)} and status = {int(FetchStatus.FETCH_SUCCESS)}"
        " and warc_file is not null"
    )
    rows = list(read_rows(segment.table("crawl_fetch").files(), None, where))
    if not rows:
        return None
    row: dict[str, Any] = max(rows, key=lambda one: one["fetch_time"])
    place = (row["warc_file"], row["warc_offset"], row["warc_length"])
    capture = read_capture(segment.content_dir, *place)
    return ParseJob(
        url=url,
        base_url=capture.url or url,
        body=capture.body,
        declared_type=capture.content_type,
        headers=capture.headers,
        fetch_time=row["fetch_time"],
        truncated=row["truncated"],
        score=row["score"],
    )


def _job(url: str, body: bytes, content_type: str | None) -> ParseJob:
    headers = {"content-type": (content_type,)} if content_type else {}
    return ParseJob(
        url=url,
        base_url=url,
        body=body,
        declared_type=content_type,
        headers=headers,
        fetch_time=0,
        score=1.0,
    )
