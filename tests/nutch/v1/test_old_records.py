"""Records of before Nutch 1.22, from 0.8 on."""

from __future__ import annotations

import struct
import zlib

import pytest

from filbert.nutch import simple
from filbert.nutch.data import CorruptDataError, DataOutput, gzipped
from filbert.nutch.simple import Text
from filbert.nutch.v1.content import Content
from filbert.nutch.v1.crawl_datum import CrawlDatum, Status
from filbert.nutch.v1.links import Inlink, Inlinks, Outlink
from filbert.nutch.v1.map_writable import OpaqueWritable
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.v1.parsed import ParseData, ParseText
from filbert.nutch.v1.statuses import ParseStatus, ProtocolStatus
from filbert.nutch.writable import VersionMismatchError


def _old_datum(version: int, status: int, metadata: bytes = b"") -> bytes:
    out = DataOutput()
    out.write_byte(version)
    out.write_byte(status)
    out.write_long(1_000)
    out.write_byte(2)
    if version > 5:
        out.write_int(86_400)
    else:
        out.write_float(30.5)
    out.write_float(0.5)
    if version > 2:
        out.write_long(2_000)
        out.write_byte(3)
        out.write_bytes(b"sig")
    if version > 3:
        out.write_boolean(bool(metadata))
        out.write_bytes(metadata)
    return out.getvalue()


@pytest.mark.parametrize("version", range(1, 7))
def test_old_versions_are_read(version: int) -> None:
    """Fields that came later have their defaults; the interval was a float before version 6."""
    datum = CrawlDatum.from_bytes(_old_datum(version, 2))
    since_3 = version > 2
    assert datum == CrawlDatum(
        status=2,
        fetch_time=1_000,
        retries=2,
        fetch_interval=86_400 if version > 5 else 31,
        score=0.5,
        modified_time=2_000 if since_3 else 0,
        signature=b"sig" if since_3 else None,
    )
    assert CrawlDatum.from_bytes(datum.to_bytes()) == datum


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (0, Status.SIGNATURE),
        (1, Status.DB_UNFETCHED),
        (2, Status.DB_FETCHED),
        (3, Status.DB_GONE),
        (4, Status.LINKED),
        (5, Status.FETCH_SUCCESS),
        (6, Status.FETCH_RETRY),
        (7, Status.FETCH_GONE),
        (8, Status.DB_UNFETCHED),
    ],
)
def test_statuses_before_version_5_are_renumbered(old: int, new: Status) -> None:
    """As `CrawlDatum.oldToNew` has it; what is unknown becomes unfetched."""
    assert CrawlDatum.from_bytes(_old_datum(4, old)).status == new
    assert CrawlDatum.from_bytes(_old_datum(5, old)).status == old


def test_maps_of_before_version_7_are_read() -> None:
    """They named their classes by other numbers, and two of them stood before each entry."""
    out = DataOutput()
    out.write_int(3)
    out.write_byte(1)
    out.write_byte(-113)
    out.write_text("org.example.Foreign")
    for value_id, value in ((-126, bytes(7) + b"\7"), (-125, b"\4text"), (-113, b"foreign")):
        out.write_byte(-125)
        out.write_byte(value_id)
        out.write_text(f"key{value_id}")
        out.write_bytes(value)
    datum = CrawlDatum.from_bytes(_old_datum(6, 1, out.getvalue()))
    assert datum.metadata.get("key-126") == simple.LongWritable(7)
    assert datum.metadata.get("key-125") == Text("text")
    assert datum.metadata.get("key-113") == OpaqueWritable("org.example.Foreign", b"foreign")
    assert CrawlDatum.from_bytes(datum.to_bytes()) == datum


@pytest.mark.parametrize("version", [0, 8, 127, -1])
def test_versions_that_never_were(version: int) -> None:
    """They are told as Hadoop tells them."""
    with pytest.raises(VersionMismatchError, match="Expecting v7"):
        CrawlDatum.from_bytes(_old_datum(version, 1))


