"""Names with several values each: `Metadata`.

Guarantee: what was read is written again byte for byte; what was made or changed here has its names
in the order of Java's `HashMap`.
Source: Nutch 1.22 `metadata.Metadata`; 0.8 and 0.9 (strings as `UTF8`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from filbert.nutch.v1.java_hash import hash_order, string_hash
from filbert.nutch.writable import Writable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["Metadata"]


@dataclass(frozen=True, slots=True)
class Metadata(Writable):
    """Names and values.

    Attributes:
        values: The values of each name, in the order the names were put in. Not to be changed.
        as_read: The names stand in the order of a file, which is kept in writing.
    """

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    as_read: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, values: Mapping[str, str | tuple[str, ...]]) -> Self:
        """Make it of names and values; one value need not be a tuple."""
        return cls({name: (one,) if isinstance(one, str) else one for name, one in values.items()})

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls._read(data, data.read_text)

    @classmethod
    def read_of_old(cls, data: DataInput) -> Self:
        """Read that of Nutch 0.8 and 0.9."""
        return cls._read(data, data.read_utf)

    @classmethod
    def _read(cls, data: DataInput, string: Callable[[], str]) -> Self:
        values: dict[str, tuple[str, ...]] = {}
        for _ in range(data.read_count(5)):
            name = string()
            several = tuple([string() for _ in range(data.read_count())])
            values[name] = values.get(name, ()) + several
        return cls(values, as_read=True)

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_int(len(self.values))
        for name in self.names():
            several = self.values[name]
            out.write_text(name)
            out.write_int(len(several))
            for value in several:
                out.write_text(value)

    def names(self) -> list[str]:
        """Return the names in the order in which they are written, and printed."""
        return list(self.values) if self.as_read else hash_order(self.values, string_hash)

    def get(self, name: str) -> str | None:
        """Return the first value of a name; None if it has none."""
        return next(iter(self.values.get(name, ())), None)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield each name with each of its values."""
        for name in self.names():
            for value in self.values[name]:
                yield name, value

    def with_values(self, name: str, *several: str) -> Self:
        """Return it with other values of a name; without any, the name is gone."""
        values = {one: found for one, found in self.values.items() if one != name or several}
        if several:
            values[name] = several
        return type(self)(values)

    def __str__(self) -> str:
        """Return Nutch's text of it."""
        return " ".join(f"{name}={value}" for name, value in self.pairs())
