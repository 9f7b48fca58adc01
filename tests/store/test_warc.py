"""WARC records: any archive tool reads them, and a capture comes back as it was fetched."""

from __future__ import annotations

import gzip
import io
import random
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import ada_url
import pytest
from fastwarc.warc import ArchiveIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from filbert.errors import DataError
from filbert.model.records import ArchivedCapture, CrawlDatum, FetchRecord, ProtocolOutput
from filbert.model.statuses import FetchStatus, ProtocolStatus
from filbert.store.warc import (
    capture_members,
    parse_capture,
    read_capture,
    target_uri,
    warcinfo,
)
from filbert.store.warc_codec import Codec, WarcOptions

if TYPE_CHECKING:
    from pathlib import Path

BODY = b"<html>hello \xc3\xa4</html>" * 50


def make_record(url: str = "http://a.test/p", raw_url: bytes | None = None) -> FetchRecord:
    """Return a row of crawl_fetch."""
    return FetchRecord(
        url=url,
        host="a.test",
        domain="a.test",
        hop=0,
        part=0,
        position=0,
        status=FetchStatus.FETCH_SUCCESS,
        fetch_time=1_796_000_000_123,
        datum=CrawlDatum(fetch_interval=1, score=1.0),
        protocol_code=ProtocolStatus.SUCCESS,
        raw_url=raw_url,
    )


