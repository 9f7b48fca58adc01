"""The records of Nutch 1.x: any value survives, old versions are read, damage is told."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filbert.errors import UserError
from filbert.nutch import simple
from filbert.nutch.data import CorruptDataError, DataInput, DataOutput
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.simple import Text
from filbert.nutch.v1 import names
from filbert.nutch.v1.content import Content
from filbert.nutch.v1.crawl_datum import CrawlDatum, Status
from filbert.nutch.v1.generic import NutchWritable
from filbert.nutch.v1.host_datum import HostDatum
from filbert.nutch.v1.links import Inlink, Inlinks, Outlink
from filbert.nutch.v1.map_writable import MapWritable, OpaqueWritable
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.v1.parsed import ParseData, ParseText
from filbert.nutch.v1.statuses import ParseStatus, ProtocolStatus
from filbert.nutch.v1.webgraph import LinkDatum, LinkNode, LinkNodes, LoopSet, Node, Route

if TYPE_CHECKING:
    from filbert.nutch.writable import Writable

GOLDEN = Path(__file__).parents[2] / "data" / "nutch1"
NO_DEADLINE = settings(deadline=None)
STATUS_CLASS = "org.apache.nutch.protocol.ProtocolStatus"

# ------------------------------------------------------------------ any value survives

ints, longs = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
small = st.integers(-128, 127)
floats = st.floats(width=32, allow_nan=False)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
args = st.none() | st.lists(st.none() | texts, max_size=3).map(tuple)
protocol_statuses = st.builds(ProtocolStatus, small, longs, args)
parse_statuses = st.builds(ParseStatus, small, st.integers(-(2**15), 2**15 - 1), args)
metadatas = st.dictionaries(texts, st.lists(texts, max_size=3).map(tuple), max_size=20).map(
    Metadata
)
plain_values = (
    st.builds(Text, texts)
    | st.builds(simple.IntWritable, ints)
    | st.builds(simple.LongWritable, longs)
    | st.builds(simple.FloatWritable, floats)
    | st.builds(simple.BooleanWritable, st.booleans())
    | st.builds(simple.BytesWritable, st.binary(max_size=9))
    | st.builds(simple.MD5Hash, st.binary(min_size=16, max_size=16))
    | st.builds(simple.VIntWritable, ints)
    | st.builds(simple.VLongWritable, longs)
    | st.just(simple.NullWritable())
)
values = plain_values | protocol_statuses | parse_statuses | metadatas
maps = st.builds(MapWritable, st.dictionaries(plain_values, values, max_size=20))
deep_maps = st.builds(MapWritable, st.dictionaries(plain_values, values | maps, max_size=5))
signatures = st.none() | st.binary(min_size=1, max_size=127)
datums = st.builds(
    CrawlDatum, small, longs, small, ints, floats, longs, signatures, maps | deep_maps
)
outlinks = st.lists(st.builds(Outlink, texts, texts, maps), max_size=4).map(tuple)
inlinks = st.lists(st.builds(Inlink, texts, texts, maps), max_size=30, unique=True).map(tuple)
nodes = st.builds(Node, ints, ints, floats, metadatas)
link_nodes = st.builds(LinkNode, texts, nodes)
hosts = st.builds(
    HostDatum,
    score=floats,
    last_check=longs,
    homepage_url=texts,
    dns_failures=ints,
    unfetched=ints,
    gone=ints,
    metadata=maps,
)
contents = st.builds(Content, texts, texts, st.binary(max_size=30), texts, metadatas)
parses = st.builds(ParseData, parse_statuses, texts, outlinks, metadatas, metadatas)
records = (
    datums
    | hosts
    | contents
    | parses
    | maps
    | metadatas
    | protocol_statuses
    | parse_statuses
    | nodes
    | st.builds(ParseText, texts)
    | st.builds(Inlinks, inlinks)
    | st.builds(LinkDatum, texts, texts, floats, longs, small)
    | st.lists(link_nodes, max_size=3).map(tuple).map(LinkNodes)
    | st.lists(texts, max_size=20, unique=True).map(tuple).map(LoopSet)
    | st.builds(Route, texts, texts, st.booleans())
    | st.builds(NutchWritable, datums | plain_values.filter(lambda one: "VI" not in repr(one)))
)


@NO_DEADLINE
@given(records)
def test_what_is_written_is_read_again(record: Writable) -> None:
    """An equal record, and from it the same bytes."""
    if isinstance(record, NutchWritable) and names.java_name(record.value) not in record.CLASSES:
        return
    coded = record.to_bytes()
    data = DataInput(coded)
    read = type(record).read(data)
    assert data.left == 0
    if not isinstance(record, LoopSet):  # a set, in the order of its hashes
        assert read == record
    assert read.to_bytes() == coded
    assert isinstance(str(read), str)


# ------------------------------------------------------------------ damage is told


def _some_records() -> list[tuple[type[Writable], bytes]]:
    found = []
    folder = GOLDEN / "segments" / "20261130202958"
    paths = [*folder.rglob("data"), *folder.glob("crawl_parse/part*")]
    for path in [*sorted(paths), GOLDEN / "linkdb" / "current" / "part-r-00000" / "data"]:
        with SequenceFile(path) as file:
            cls = names.record_class(file.header.value_class)
            assert cls is not None
            several = sorted([record.value for record in file], key=len)
            found += [(cls, several[len(several) // 2]), (cls, several[-1])]
    return found


SOME = _some_records()


@NO_DEADLINE
@given(st.sampled_from(SOME), st.data())
def test_a_bit_that_is_flipped(some: tuple[type[Writable], bytes], data: st.DataObject) -> None:
    """Another record, or an error that says so; never another error."""
    cls, coded = some
    flipped = bytearray(coded)
    for _ in range(data.draw(st.integers(1, 3))):
        bit = data.draw(st.integers(0, 8 * len(coded) - 1))
        flipped[bit // 8] ^= 1 << bit % 8
    with contextlib.suppress(CorruptDataError):
        record = cls.from_bytes(bytes(flipped))
        record.to_bytes()
        str(record)


@NO_DEADLINE
@given(st.sampled_from(SOME), st.data())
def test_a_record_that_is_cut_short(
    some: tuple[type[Writable], bytes], data: st.DataObject
) -> None:
    """An error that says so."""
    cls, coded = some
    end = data.draw(st.integers(0, len(coded) - 1))
    if cls is Inlinks and coded[3] == 1 and end == len(coded) - 1:
        return  # a whole record of Nutch 1.0 to 1.4
    with pytest.raises(CorruptDataError):
        cls.from_bytes(coded[:end])


@NO_DEADLINE
@given(st.sampled_from(sorted(names.record_classes())), st.binary(max_size=60))
def test_bytes_that_are_no_record(name: str, coded: bytes) -> None:
    """A record, or an error that says so; never another error."""
    cls = names.record_class(name)
    assert cls is not None
    with contextlib.suppress(CorruptDataError):
        cls.from_bytes(coded)


def test_maps_that_lie_in_each_other_without_end() -> None:
    """A record that nests deeper than any sense is damaged."""
    inner = b"\0" + (0).to_bytes(4, "big")
    for _ in range(20_000):
        inner = b"\0" + (1).to_bytes(4, "big") + b"\x8c\x01a" + b"\x87" + inner
    with pytest.raises(CorruptDataError, match="too deep"):
        MapWritable.from_bytes(inner)


# ------------------------------------------------------------------ CrawlDatum


def test_defaults_are_nutchs() -> None:
    """A new record has the score 1 and knows nothing else."""
    datum = CrawlDatum()
    assert (datum.score, datum.retries, datum.signature, len(datum.metadata)) == (1.0, 0, None, 0)
    assert Node().inlink_score == 1.0
    assert HostDatum().last_check == 0


@pytest.mark.parametrize(
    "datum",
    [
        CrawlDatum(status=200),
        CrawlDatum(fetch_time=1 << 63),
        CrawlDatum(score=1e300),
        CrawlDatum(signature=bytes(128)),
    ],
)
def test_what_no_record_can_hold(datum: CrawlDatum) -> None:
    """It is the caller's error, told before a byte is written."""
    with pytest.raises(UserError, match="cannot be written"):
        datum.to_bytes()


