"""A value of one of several classes, with a byte before it that says which: `NutchWritable`.

Guarantee: reading and writing again gives the same bytes.
Source: Hadoop `io.GenericWritable`; Nutch 1.22 `crawl.NutchWritable`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from filbert.errors import UserError
from filbert.nutch.data import CorruptDataError
from filbert.nutch.simple import NullWritable
from filbert.nutch.v1 import names
from filbert.nutch.v1.map_writable import OpaqueWritable
from filbert.nutch.writable import Writable

if TYPE_CHECKING:
    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["GenericWritable", "NutchWritable"]


@dataclass(frozen=True, slots=True)
class GenericWritable(Writable):
    """A value of one of `CLASSES`.

    Attributes:
        CLASSES: Java's names of the classes, by the byte that says which.
        value: The value. One of a class that is not known here is kept as bytes.
    """

    CLASSES: ClassVar[tuple[str, ...]] = ()
    value: Writable = field(default_factory=NullWritable)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        at, number = data.position, data.read_unsigned_byte()
        if number >= len(cls.CLASSES):
            raise CorruptDataError(
                f"a {cls.__name__} at byte {at} has class {number}; it knows {len(cls.CLASSES)}"
            )
        name = cls.CLASSES[number]
        known = names.record_class(name)
        if known is None:
            return cls(OpaqueWritable(name, data.read_bytes(data.left)))
        try:
            return cls(known.read(data))
        except RecursionError:
            raise CorruptDataError(f"values lie too deep in each other at byte {at}") from None

    def write(self, out: DataOutput) -> None:
        """Write it.

        Raises:
            UserError: The value is of another class.
        """
        name = names.java_name(self.value)
        if name not in self.CLASSES:
            raise UserError(f"The type of instance is: {name}, which is NOT registered.")
        out.write_byte(self.CLASSES.index(name))
        self.value.write(out)

    def __str__(self) -> str:
        """Return Hadoop's text of it."""
        return f"GW[class={names.java_name(self.value)},value={self.value}]"


class NutchWritable(GenericWritable):
    """What Nutch's jobs hand from step to step."""

    __slots__ = ()
    CLASSES = (
        "org.apache.hadoop.io.NullWritable",
        "org.apache.hadoop.io.BooleanWritable",
        "org.apache.hadoop.io.LongWritable",
        "org.apache.hadoop.io.BytesWritable",
        "org.apache.hadoop.io.FloatWritable",
        "org.apache.hadoop.io.IntWritable",
        "org.apache.hadoop.io.MapWritable",
        "org.apache.hadoop.io.Text",
        "org.apache.hadoop.io.MD5Hash",
        "org.apache.nutch.crawl.CrawlDatum",
        "org.apache.nutch.crawl.Inlink",
        "org.apache.nutch.crawl.Inlinks",
        "org.apache.nutch.indexer.NutchIndexAction",
        "org.apache.nutch.metadata.Metadata",
        "org.apache.nutch.parse.Outlink",
        "org.apache.nutch.parse.ParseText",
        "org.apache.nutch.parse.ParseData",
        "org.apache.nutch.parse.ParseImpl",
        "org.apache.nutch.parse.ParseStatus",
        "org.apache.nutch.protocol.Content",
        "org.apache.nutch.protocol.ProtocolStatus",
        "org.apache.nutch.scoring.webgraph.LinkDatum",
        "org.apache.nutch.hostdb.HostDatum",
    )
