"""The records of a web graph: `Node`, `LinkDatum`, and those of its dumps and loops.

Guarantee: reading and writing again gives the same bytes.
Source: Nutch 1.22 `scoring.webgraph.Node`, `LinkDatum`, `LinkDumper`; 1.0 to 1.9 `Loops`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from filbert.nutch.v1.java_hash import hash_order, string_hash
from filbert.nutch.v1.java_text import float_text, nearest_float
from filbert.nutch.v1.metadata import Metadata
from filbert.nutch.writable import Writable

if TYPE_CHECKING:
    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["INLINK", "OUTLINK", "LinkDatum", "LinkNode", "LinkNodes", "LoopSet", "Node", "Route"]

OUTLINK_DIR: Final = "outlinks"
INLINK_DIR: Final = "inlinks"
NODE_DIR: Final = "nodes"
INLINK: Final = 1
OUTLINK: Final = 2
_TYPES = {INLINK: "inlink", OUTLINK: "outlink"}


@dataclass(frozen=True, slots=True)
class Node(Writable):
    """A page in the graph.

    Attributes:
        inlinks, outlinks: How many links it has.
        inlink_score: What link analysis gave it; a number of 32 bits.
        metadata: What else is known.
    """

    inlinks: int = 0
    outlinks: int = 0
    inlink_score: float = 1.0
    metadata: Metadata = field(default_factory=Metadata)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_int(), data.read_int(), data.read_float(), Metadata.read(data))

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_int(self.inlinks)
        out.write_int(self.outlinks)
        out.write_float(self.inlink_score)
        self.metadata.write(out)

    @property
    def outlink_score(self) -> float:
        """What it gives to each page that it links to."""
        if self.outlinks <= 0:
            return self.inlink_score
        return nearest_float(self.inlink_score / self.outlinks)

    def __str__(self) -> str:
        """Return Nutch's text of it."""
        return (
            f"num inlinks: {self.inlinks}, num outlinks: {self.outlinks}, "
            f"inlink score: {float_text(self.inlink_score)}, "
            f"outlink score: {float_text(self.outlink_score)}, metadata: {self.metadata}"
        )


@dataclass(frozen=True, slots=True)
class LinkDatum(Writable):
    """A link in the graph, from either end.

    Attributes:
        url: The page at the other end.
        anchor: The link's text.
        score: A number of 32 bits.
        timestamp: When the page with the link was fetched, in ms.
        link_type: `INLINK`, `OUTLINK`, or 0.
    """

    url: str = ""
    anchor: str = ""
    score: float = 0.0
    timestamp: int = 0
    link_type: int = 0

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        url, anchor, score = data.read_text(), data.read_text(), data.read_float()
        return cls(url, anchor, score, data.read_long(), data.read_byte())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_text(self.url)
        out.write_text(self.anchor)
        out.write_float(self.score)
        out.write_long(self.timestamp)
        out.write_byte(self.link_type)

    def __str__(self) -> str:
        """Return Nutch's text of it."""
        return (
            f"url: {self.url}, anchor: {self.anchor}, score: {float_text(self.score)}, "
            f"timestamp: {self.timestamp}, link type: {_TYPES.get(self.link_type, 'unknown')}"
        )


@dataclass(frozen=True, slots=True)
class LinkNode(Writable):
    """A page with its node, in a dump of links (`LinkDumper.LinkNode`)."""

    url: str = ""
    node: Node = field(default_factory=Node)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_utf(), Node.read(data))

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_utf(self.url)
        self.node.write(out)


@dataclass(frozen=True, slots=True)
class LinkNodes(Writable):
    """The pages that link to one (`LinkDumper.LinkNodes`)."""

    links: tuple[LinkNode, ...] = ()

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it; Nutch writes nothing at all where there are none."""
        if not data.left:
            return cls()
        return cls(tuple([LinkNode.read(data) for _ in range(data.read_count(18))]))

    def write(self, out: DataOutput) -> None:
        """Write it."""
        if self.links:
            out.write_int(len(self.links))
            for link in self.links:
                link.write(out)


@dataclass(frozen=True, slots=True)
class LoopSet(Writable):
    """The pages that link round in a circle to one (`Loops.LoopSet`).

    Attributes:
        urls: They, each once.
        as_read: They stand in the order of a file, which is kept in writing.
    """

    urls: tuple[str, ...] = ()
    as_read: bool = field(default=False, compare=False)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        urls = [data.read_text() for _ in range(data.read_count())]
        return cls(tuple(dict.fromkeys(urls)), as_read=True)

    def write(self, out: DataOutput) -> None:
        """Write it."""
        once = dict.fromkeys(self.urls)
        urls = list(once) if self.as_read else hash_order(once, string_hash)
        out.write_int(len(urls))
        for url in urls:
            out.write_text(url)


@dataclass(frozen=True, slots=True)
class Route(Writable):
    """A way through the graph that may be a circle (`Loops.Route`)."""

    outlink_url: str = ""
    looking_for: str = ""
    found: bool = False

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls(data.read_text(), data.read_text(), data.read_boolean())

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_text(self.outlink_url)
        out.write_text(self.looking_for)
        out.write_boolean(self.found)
