"""The maps of Nutch 0.8 and 0.9, which had a class of their own; they are read, not written.

Guarantee: nothing of a map is lost: it becomes a `MapWritable` of the same entries.
Source: Nutch 0.9 `crawl.MapWritable`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.nutch.data import CorruptDataError
from filbert.nutch.v1 import names
from filbert.nutch.v1.map_writable import EMPTY, MapWritable, unknown

if TYPE_CHECKING:
    from filbert.nutch.data import DataInput
    from filbert.nutch.writable import Writable

__all__ = ["read_old_map"]

_OLD_NAMES = {
    -127: "org.apache.hadoop.io.NullWritable",
    -126: "org.apache.hadoop.io.LongWritable",
    -125: "org.apache.hadoop.io.Text",
    -124: "org.apache.hadoop.io.MD5Hash",
    -123: "org.apache.nutch.fetcher.FetcherOutput",
    -122: "org.apache.nutch.protocol.Content",
    -121: "org.apache.nutch.parse.ParseText",
    -120: "org.apache.nutch.parse.ParseData",
    -119: "org.apache.nutch.crawl.MapWritable",
    -118: "org.apache.hadoop.io.BytesWritable",
    -117: "org.apache.hadoop.io.FloatWritable",
    -116: "org.apache.hadoop.io.IntWritable",
    -115: "org.apache.hadoop.io.ObjectWritable",
    -114: "org.apache.nutch.protocol.ProtocolStatus",
}


def read_old_map(data: DataInput, *, tail: bool = False) -> MapWritable:
    """Read a map of Nutch 0.8 to 0.9 (`org.apache.nutch.crawl.MapWritable`).

    Raises:
        CorruptDataError: It is none, or holds a value whose length cannot be known.
    """
    count = data.read_int()
    entries: dict[Writable, Writable] = {}
    if count <= 0:
        return EMPTY
    known = dict(_OLD_NAMES)
    for _ in range(data.read_byte()):
        number = data.read_byte()
        known[number] = data.read_text()
    data.checked_count(count, data.position, 2)
    for left in range(count, 0, -1):
        at, ids = data.position, (data.read_byte(), data.read_byte())
        if not all(one in known for one in ids):
            raise CorruptDataError(f"the map has an entry of the class ids {ids} at byte {at}")
        key = _old_value(data, known[ids[0]], last=False)
        entries[key] = _old_value(data, known[ids[1]], last=tail and left == 1)
    return MapWritable(entries)


def _old_value(data: DataInput, name: str, *, last: bool) -> Writable:
    if name == _OLD_NAMES[-119]:
        return read_old_map(data)
    known = names.record_class(name)
    return unknown(data, name, last=last) if known is None else known.read(data)
