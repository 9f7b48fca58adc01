"""Java's names of the classes of records, and the record of each name.

Source: Hadoop 3 `io`; Nutch 1.22, and 1.0 to 1.9 for the loops of the web graph.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.nutch import simple

if TYPE_CHECKING:
    from filbert.nutch.writable import Writable

__all__ = ["java_name", "java_name_of", "record_class", "record_classes"]

_HADOOP, _NUTCH = "org.apache.hadoop.io.", "org.apache.nutch."
_HERE = "filbert.nutch.v1."
_SIMPLE = (
    "BooleanWritable",
    "ByteWritable",
    "BytesWritable",
    "DoubleWritable",
    "FloatWritable",
    "IntWritable",
    "LongWritable",
    "MD5Hash",
    "NullWritable",
    "ShortWritable",
    "Text",
    "UTF8",
    "VIntWritable",
    "VLongWritable",
)
_RECORDS = {
    _HADOOP + "MapWritable": ("map_writable", "MapWritable"),
    _NUTCH + "crawl.CrawlDatum": ("crawl_datum", "CrawlDatum"),
    _NUTCH + "crawl.Inlink": ("links", "Inlink"),
    _NUTCH + "crawl.Inlinks": ("links", "Inlinks"),
    _NUTCH + "crawl.NutchWritable": ("generic", "NutchWritable"),
    _NUTCH + "hostdb.HostDatum": ("host_datum", "HostDatum"),
    _NUTCH + "metadata.Metadata": ("metadata", "Metadata"),
    _NUTCH + "parse.Outlink": ("links", "Outlink"),
    _NUTCH + "parse.ParseData": ("parsed", "ParseData"),
    _NUTCH + "parse.ParseStatus": ("statuses", "ParseStatus"),
    _NUTCH + "parse.ParseText": ("parsed", "ParseText"),
    _NUTCH + "protocol.Content": ("content", "Content"),
    _NUTCH + "protocol.ProtocolStatus": ("statuses", "ProtocolStatus"),
    _NUTCH + "scoring.webgraph.LinkDatum": ("webgraph", "LinkDatum"),
    _NUTCH + "scoring.webgraph.LinkDumper$LinkNode": ("webgraph", "LinkNode"),
    _NUTCH + "scoring.webgraph.LinkDumper$LinkNodes": ("webgraph", "LinkNodes"),
    _NUTCH + "scoring.webgraph.Loops$LoopSet": ("webgraph", "LoopSet"),
    _NUTCH + "scoring.webgraph.Loops$Route": ("webgraph", "Route"),
    _NUTCH + "scoring.webgraph.Node": ("webgraph", "Node"),
}


@cache
def record_class(name: str) -> type[Writable] | None:
    """Return the record class of a Java name; None if it is not known here."""
    if name.startswith(_HADOOP) and name.removeprefix(_HADOOP) in _SIMPLE:
        known: type[Writable] = getattr(simple, name.removeprefix(_HADOOP))
        return known
    place = _RECORDS.get(name)
    if place is None:
        return None
    found: type[Writable] = getattr(importlib.import_module(_HERE + place[0]), place[1])
    return found


def record_classes() -> dict[str, type[Writable]]:
    """Return all record classes by Java's names."""
    known = [_HADOOP + name for name in _SIMPLE]
    return {name: found for name in (*known, *_RECORDS) if (found := record_class(name))}


@cache
def _names() -> dict[type[Writable], str]:
    return {known: name for name, known in reversed(record_classes().items())}


def java_name(record: Writable) -> str:
    """Return the Java name of a record's class.

    Raises:
        UserError: It has none.
    """
    opaque: str | None = getattr(record, "class_name", None)
    return opaque or java_name_of(type(record))


def java_name_of(kind: type[Writable]) -> str:
    """Return the Java name of a class of records.

    Raises:
        UserError: It has none.
    """
    found = _names().get(kind)
    if found is None:
        raise UserError(f"{kind.__name__} is no class of Java's")
    return found
