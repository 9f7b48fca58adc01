"""All records that Nutch 1.22 wrote are read, and come out again byte for byte."""

from __future__ import annotations

import gzip
import json
import struct
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from filbert.nutch import simple
from filbert.nutch.data import DataInput
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.simple import Text
from filbert.nutch.v1 import names
from filbert.nutch.v1.content import Content
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.java_hash import bytes_hash
from filbert.nutch.v1.java_text import float_text
from filbert.nutch.v1.map_writable import MapWritable
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.v1.parsed import ParseData
from filbert.nutch.v1.statuses import ProtocolStatus

if TYPE_CHECKING:
    from filbert.nutch.writable import Writable

DATA = Path(__file__).parents[2] / "data"
GOLDEN = DATA / "nutch1"
FILES = sorted(
    [
        *GOLDEN.rglob("data"),
        *GOLDEN.glob("segments/*/crawl_generate/part-*"),
        *GOLDEN.glob("segments/*/crawl_parse/part-*"),
    ]
)
RECORDS = 3_695


def _records(path: Path) -> tuple[type[Writable], list[bytes]]:
    with SequenceFile(path) as file:
        cls = names.record_class(file.header.value_class)
        assert cls is not None
        return cls, [record.value for record in file]


def test_no_file_is_lost() -> None:
    """All files are here, with all their records."""
    assert sum(len(_records(path)[1]) for path in FILES) == RECORDS


@pytest.mark.parametrize("path", FILES, ids=[str(one.relative_to(GOLDEN)) for one in FILES])
def test_what_nutch_wrote_comes_out_again(path: Path) -> None:
    """Each record is read to its last byte, and written as it was."""
    cls, values = _records(path)
    for value in values:
        data = DataInput(value)
        record = cls.read(data)
        assert data.left == 0
        assert record.to_bytes() == value
        assert cls.from_bytes(value) == record


@pytest.mark.parametrize("path", FILES, ids=[str(one.relative_to(GOLDEN)) for one in FILES])
def test_java_has_the_names_in_the_order_that_we_reckon(path: Path) -> None:
    """The order in the file is that of a map made anew."""
    cls, values = _records(path)
    for value in values:
        for inside in _maps(cls.from_bytes(value)):
            if isinstance(inside, Metadata):
                assert Metadata(inside.values).names() == inside.names()
            else:
                assert MapWritable(inside.entries).in_order() == inside.in_order()


def _maps(record: Writable) -> list[MapWritable | Metadata]:
    if isinstance(record, ParseData):
        return [record.content_metadata, record.parse_metadata]
    return [record.metadata] if isinstance(record, (CrawlDatum, Content)) else []


# ------------------------------------------------------------------ what CrawlDbReducer made


def _results(step: int = 1) -> list[dict[str, Any]]:
    with gzip.open(DATA / "golden" / "reducer-cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        cases = [json.loads(line, parse_float=str) for line in islice(lines, 0, None, step)]
    return [case["result"] for case in cases if case["result"] is not None]


def _value(told: dict[str, Any]) -> Writable:
    if told["type"] == "ProtocolStatus":
        args = told["args"]
        return ProtocolStatus(
            told["code"], told["lastModified"], None if args is None else tuple(args)
        )
    if told["type"] == "FloatWritable":
        return simple.FloatWritable(float(told["value"]))
    made: Writable = getattr(simple, told["type"])(told["value"])
    return made


def _datum(told: dict[str, Any]) -> CrawlDatum:
    signature = told["signature"]
    return CrawlDatum(
        told["status"],
        told["fetchTime"],
        told["retries"],
        told["interval"],
        struct.unpack(">f", bytes.fromhex(told["scoreBits"]))[0],
        told["modifiedTime"],
        None if signature is None else bytes.fromhex(signature),
        MapWritable({Text(name): _value(one) for name, one in told["metadata"].items()}),
    )


def _check(told: dict[str, Any]) -> bool:
    """Check one result; return whether a map made anew has the bytes, too."""
    raw = bytes.fromhex(told["raw"])
    read, made = CrawlDatum.from_bytes(raw), _datum(told)
    assert read == made
    assert read.to_bytes() == raw
    assert read.status_name == told["statusName"]
    assert float_text(read.score) == told["score"]
    if made.to_bytes() == raw:
        return True
    # The table has the names sorted; those of one bucket lie in the order they were put in.
    ours, theirs = made.metadata.in_order(), read.metadata.in_order()
    assert [_bucket(key) for key in ours] == [_bucket(key) for key in theirs]
    return False


def _bucket(key: Writable) -> int:
    assert isinstance(key, Text)
    code = bytes_hash(key.value.encode())
    return (code ^ code >> 16) & 15


def test_what_the_reducer_made() -> None:
    """The records, their bytes and numbers: every twentieth case."""
    results = _results(20)
    made = [_check(told) for told in results]
    assert len(results) >= 90
    assert sum(made) > 0.95 * len(made)


@pytest.mark.slow
def test_all_that_the_reducer_made() -> None:
    """The records, their bytes and numbers: all cases."""
    results = _results()
    made = [_check(told) for told in results]
    assert len(results) == 1_833
    assert sum(made) == 1_804