def test_what_kind_of_status() -> None:
    """A parse that failed counts among the fetches."""
    assert CrawlDatum(status=Status.DB_ORPHAN).has_db_status
    assert CrawlDatum(status=Status.FETCH_GONE).has_fetch_status
    assert CrawlDatum(status=Status.PARSE_FAILED).has_fetch_status
    assert not CrawlDatum(status=Status.LINKED).has_fetch_status
    assert CrawlDatum(status=77).status_name == "unknown"


def test_nutchs_order() -> None:
    """Highest score first, then lowest status, then latest fetch."""
    ordered = [
        CrawlDatum(score=2.0),
        CrawlDatum(status=1, fetch_time=5),
        CrawlDatum(status=1, fetch_time=4),
        CrawlDatum(status=2, fetch_time=9),
        CrawlDatum(score=0.5),
    ]
    assert sorted([*ordered[3:], *ordered[:3]], key=CrawlDatum.sort_key) == ordered


# ------------------------------------------------------------------ MapWritable


def _map(*entries: bytes, classes: tuple[str, ...] = ()) -> bytes:
    out = DataOutput()
    out.write_byte(len(classes))
    for number, name in enumerate(classes, 1):
        out.write_byte(number)
        out.write_utf(name)
    out.write_int(len(entries))
    for entry in entries:
        out.write_bytes(entry)
    return out.getvalue()