def test_old_protocol_and_parse_statuses() -> None:
    """Version 1 has its arguments packed."""
    out = DataOutput()
    out.write_byte(1)
    out.write_byte(12)
    out.write_long(3)
    out.write_compressed_string_array(["http://a/", None])
    assert ProtocolStatus.from_bytes(out.getvalue()) == ProtocolStatus(12, 3, ("http://a/", None))
    out = DataOutput()
    out.write_byte(1)
    out.write_byte(2)
    out.write_short(200)
    out.write_compressed_string_array(["why"])
    assert ParseStatus.from_bytes(out.getvalue()) == ParseStatus(2, 200, ("why",))
    for cls in (ProtocolStatus, ParseStatus):
        with pytest.raises(VersionMismatchError):
            cls.from_bytes(b"\x03" + bytes(20))


def test_old_parse_texts() -> None:
    """Version 1 is packed."""
    packed = gzipped("Ärger".encode())
    assert ParseText.from_bytes(b"\x01" + struct.pack(">i", len(packed)) + packed) == ParseText(
        "Ärger"
    )
    with pytest.raises(CorruptDataError):
        ParseText.from_bytes(b"\x01\xff\xff\xff\xff")


def _content_of_old(version: int) -> bytes:
    out = DataOutput()
    write = out.write_text if version == 2 else out.write_utf
    out.write_byte(version)
    write("http://a/")
    write("http://b/")
    out.write_int(4)
    out.write_bytes(b"body")
    write("text/html")
    out.write_int(1)
    write("name")
    out.write_int(2)
    write("one")
    write("two")
    packed = zlib.compress(out.getvalue())
    return struct.pack(">i", len(packed)) + packed


@pytest.mark.parametrize("version", [0, 1, 2])
def test_old_contents(version: int) -> None:
    """They are packed; strings are `UTF8` before version 2."""
    wanted = Content(
        "http://a/", "http://b/", b"body", "text/html", Metadata.of({"name": ("one", "two")})
    )
    assert Content.from_bytes(_content_of_old(version)) == wanted
    with pytest.raises(CorruptDataError):
        Content.from_bytes(_content_of_old(version)[:-3])


def test_contents_that_never_were() -> None:
    """Neither packed nor plain."""
    for coded in (_content_of_old(3), b"\xff\xff\xff\xfe" + bytes(9)):
        with pytest.raises(VersionMismatchError):
            Content.from_bytes(coded)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_old_parse_data(version: int) -> None:
    """Strings are `UTF8`; status, lists of values and parse metadata came one after the other."""
    out = DataOutput()
    out.write_byte(version)
    if version > 1:
        ParseStatus(1).write(out)
    out.write_utf("title")
    out.write_int(1)
    out.write_utf("http://b/")
    out.write_utf("anchor")
    for _ in range(2 if version > 3 else 1):
        out.write_int(1)
        out.write_utf("name")
        if version > 2:
            out.write_int(1)
        out.write_utf("value")
    metadata = Metadata.of({"name": "value"})
    read = ParseData.from_bytes(out.getvalue())
    assert read == ParseData(
        ParseStatus(1),
        "title",
        (Outlink("http://b/", "anchor"),),
        metadata,
        metadata if version > 3 else Metadata(),
    )


def test_links_without_metadata() -> None:
    """Before Nutch 1.5 links had none, under the same version numbers."""
    out = DataOutput()
    out.write_byte(5)
    ParseStatus(1).write(out)
    out.write_text("title")
    out.write_int(2)
    for text in ("http://b/", "anchor", "http://c/", ""):
        out.write_text(text)
    Metadata().write(out)
    Metadata().write(out)
    links = Outlink("http://b/", "anchor"), Outlink("http://c/", "")
    assert ParseData.from_bytes(out.getvalue()).outlinks == links
    out = DataOutput()
    out.write_int(2)
    for text in ("http://b/", "anchor", "http://c/", "more"):
        out.write_text(text)
    assert Inlinks.from_bytes(out.getvalue()) == Inlinks(
        (Inlink("http://b/", "anchor"), Inlink("http://c/", "more"))
    )