def make_output(
    head: bytes, raw: bytes, body: bytes, truncated: str | None = None
) -> ProtocolOutput:
    """Return what a protocol plugin gives back."""
    return ProtocolOutput(
        status=ProtocolStatus.SUCCESS,
        http_status=200,
        request_head=b"GET /p HTTP/1.1\r\nHost: a.test\r\n\r\n",
        response_head=head,
        raw_body=raw,
        body=body,
        ip="127.0.0.1",
        protocol="http/1.1",
        truncated=truncated,
    )


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
GZIPPED = gzip.compress(BODY)
LONG = random.Random(1).randbytes(200_000)
HEADS = {
    "plain": (OK + b"Content-Length: %d\r\n\r\n" % len(BODY), BODY, BODY),
    "chunked": (OK + b"Transfer-Encoding: chunked\r\n\r\n", BODY, BODY),
    "gzip": (
        OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(GZIPPED),
        GZIPPED,
        BODY,
    ),
    "gzip chunked": (
        OK + b"transfer-encoding : chunked\r\nContent-Encoding: gzip\r\n\r\n",
        GZIPPED,
        BODY,
    ),
    "gzip, long": (OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(LONG), LONG),
    "deflate": (OK + b"Content-Encoding: deflate\r\n\r\n", zlib.compress(BODY), BODY),
    "gzip claimed": (OK + b"Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\n", BODY, BODY),
    "brotli, decoded": (OK + b"Content-Encoding: br\r\nContent-Length: 77\r\n\r\n", BODY, BODY),
    "bare line feeds": (b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n", BODY, BODY),
    "http/0.9": (b"", BODY, BODY),
    "icy": (b"ICY 200 OK\r\nContent-Type: text/html\r\n\r\n", BODY, BODY),
    "no colon": (b"HTTP/1.1 200 OK\r\nThisIsNotAHeader\r\nContent-Type: a/b\r\n\r\n", BODY, BODY),
    "no reason": (b"HTTP/1.1 200\r\n\r\n", BODY, BODY),
    "empty": (OK + b"Content-Length: 0\r\n\r\n", b"", b""),
}


@pytest.mark.parametrize("warc_format", ["gzip", "zstd"])
@pytest.mark.parametrize("name", HEADS)
def test_a_capture_comes_back(
    tmp_path: Path, name: str, warc_format: Literal["gzip", "zstd"]
) -> None:
    """Whatever the head claims, the decoded body, status and address come back at random."""
    head, raw, body = HEADS[name]
    options = WarcOptions(format=warc_format, requests=True)
    codec = Codec(options)
    data, begin = capture_members(make_record(), make_output(head, raw, body), codec, options)
    (tmp_path / "w").write_bytes(b"before" + data + b"behind")
    got = read_capture(tmp_path, "w", 6 + begin, len(data) - begin)
    assert (got.body, got.http_status, got.ip) == (body, 200, "127.0.0.1")
    assert (got.url, got.kind) == ("http://a.test/p", "response")


@pytest.mark.parametrize("name", HEADS)
def test_other_readers_decode_the_body(name: str) -> None:
    """Warcio and fastwarc, told to decode, give the body that we have; digests are right."""
    head, raw, body = HEADS[name]
    options = WarcOptions()
    codec = Codec(options)
    info = codec.compress(warcinfo("w.warc.gz", 0, {"software": "filbert"}))
    data, _ = capture_members(make_record(), make_output(head, raw, body), codec, options)
    records = list(_warcio(info + data))
    assert [kind for kind, _, _ in records] == ["warcinfo", "response"]
    assert records[1][1] == body
    assert records[1][2] is True
    fast = ArchiveIterator(io.BytesIO(info + data), auto_decode="all")
    assert [record.reader.read() for record in fast][1] == body


def _warcio(data: bytes) -> list[tuple[str, bytes, bool | None]]:
    found = []
    for record in WarcioIterator(io.BytesIO(data), check_digests=True):
        body = record.content_stream().read()
        found.append((record.rec_type, body, record.digest_checker.passed))
    return found


def test_headers_stand_verbatim() -> None:
    """Only the three headers that would lie about the stored body are renamed, none is lost."""
    head = (
        b"HTTP/1.1 200  Odd\r\nX-B: 1\r\nx-a:\t2 \r\n folded\r\nTransfer-Encoding: chunked\r\n"
        b"Set-Cookie: \xe4\r\nContent-Length: 5\r\n\r\n"
    )
    codec = Codec(WarcOptions())
    data, _ = capture_members(
        make_record(), make_output(head, b"abc", b"abc"), codec, WarcOptions()
    )
    block = gzip.decompress(data)
    assert (
        b"HTTP/1.1 200  Odd\r\nX-B: 1\r\nx-a:\t2 \r\n folded\r\n"
        b"X-Crawler-Transfer-Encoding: chunked\r\nSet-Cookie: \xe4\r\n"
        b"X-Crawler-Content-Length: 5\r\nContent-Length: 3\r\n\r\nabc"
    ) in block


def test_renamed_headers_are_read_under_their_own_name(tmp_path: Path) -> None:
    """A reader of ours sees what the server sent, not what the archive needed."""
    head = OK + b"Transfer-Encoding: chunked\r\nContent-Encoding: br\r\nContent-Length: 7\r\n\r\n"
    options = WarcOptions()
    data, _ = capture_members(make_record(), make_output(head, BODY, BODY), Codec(options), options)
    (tmp_path / "w").write_bytes(data)
    got = read_capture(tmp_path, "w", 0, len(data)).headers
    assert got == {
        "content-type": ("text/html",),
        "transfer-encoding": ("chunked",),
        "content-encoding": ("br",),
        "content-length": ("7",),
    }


@pytest.mark.parametrize(
    ("url", "raw_url", "expected"),
    [
        ("http://a.test/p", None, "http://a.test/p"),
        ("http://a.test/%C3%A4", "http://a.test/ä b".encode(), "http://a.test/%C3%A4%20b"),
        ("http://a.test/%E4", b"http://a.test/\xe4[|]\r\n", "http://a.test/%E4[%7C]%0D%0A"),
        ("https:////a.test/x", None, "https://a.test/x"),
        ("http://a.test/ä", None, "http://a.test/%C3%A4"),
    ],
)
def test_target_uri_parses(url: str, raw_url: bytes | None, expected: str) -> None:
    """WARC-Target-URI is the URL asked for, in a spelling that a URL parser takes."""
    got = target_uri(make_record(url, raw_url))
    assert got == expected
    assert ada_url.check_url(got)


def test_truncation_and_file_resources(tmp_path: Path) -> None:
    """A cut body carries its reason; a document of another protocol is a resource record."""
    output = ProtocolOutput(
        status=ProtocolStatus.SUCCESS,
        raw_body=BODY,
        body=BODY,
        content_type="text/html",
        truncated="length",
    )
    options = WarcOptions()
    data, _ = capture_members(make_record("file:///tmp/x"), output, Codec(options), options)
    (tmp_path / "w").write_bytes(data)
    got = read_capture(tmp_path, "w", 0, len(data))
    assert (got.kind, got.truncated, got.content_type) == ("resource", "length", "text/html")
    assert got.body == BODY


@pytest.mark.parametrize("warc_format", ["gzip", "zstd"])
def test_a_place_without_a_whole_record_is_a_data_error(
    tmp_path: Path, warc_format: Literal["gzip", "zstd"]
) -> None:
    """Reading at a wrong offset, past the end or in a missing file says so."""
    options = WarcOptions(format=warc_format)
    output = make_output(*HEADS["plain"])
    data, _ = capture_members(make_record(), output, Codec(options), options)
    (tmp_path / "w").write_bytes(data)
    for offset, length in ((1, 50), (0, len(data) - 9), (len(data), 10)):
        with pytest.raises(DataError):
            read_capture(tmp_path, "w", offset, length)
    with pytest.raises(DataError, match="none"):
        read_capture(tmp_path, "none", 0, 1)


def test_a_rendered_page_is_two_records() -> None:
    """What the server sent, and behind it a conversion that refers to it and is what is read."""
    sent = make_output(*HEADS["gzip"])
    rendered = replace(
        sent, raw_body=b"<p>made", body=b"<p>made", unrendered=sent, rendered_by="Chromium/1"
    )
    data, begin = capture_members(make_record(), rendered, Codec(WarcOptions()), WarcOptions())
    first, second = _warcio(data)
    assert (first[:2], second[0]) == (("response", BODY), "conversion")
    capture = parse_capture(gzip.decompress(data[begin:]))
    assert (capture.kind, capture.body, capture.http_status) == ("conversion", b"<p>made", 200)
    fields = gzip.decompress(data[begin:]).partition(b"\r\n\r\n")[0].decode()
    record_id = gzip.decompress(data[:begin]).split(b"WARC-Record-ID: ")[1].split(b"\r\n")[0]
    assert f"WARC-Refers-To: {record_id.decode()}" in fields
    assert "Filbert-Rendered-By: Chromium/1" in fields


def test_a_replayed_capture_keeps_its_date() -> None:
    """WARC-Date is when the server said it; a field of ours names the record it came from."""
    archived = ArchivedCapture(date_ms=1_704_067_200_000, record_id="<urn:uuid:1>")
    output = replace(make_output(*HEADS["plain"]), archived=archived)
    data, _ = capture_members(make_record(), output, Codec(WarcOptions()), WarcOptions())
    fields = gzip.decompress(data).partition(b"\r\n\r\n")[0].decode()
    assert "WARC-Date: 2024-01-01T00:00:00.000Z" in fields
    assert "Filbert-Replayed-From: <urn:uuid:1>" in fields
