"""From an answer to rows, and back from rows to what is to be fetched."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from filbert.engine.base import Files
from filbert.fetcher.capture import fetch_record, item_of, redirect_row, target_item
from filbert.fetcher.keys import QueueKeys
from filbert.fetcher.partition import PartShare
from filbert.fetcher.remembered import RememberedHosts, item_of_record, pending_redirects
from filbert.model.hosts import HostState
from filbert.model.records import ProtocolOutput
from filbert.model.schemas import CRAWL_GENERATE, CRAWL_PARSE, HOSTDB
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.dns import Resolution
from filbert.rules.redirects import Redirect, RedirectVerdict
from filbert.store.parquet import ParquetSink
from filbert.testing.records import fetch_item, generate_row

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ProtocolOutput(
    status=ProtocolStatus.SUCCESS,
    http_status=200,
    headers=(("ETag", '"v2"'),),
    body=b"<!DOCTYPE html><html></html>",
    content_type="text/html; charset=utf-8",
)
MOVED = ProtocolOutput(status=ProtocolStatus.TEMP_MOVED, http_status=302)
FOLLOWED = Redirect(
    verdict=RedirectVerdict.FOLLOWED,
    url="http://b.com/y",
    raw_url=b"http://b.com/%79",
    repr_url="http://a.com/",
)


def test_a_row_of_the_list_becomes_an_item() -> None:
    """Position, place and what travels; metadata that is null is empty."""
    row = {**generate_row("http://www.a.com/x", position=7, part=2), "metadata": None}
    item = item_of(row)
    assert (item.position, item.part, item.host, item.domain) == (7, 2, "www.a.com", "a.com")
    assert item.datum.metadata == {}


def test_a_page_brings_its_validator_and_type() -> None:
    """ETag and detected type travel to the next fetch."""
    datum = fetch_record(fetch_item("http://a.com/"), PAGE, 5).datum
    assert (datum.metadata["_etag_"], datum.content_type) == ('"v2"', "text/html")


def test_a_page_without_a_validator_loses_the_old_one() -> None:
    """An ETag of another version must not be sent again."""
    item = fetch_item("http://a.com/", metadata={"_etag_": '"v1"', "mine": "1"})
    plain = replace(PAGE, headers=())
    assert fetch_record(item, plain, 5).datum.metadata == {"_etag_": "", "mine": "1"}


def test_a_failure_has_a_name_and_changes_nothing_that_travels() -> None:
    """What stands before the colon is the reason; without words it is the status."""
    item = fetch_item("http://a.com/")
    output = ProtocolOutput(status=ProtocolStatus.EXCEPTION, message="connect_failed: refused")
    failed = fetch_record(item, output, 5)
    assert (failed.reason, failed.datum) == ("connect_failed", item.datum)
    gone = ProtocolOutput(status=ProtocolStatus.NOTFOUND, http_status=404)
    assert fetch_record(item, gone, 5).reason == "notfound"


def test_a_target_inherits_what_nutch_lets_it_inherit() -> None:
    """Interval, score and metadata go on; validators and times of the source do not."""
    item = fetch_item(
        "http://a.com/", score=0.5, modified_time=9, metadata={"_etag_": "x", "mine": "1"}
    )
    target = target_item(item, FOLLOWED)
    assert (target.url, target.raw_url, target.hop) == ("http://b.com/y", b"http://b.com/%79", 1)
    assert (target.datum.score, target.datum.modified_time) == (0.5, None)
    assert target.datum.metadata == {"mine": "1"}
    assert target.datum.repr_url == "http://a.com/"


def test_a_redirect_row_has_every_column_of_its_table() -> None:
    """What waits for the next round is a whole row of crawl_parse."""
    row = redirect_row(fetch_item("http://a.com/"), FOLLOWED, 5)
    assert set(row) == set(CRAWL_PARSE.names)
    assert (row["kind"], row["to_db"], row["to_linkdb"]) == ("redirect", True, False)


def test_a_redirect_cut_off_by_a_kill_is_gone_on_with() -> None:
    """From its row the target is known again."""
    record = fetch_record(fetch_item("http://a.com/", position=3), MOVED, 5, redirect=FOLLOWED)
    (target,) = pending_redirects([record])
    assert (target.url, target.position, target.hop) == ("http://b.com/y", 3, 1)
    assert item_of_record(record).url == "http://a.com/"


def test_the_journal_goes_before_the_hostdb(tmp_path: Path) -> None:
    """What this part noted is younger; after a stop nobody counts as never asked."""
    with ParquetSink(HOSTDB, tmp_path, "hosts") as sink:
        for host, end in (("a", 1), ("b", 2)):
            sink.append({**dict.fromkeys(HOSTDB.names), "host": host, "last_request_end": end,
                         "failures": 0})  # fmt: skip
    files = Files(schema=HOSTDB, paths=tuple(str(file.path) for file in sink.files))
    journal = {"b": HostState(host="b", last_request_end=7)}
    known = RememberedHosts(files, journal, resumed_at=None)
    assert [state.last_request_end for key in "ab" if (state := known.get(key))] == [1, 7]
    assert known.get("c") is None
    after = RememberedHosts(files, journal, resumed_at=99).get("c")
    assert after == HostState(host="c", last_request_end=99)


def test_a_part_owns_its_hosts_and_domains_that_are_all_its_own(tmp_path: Path) -> None:
    """No host has two owners; one part alone owns all."""
    urls = [("http://a.x.com/", 0), ("http://b.x.com/", 1), ("http://y.com/", 1)]
    with ParquetSink(CRAWL_GENERATE, tmp_path, "list") as sink:
        for position, (url, part) in enumerate(urls):
            sink.append(generate_row(url, position=position, part=part))
    files = Files(schema=CRAWL_GENERATE, paths=tuple(str(file.path) for file in sink.files))
    shares = [PartShare(files, part, 2) for part in (0, 1)]
    asked = [("a.x.com", "x.com"), ("c.x.com", "x.com"), ("www.y.com", "y.com"), ("z.com", "z.com")]
    assert [[share.owns(*one) for one in asked] for share in shares] == [
        [True, False, False, False],
        [False, False, True, False],
    ]
    assert [share.urls for share in shares] == [1, 2]
    assert PartShare(files, 0, 1).owns("z.com", "z.com")


class _Names:
    """A resolver with two names of one address, and one name that moves."""

    def __init__(self) -> None:
        self.asked = 0

    async def resolve(self, host: str) -> Resolution:
        self.asked += 1
        known = {"a": ("10.0.0.2", "10.0.0.1"), "b": ("10.0.0.1",)}
        return Resolution(known.get(host, ()))


def test_keys_by_host_domain_and_address() -> None:
    """Names of one server share a queue in mode ip; a name without an address is its own."""

    async def keys() -> list[str]:
        names = _Names()
        by_ip = QueueKeys("ip", names)
        found = [await by_ip.key(host, "d") for host in ("a", "b", "a", "nowhere")]
        assert names.asked == 3
        return [
            *found,
            await QueueKeys("host").key_of("http://www.x.com/1"),
            await QueueKeys("domain").key_of("http://www.x.com/1"),
        ]

    assert asyncio.run(keys()) == [
        "10.0.0.1", "10.0.0.1", "10.0.0.1", "nowhere", "www.x.com", "x.com",
    ]  # fmt: skip
