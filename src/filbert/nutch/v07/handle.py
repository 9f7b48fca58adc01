"""What the old fetcher makes of a page: `handleFetch` and `handleNoFetch`.

Guarantee: pure; the four records of one page.
Source: Nutch 0.6 `fetcher.Fetcher.FetcherThread`; statuses as 0.7.2 has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from filbert.nutch.simple import MD5Hash
from filbert.nutch.v07.fetched import Content, FetcherOutput
from filbert.nutch.v07.page import FetchListEntry, Page
from filbert.nutch.v07.parsed import Outlink, ParseData, ParseText
from filbert.nutch.v07.status import ParseStatus, ProtocolStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = [
    "Outputs",
    "generated_columns",
    "handle_fetch",
    "handle_no_fetch",
    "left_status",
    "parse_data_of",
    "redirected_entry",
    "status_of",
]

SUCCESS, _RETRY, _EXCEPTION, _NEWEST_CODE = 1, 15, 16, 21
_DAY_S = 86_400


class Outputs(NamedTuple):
    """The four records of one page."""

    output: FetcherOutput
    content: Content
    text: ParseText
    data: ParseData


def handle_fetch(
    entry: FetchListEntry,
    fetch_date: int,
    content: Content,
    text: ParseText,
    data: ParseData,
) -> Outputs:
    """Return the records of a page that came (`handleFetch`): with the MD5 of its content."""
    output = FetcherOutput(
        entry=entry,
        md5=MD5Hash.digest(content.content or b""),
        status=ProtocolStatus(code=SUCCESS),
        fetch_date=fetch_date,
    )
    return Outputs(output, content, text, data)


def handle_no_fetch(entry: FetchListEntry, status: ProtocolStatus, fetch_date: int) -> Outputs:
    """Return the records of a page that did not come (`handleNoFetch`).

    The MD5 is that of the URL; content, text and data are empty.
    """
    url = entry.page.url
    output = FetcherOutput(
        entry=entry, md5=MD5Hash.digest(url), status=status, fetch_date=fetch_date
    )
    return Outputs(output, Content(url=url, base=url), ParseText(), ParseData())


def redirected_entry(url: str, now: int) -> FetchListEntry:
    """Return the line of a page that a redirect led to: it is on no list."""
    return FetchListEntry(fetch=True, page=Page.of(url, now))


def status_of(row: Mapping[str, Any]) -> ProtocolStatus:
    """Return the status of a row of crawl_fetch; codes that came later are exceptions."""
    code = row["protocol_code"]
    said = row["redirect_url"] or row["protocol_message"]
    if code > _NEWEST_CODE:
        code = _EXCEPTION
    return ProtocolStatus(code=code, args=(said,) if said and code != SUCCESS else None)


def left_status(why: str) -> ProtocolStatus:
    """Return the status of a URL that could not be asked: it is to be tried again."""
    return ProtocolStatus(code=_RETRY, args=(why,))


def generated_columns(entry: FetchListEntry) -> dict[str, Any]:
    """Return the columns of a line of the list in crawl_generate, but its place."""
    page = entry.page
    return {
        "url": page.url,
        "status": 2 if page.was_fetched else 1,
        "fetch_time": min(page.next_fetch, 253_402_300_799_000),  # the last of the year 9999
        "retries": page.retries,
        "fetch_interval": max(1, page.fetch_interval) * _DAY_S,
        "score": page.score,
    }


def parse_data_of(
    row: Mapping[str, Any] | None, links: Iterable[Mapping[str, Any]], content: Content
) -> ParseData:
    """Return the record of a row of parse_data and its links; None: it was not parsed."""
    if row is None:
        return ParseData(metadata=content.metadata, status=ParseStatus(major=0))
    said = row["parse_message"]
    # A parse of ours keeps headers apart; one of old has them among what was found, or has none.
    headers = content.metadata if row["content_metadata"] is not None else {}
    found = {name: values[-1] for name, values in (row["parse_metadata"] or {}).items() if values}
    return ParseData(
        title=row["title"] or "",
        outlinks=tuple(Outlink(to_url=one["url"], anchor=one["anchor"] or "") for one in links),
        metadata={**headers, **found},
        status=ParseStatus(major=row["major"], minor=row["minor"], args=(said,) if said else None),
    )
