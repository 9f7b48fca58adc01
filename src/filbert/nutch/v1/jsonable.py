"""Records of Nutch 1.x as values of JSON, under the names of Java's fields.

Guarantee: nothing of a record is left out; bytes are hexadecimal, a typed value that is no text has
its class beside it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from filbert.nutch import simple
from filbert.nutch.simple import Text
from filbert.nutch.v1 import names
from filbert.nutch.v1.content import Content
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.java_text import float_text
from filbert.nutch.v1.map_writable import MapWritable, OpaqueWritable
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.v1.values import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.nutch.writable import Writable

__all__ = ["jsonable"]

_SIMPLE = (
    simple.BooleanWritable,
    simple.ByteWritable,
    simple.FloatWritable,
    simple.IntWritable,
    simple.LongWritable,
    simple.ShortWritable,
    simple.UTF8,
    simple.VIntWritable,
    simple.VLongWritable,
    Text,
)
_UNSHOWN = frozenset({"as_read", "classes"})


def jsonable(record: object) -> object:
    """Return a record, or a field of one, as a value of JSON."""
    if isinstance(record, _SIMPLE):
        record = record.value
    known = _PLAIN.get(type(record))
    return known(record) if known else _record(record)


_PLAIN: dict[type, Callable[[Any], object]] = {
    type(None): lambda value: value,
    bool: lambda value: value,
    int: lambda value: value,
    float: lambda value: float(float_text(value)),  # all but DoubleWritable are of 32 bits
    str: lambda value: value.encode("utf-8", "replace").decode(),
    bytes: bytes.hex,
    tuple: lambda value: [jsonable(one) for one in value],
    list: lambda value: [jsonable(one) for one in value],
    simple.DoubleWritable: lambda record: record.value,
    simple.NullWritable: lambda _: None,
    simple.MD5Hash: str,
    OpaqueWritable: lambda record: {"class": record.class_name, "hex": record.data.hex()},
    Metadata: lambda record: {name: list(record.values[name]) for name in record.names()},
    MapWritable: lambda record: {str(jsonable(k)): _typed(v) for k, v in record.items()},
}


def _record(record: object) -> object:
    shown = _fields(record)
    if isinstance(record, CrawlDatum):
        shown["statusName"] = record.status_name
    if isinstance(record, Content):
        shown["content_hex"] = shown.pop("content")
    return shown


def _fields(record: object) -> dict[str, object]:
    assert is_dataclass(record), record
    return {
        _java(field.name): jsonable(getattr(record, field.name))
        for field in fields(record)
        if field.name not in _UNSHOWN
    }


def _typed(value: Writable) -> object:
    if isinstance(value, Text):
        return jsonable(value.value)
    return {"class": names.java_name(value), "value": text_of(value)}


def _java(name: str) -> str:
    """Return a field's name as Java spells it: fetch_time → fetchTime."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