def test_the_ids_of_built_in_classes() -> None:
    """As Hadoop numbers them."""
    entries = (
        b"\x8c\x01a\x82\x01",
        b"\x8c\x01b\x83\0\0\0\x01x",
        b"\x8c\x01c\x84\x3f\x80\0\0",
        b"\x8c\x01d\x85\0\0\0\x07",
        b"\x8c\x01e\x86" + (9).to_bytes(8, "big"),
        b"\x8c\x01f\x87" + _map(),
        b"\x8c\x01g\x88" + bytes(16),
        b"\x8c\x01h\x89",
        b"\x8c\x01i\x8c\x01t",
        b"\x8c\x01j\x8e\x05",
        b"\x8c\x01k\x8f\x06",
    )
    coded = _map(*entries)
    read = MapWritable.from_bytes(coded)
    assert read.to_bytes() == coded
    assert [read.get(name) for name in "abcdefghijk"] == [
        simple.BooleanWritable(True),
        simple.BytesWritable(b"x"),
        simple.FloatWritable(1.0),
        simple.IntWritable(7),
        simple.LongWritable(9),
        MapWritable(),
        simple.MD5Hash(bytes(16)),
        simple.NullWritable(),
        Text("t"),
        simple.VIntWritable(5),
        simple.VLongWritable(6),
    ]


def test_a_foreign_value_at_the_end_survives() -> None:
    """Its bytes are the rest of the record."""
    foreign = _map(b"\x8c\x01a\x01foreign bytes", classes=("org.example.Foreign",))
    coded = CrawlDatum(metadata=MapWritable.of({"a": "b"})).to_bytes()
    coded = coded[: -len(_map(b"\x8c\x01a\x8c\x01b"))] + foreign
    datum = CrawlDatum.from_bytes(coded)
    assert datum.metadata.get("a") == OpaqueWritable("org.example.Foreign", b"foreign bytes")
    assert datum.to_bytes() == coded


def test_a_foreign_value_elsewhere_is_told() -> None:
    """Nobody knows where it ends."""
    entries = (b"\x8c\x01a\x01foreign bytes", b"\x8c\x01b\x8c\x01x")
    coded = _map(*entries, classes=("org.example.Foreign",))
    with pytest.raises(CorruptDataError, match=r"org\.example\.Foreign"):
        MapWritable.read_in(DataInput(coded), tail=True)
    with pytest.raises(CorruptDataError, match="ArrayWritable"):
        MapWritable.from_bytes(_map(b"\x8c\x01a\x81\0\0\0\0"))


def test_a_class_whose_values_are_gone_stays_named() -> None:
    """Java keeps the class, and so do we: the map is written as it was."""
    coded = _map(b"\x8c\x01a\x8c\x01b", classes=(STATUS_CLASS,))
    read = MapWritable.from_bytes(coded)
    assert read.to_bytes() == coded
    assert read.put("c", "d").without("a").classes == (STATUS_CLASS,)


@pytest.mark.parametrize(
    "coded",
    [
        b"\xff" + bytes(4),
        b"\x01\x02\0\x01a" + bytes(4),
        b"\x02\x01\0\x01a\x01\0\x01b" + bytes(4),
        b"\x01\x01\0\x19org.apache.hadoop.io.Text" + bytes(4),
        _map(b"\x8c\x01a\x05x"),
        _map(b"\x8c\x01a\x90x"),
        b"\0\x7f\xff\xff\xff",
        _map(b"\x87" + _map() + b"\x8c\x01x"),
    ],
)
def test_maps_that_cannot_be(coded: bytes) -> None:
    """Ids without names, names without ids, counts beyond the data, keys that cannot be keys."""
    with pytest.raises(CorruptDataError):
        MapWritable.from_bytes(coded)


