"""From an answer to the rows that keep it: crawl_fetch, and crawl_parse for redirect targets.

Guarantee: pure building of records. What travels with a page (interval, score, metadata) travels
on; what this fetch learnt (validators, content type) is added; a redirect's target inherits what
Nutch lets it inherit, and never the validators of another page.
Source: Nutch `FetcherThread.output`, `queueRedirect`; metadata `_etag_` is ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from filbert.model.records import CrawlDatum, FetchItem, FetchRecord, Page
from filbert.model.schemas import DATUM_COLUMNS
from filbert.model.statuses import FetchStatus
from filbert.rules.host_queue import VARIABLE_DELAY
from filbert.rules.mime import type_of
from filbert.rules.outcome import fetch_status
from filbert.rules.urls import place_of
from filbert.rules.use_preferences import USES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from filbert.model.records import ProtocolOutput
    from filbert.plugins.contracts import Signature
    from filbert.rules.redirects import Redirect

__all__ = [
    "ETAG",
    "RobotsSaid",
    "datum_of",
    "fetch_record",
    "item_of",
    "redirect_row",
    "target_item",
]

ETAG = "_etag_"
"""Metadata that keeps a page's ETag for the next conditional request; blank: it has none."""

_LONGEST_ETAG = 256
_UNNAMED = "failed"
_NAME = re.compile(r"[a-z][a-z0-9_]*(?=: )")  # of a failure, before its words
_FETCHED = frozenset({FetchStatus.FETCH_SUCCESS})
_FAILED = frozenset({FetchStatus.FETCH_RETRY, FetchStatus.FETCH_GONE})


class RobotsSaid(NamedTuple):
    """What robots.txt says of a page: the line that forbade it, and of the use of the page."""

    rule: str = ""
    uses: tuple[str, ...] = ()


NOTHING = RobotsSaid()


def item_of(row: Mapping[str, object]) -> FetchItem:
    """Return a row of crawl_generate as an item."""
    return FetchItem(
        url=row["url"],  # type: ignore[arg-type]
        host=row["host"],  # type: ignore[arg-type]
        domain=row["domain"],  # type: ignore[arg-type]
        part=row["part"],  # type: ignore[arg-type]
        position=row["position"],  # type: ignore[arg-type]
        datum=datum_of(row),
    )


def datum_of(row: Mapping[str, object]) -> CrawlDatum:
    """Return the part of a row that travels."""
    values = {name: row[name] for name in DATUM_COLUMNS}
    values["metadata"] = values["metadata"] or {}
    return CrawlDatum(**values)  # type: ignore[arg-type]


def fetch_record(
    item: FetchItem,
    output: ProtocolOutput,
    now: int,
    *,
    redirect: Redirect | None = None,
    robots: RobotsSaid = NOTHING,
    signature: Signature | None = None,
) -> FetchRecord:
    """Return the row of crawl_fetch of an answer.

    Args:
        item: What was asked for.
        output: The answer.
        now: When it ended.
        redirect: What becomes of the target, if it is a redirect.
        robots: What robots.txt says of the page.
        signature: Signs a page that was fetched.
    """
    status = fetch_status(output)
    failed = status in _FAILED
    found = _NAME.match(output.message)  # a note, such as of a second request, has none
    return FetchRecord(
        url=item.url,
        host=item.host,
        domain=item.domain,
        hop=item.hop,
        part=item.part,
        position=item.position,
        status=status,
        fetch_time=now,
        datum=_learnt(item, output, now, signature, robots.uses)
        if status in _FETCHED
        else item.datum,
        protocol_code=output.status,
        protocol_message=output.message,
        http_status=output.http_status,
        reason=(found[0] if found else output.status.label or _UNNAMED) if failed else None,
        robots_rule=robots.rule or None,
        raw_url=item.raw_url,
        redirect_url=redirect.url if redirect else None,
        redirect_verdict=str(redirect) if redirect else None,
        ip=output.ip,
        protocol=output.protocol,
        response_ms=output.response_ms if output.http_status is not None else None,
        truncated=output.truncated,
    )


def target_item(item: FetchItem, redirect: Redirect) -> FetchItem:
    """Return the item of a target that is followed at once."""
    assert redirect.url is not None
    host, domain = place_of(redirect.url)
    return FetchItem(
        url=redirect.url,
        host=host,
        domain=domain,
        part=item.part,
        position=item.position,
        hop=item.hop + 1,
        raw_url=redirect.raw_url,
        datum=_inherited(item.datum, redirect.repr_url),
    )


def redirect_row(item: FetchItem, redirect: Redirect, now: int) -> dict[str, object]:
    """Return the row of crawl_parse by which a target waits for the next round."""
    target = target_item(item, redirect)
    datum = target.datum
    return {
        "url": target.url,
        "host": target.host,
        "domain": target.domain,
        "from_url": item.url,
        "ordinal": item.hop,
        "kind": "redirect",
        "to_db": True,
        "to_linkdb": False,
        "anchor": None,
        "fetch_time": now,
        **{name: getattr(datum, name) for name in DATUM_COLUMNS},
    }


def _learnt(
    item: FetchItem,
    output: ProtocolOutput,
    now: int,
    signature: Signature | None,
    uses: tuple[str, ...],
) -> CrawlDatum:
    """Add what a page's new capture says: content type, ETag, signature; and what may be done."""
    datum = item.datum
    etag = (output.header("etag") or "").strip()
    content_type = type_of(output.content_type, item.url, output.body)
    if len(etag) > _LONGEST_ETAG:
        etag = ""
    signed = datum.signature
    if signature is not None:
        signed = signature.calculate(_page(item, output, content_type, now), None)
    return CrawlDatum(  # spelt out: `replace` costs ten times as much, and this is each page
        fetch_interval=datum.fetch_interval,
        score=datum.score,
        retries=datum.retries,
        modified_time=datum.modified_time,
        signature=signed,
        fixed_interval=datum.fixed_interval,
        depth=datum.depth,
        max_depth=datum.max_depth,
        orphan_time=datum.orphan_time,
        content_type=content_type,
        repr_url=datum.repr_url,
        metadata=_with(_with(datum.metadata, ETAG, etag), USES, "\n".join(uses)),
        metadata_types=datum.metadata_types,
    )


def _with(metadata: Mapping[str, str], name: str, value: str) -> Mapping[str, str]:
    """Return metadata with a value; blank where there was another, since updatedb only adds."""
    return metadata if metadata.get(name, "") == value else {**metadata, name: value}


def _page(item: FetchItem, output: ProtocolOutput, content_type: str, now: int) -> Page:
    return Page(
        url=item.url,
        base_url=item.url,
        body=output.body,
        content_type=content_type,
        fetch_time=now,
    )


def _inherited(datum: CrawlDatum, repr_url: str | None) -> CrawlDatum:
    """Return a target's datum: interval, score and metadata of the source, as Nutch copies them."""
    own = {ETAG, USES, VARIABLE_DELAY}
    metadata = {name: value for name, value in datum.metadata.items() if name not in own}
    return CrawlDatum(
        fetch_interval=datum.fetch_interval,
        score=datum.score,
        fixed_interval=datum.fixed_interval,
        depth=datum.depth,
        max_depth=datum.max_depth,
        repr_url=repr_url,
        metadata=metadata,
        metadata_types=datum.metadata_types,
    )
