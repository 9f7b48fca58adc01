"""Names of classes in the headers of old files, and the records that they stand for.

Source: Nutch 0.7 `io.WritableName`: short aliases for known classes, Java's full names for others;
`net.nutch` was the package before Apache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.nutch import simple
from filbert.nutch.v07.fetched import Content, FetcherOutput
from filbert.nutch.v07.link import Link, LinkAnalysisEntry
from filbert.nutch.v07.page import FetchListEntry, Page
from filbert.nutch.v07.parsed import Outlink, ParseData, ParseText
from filbert.nutch.v07.status import ParseStatus, ProtocolStatus

if TYPE_CHECKING:
    from filbert.nutch.writable import Writable

__all__ = ["ALIASES", "record_class"]

ALIASES: dict[str, type[Writable]] = {
    "null": simple.NullWritable,
    "long": simple.LongWritable,
    "UTF8": simple.UTF8,
    "MD5Hash": simple.MD5Hash,
    "Page": Page,
    "Link": Link,
    "FetchListEntry": FetchListEntry,
    "FetcherOutput": FetcherOutput,
    "Content": Content,
    "ParseText": ParseText,
    "ParseData": ParseData,
}
"""The short names."""

_FULL: dict[str, type[Writable]] = {
    "io.NullWritable": simple.NullWritable,
    "io.LongWritable": simple.LongWritable,
    "io.IntWritable": simple.IntWritable,
    "io.FloatWritable": simple.FloatWritable,
    "io.BooleanWritable": simple.BooleanWritable,
    "io.BytesWritable": simple.BytesWritable,
    "io.UTF8": simple.UTF8,
    "io.MD5Hash": simple.MD5Hash,
    "db.Page": Page,
    "db.Link": Link,
    "linkdb.LinkAnalysisEntry": LinkAnalysisEntry,
    "pagedb.FetchListEntry": FetchListEntry,
    "fetcher.FetcherOutput": FetcherOutput,
    "protocol.Content": Content,
    "protocol.ProtocolStatus": ProtocolStatus,
    "parse.ParseText": ParseText,
    "parse.ParseData": ParseData,
    "parse.ParseStatus": ParseStatus,
    "parse.Outlink": Outlink,
}
_PACKAGES = ("org.apache.nutch.", "net.nutch.")


def record_class(name: str) -> type[Writable] | None:
    """Return the record of a class name, short or full; None if it is none of these."""
    for package in _PACKAGES:
        if name.startswith(package):
            return _FULL.get(name.removeprefix(package))
    return ALIASES.get(name)
