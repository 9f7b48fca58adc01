"""The warc protocol: every request is answered from an archive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from filbert.fetcher.replay import ReplayProtocol
from filbert.model.records import FetchRequest
from filbert.model.statuses import ProtocolStatus
from filbert.rules.host_queue import Outcome
from filbert.rules.outcome import politeness_outcome, retry_after_ms
from filbert.settings import Settings
from filbert.store.archive import index_archive
from filbert.testing.archives import Archived, write_archive

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.records import ProtocolOutput

A = "http://a.test/"


def _fetch(
    path: Path,
    records: list[Archived],
    url: str = A,
    changes: dict[str, dict[str, Any]] | None = None,
    **asked: Any,
) -> ProtocolOutput:
    """Return the answer of an archive with these records."""
    base = Settings()
    sections = {
        name: getattr(base, name).model_copy(update=values)
        for name, values in (changes or {}).items()
    }
    file = write_archive(path / "a.warc.gz", records)
    index = index_archive([file], path / "index", skip_damaged=False)

    async def ask() -> ProtocolOutput:
        async with ReplayProtocol(base.model_copy(update=sections), index.path) as protocol:
            return await protocol.fetch(FetchRequest(url=url, **asked))

    return asyncio.run(ask())


def test_an_answer_is_as_it_was_captured(tmp_path: Path) -> None:
    """Status, headers, body, address and date are those of the capture."""
    fields = (("WARC-IP-Address", "192.0.2.7"), ("WARC-Record-ID", "<urn:uuid:1>"))
    output = _fetch(tmp_path, [Archived(url=A, fields=fields)])
    assert (output.status, output.http_status) == (ProtocolStatus.SUCCESS, 200)
    assert (output.body, output.content_type) == (b"<p>hello", "text/html")
    assert (output.ip, output.protocol) == ("192.0.2.7", "http/1.1")
    assert output.archived is not None
    assert (output.archived.date_ms, output.archived.record_id) == (
        1_704_067_200_000,
        "<urn:uuid:1>",
    )


def test_chunks_are_undone_whether_they_are_there_or_not(tmp_path: Path) -> None:
    """Programs archive chunks as they came, or undo them under the header that says them."""
    headers = (("Transfer-Encoding", "chunked"), ("Content-Type", "text/plain"))
    chunks = b"5\r\nhello\r\n0\r\n\r\n"
    assert _fetch(tmp_path, [Archived(url=A, headers=headers, body=chunks)]).body == b"hello"
    assert _fetch(tmp_path, [Archived(url=A, headers=headers, body=b"plain")]).body == b"plain"


def test_a_redirect_is_as_archived(tmp_path: Path) -> None:
    """Its target is what the server sent."""
    record = Archived(url=A, status="302 Found", headers=(("Location", "/next"),), body=b"")
    output = _fetch(tmp_path, [record])
    assert (output.status, output.location) == (ProtocolStatus.TEMP_MOVED, b"/next")


def test_a_busy_server_of_long_ago_holds_up_nobody(tmp_path: Path) -> None:
    """A 503 with Retry-After is what became of the page; no host is owed anything for it."""
    record = Archived(url=A, status="503 Busy", headers=(("Retry-After", "99999"),), body=b"")
    output = _fetch(tmp_path, [record])
    assert (output.status, output.http_status) == (ProtocolStatus.EXCEPTION, 503)
    assert politeness_outcome(output) is Outcome.NOT_ASKED
    assert retry_after_ms(output, 0) is None


@pytest.mark.parametrize(
    ("missing", "status"),
    [("due", ProtocolStatus.WOULDBLOCK), ("gone", ProtocolStatus.NOTFOUND)],
)
def test_what_is_not_archived_is_said(tmp_path: Path, missing: str, status: ProtocolStatus) -> None:
    """It fails for now, or is gone, as the setting says; the name of the reason is the same."""
    changes = {"replay": {"missing": missing}}
    output = _fetch(tmp_path, [Archived(url=A)], "http://b.test/", changes)
    assert output.status is status
    assert output.message == "not_in_archive: the archive holds no capture of it"
    assert output.http_status is None


def test_a_capture_that_is_too_young_is_said(tmp_path: Path) -> None:
    """`replay.at` before the first capture: the message names the date."""
    output = _fetch(tmp_path, [Archived(url=A)], A, {"replay": {"at": "2023-06-30"}})
    assert output.message.endswith("at or before 2023-06-30T00:00:00.000Z (replay.at)")


def test_robots_come_from_the_archive(tmp_path: Path) -> None:
    """As captured; what is not there allows all, or forbids all, by a setting."""
    url = "http://a.test/robots.txt"
    record = Archived(url=url, body=b"User-agent: *\nDisallow: /x\n")
    assert _fetch(tmp_path, [record], url, robots=True).body.endswith(b"Disallow: /x\n")
    missing = _fetch(tmp_path, [Archived(url=A)], url, robots=True)
    assert (missing.http_status, missing.body) == (404, b"")
    changes = {"replay": {"robots_missing": "forbid"}}
    forbid = _fetch(tmp_path, [Archived(url=A)], url, changes, robots=True)
    assert (forbid.http_status, forbid.body.endswith(b"Disallow: /\n")) == (200, True)


def test_a_limit_cuts_what_the_archive_holds(tmp_path: Path) -> None:
    """The settings of this crawl decide how much of a body is kept, as in any fetch."""
    changes = {"http": {"content_limit": 3}}
    output = _fetch(tmp_path, [Archived(url=A)], A, changes)
    assert (output.body, output.truncated) == (b"<p>", "length")


def test_a_file_of_another_protocol_is_a_document(tmp_path: Path) -> None:
    """A resource record answers 200 with its block."""
    record = Archived(
        url="ftp://a.test/f.txt",
        kind="resource",
        status="",
        body=b"hello",
        fields=(("Content-Type", "text/plain"),),
    )
    output = _fetch(tmp_path, [record], record.url)
    assert (output.http_status, output.body, output.protocol) == (200, b"hello", "ftp")
    assert output.content_type == "text/plain"


def test_a_revisit_has_the_body_of_what_it_refers_to(tmp_path: Path) -> None:
    """With its own head if that is a document's; one that leads nowhere says so."""
    refers = (("WARC-Refers-To", "<urn:uuid:1>"),)
    old = Archived(url=A, body=b"the body", fields=(("WARC-Record-ID", "<urn:uuid:1>"),))
    later = "2025-01-01T00:00:00Z"
    new = Archived(
        url=A,
        kind="revisit",
        body=b"",
        headers=(("Content-Type", "text/plain"),),
        date=later,
        fields=refers,
    )
    output = _fetch(tmp_path, [old, new])
    assert (output.body, output.content_type) == (b"the body", "text/plain")
    unchanged = Archived(
        url=A, kind="revisit", body=b"", status="304 Not Modified", date=later, fields=refers
    )
    assert _fetch(tmp_path, [old, unchanged]).http_status == 200
    lost = _fetch(tmp_path, [new])
    assert (lost.status, lost.message.partition(":")[0]) == (
        ProtocolStatus.WOULDBLOCK,
        "revisit_unresolved",
    )


def test_a_file_that_changes_under_a_replay_is_a_record(tmp_path: Path) -> None:
    """A capture that cannot be read any more fails alone, with file and place."""
    file = write_archive(tmp_path / "a.warc.gz", [Archived(url=A)])
    index = index_archive([file], tmp_path / "index", skip_damaged=False)
    file.write_bytes(b"something else")

    async def ask() -> ProtocolOutput:
        async with ReplayProtocol(Settings(), index.path) as protocol:
            return await protocol.fetch(FetchRequest(url=A))

    output = asyncio.run(ask())
    assert output.message.startswith(f"archive_unreadable: {file} at ")