def test_a_map_that_was_read_keeps_its_order() -> None:
    """Even one that Java's map would not have now; a change puts it into Java's."""
    keys = [Text(f"key{number}") for number in range(20)]
    made = MapWritable({key: Text("x") for key in keys})
    odd = MapWritable(made.entries, as_read=True)
    assert MapWritable.from_bytes(odd.to_bytes()).in_order() == keys
    assert made.in_order() != keys
    assert odd.put("key3", "y").in_order() == made.in_order()


def test_too_many_classes() -> None:
    """Ids are bytes."""
    many: dict[Writable, Writable] = {
        Text(f"{n}"): OpaqueWritable(f"org.example.C{n}", b"") for n in range(128)
    }
    with pytest.raises(UserError, match="128 classes"):
        MapWritable(many).to_bytes()


# ------------------------------------------------------------------ the rest


def test_texts_of_statuses() -> None:
    """Several arguments are numbered, one is not; null is left out among several."""
    assert str(ProtocolStatus(13, 5, ("a",))) == "temp_moved(13), lastModified=5: a"
    assert str(ProtocolStatus(99)) == "null(99), lastModified=0"
    assert str(ParseStatus(1, 100, ("a", None, "b"))) == "success(1,100), args[0]=a, args[2]=b"
    assert str(ParseStatus(7, 0, (None,))) == "UNKNOWN!(7,0): null"


def test_a_value_of_a_class_of_its_number() -> None:
    """The byte before it says which; one of a class that is not registered is refused."""
    coded = NutchWritable(CrawlDatum()).to_bytes()
    assert coded[0] == 9
    assert NutchWritable.from_bytes(coded).value == CrawlDatum()
    foreign = NutchWritable.from_bytes(b"\x11 any bytes")
    assert foreign.value == OpaqueWritable("org.apache.nutch.parse.ParseImpl", b" any bytes")
    assert foreign.to_bytes() == b"\x11 any bytes"
    with pytest.raises(CorruptDataError):
        NutchWritable.from_bytes(b"\x17")
    with pytest.raises(UserError, match="NOT registered"):
        NutchWritable(Node()).to_bytes()


def test_names_of_classes() -> None:
    """There and back; what is not known is None."""
    for name, cls in names.record_classes().items():
        assert names.record_class(names.java_name_of(cls)) is cls
        assert names.record_class(name) is cls
    assert names.record_class("org.example.Foreign") is None
    assert names.java_name(OpaqueWritable("org.example.Foreign", b"")) == "org.example.Foreign"


def test_metadata_has_several_values() -> None:
    """A name that comes twice has the values of both; without values it is gone."""
    metadata = Metadata.of({"a": ("1", "2"), "b": "3"})
    assert str(metadata) == "a=1 a=2 b=3"
    assert (metadata.get("a"), metadata.get("c")) == ("1", None)
    assert metadata.with_values("a").values == {"b": ("3",)}
    assert metadata.with_values("b", "4", "5").values["b"] == ("4", "5")
    out = DataOutput()
    out.write_int(2)
    for value in ("1", "2"):
        out.write_text("a")
        out.write_int(1)
        out.write_text(value)
    assert Metadata.from_bytes(out.getvalue()) == Metadata.of({"a": ("1", "2")})


def test_texts_of_hosts_and_nodes() -> None:
    """As the readers of the HostDb and of the web graph print them."""
    host = HostDatum(
        score=0.5,
        last_check=1_796_000_000_000,
        homepage_url="http://a/",
        dns_failures=1,
        connection_failures=2,
        fetched=3,
        gone=4,
        metadata=MapWritable.of({"n": simple.FloatWritable(2.0)}),
    )
    wanted = "0\t3\t4\t0\t0\t0\t7\t1\t2\t3\t0.5\t2026-11-30 00:53:20\thttp://a/\tn:2.0|||"
    assert str(host) == wanted
    assert str(Node(3, 2, 3.0, Metadata.of({"a": "b"}))) == (
        "num inlinks: 3, num outlinks: 2, inlink score: 3.0, outlink score: 1.5, metadata: a=b"
    )
    assert str(LinkDatum("http://a/", "x", 1.0, 5, 1)) == (
        "url: http://a/, anchor: x, score: 1.0, timestamp: 5, link type: inlink"
    )
