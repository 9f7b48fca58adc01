"""Maps of typed keys and values: Hadoop's `MapWritable`.

Guarantee: what was read is written again byte for byte, in the order in which it lay; a map that
was made or changed here is written in the order in which Java's `HashMap` would have it. A value of
a class that is not known here is kept as bytes where it is the last thing of a record; elsewhere
its length cannot be known, which is an error that names the class.
Source: Hadoop `io.MapWritable`, `AbstractMapWritable`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from filbert.errors import UserError
from filbert.nutch import simple
from filbert.nutch.data import CorruptDataError, DataInput, DataOutput
from filbert.nutch.simple import Text
from filbert.nutch.v1 import names
from filbert.nutch.v1.java_hash import hash_code, hash_order
from filbert.nutch.v1.java_text import float_text
from filbert.nutch.v1.map_classes import ID_OF_NAME, NAME_OF_ID, Kind, numbering
from filbert.nutch.writable import Writable

if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, Mapping

__all__ = ["EMPTY", "MapWritable", "OpaqueWritable", "java_string", "unknown"]

_TEXT_ID = -116
_TEXT_BYTE = _TEXT_ID & 0xFF
_MOST_SHORT = 64  # bytes; up to 127 the length of a Text is one byte
_MOST_TEXTS = 4096
_TEXTS: dict[bytes, Text] = {}
"""Names and words that come again and again, by their bytes."""


@dataclass(frozen=True, slots=True)
class OpaqueWritable(Writable):
    """A value of a class that is not known here.

    Attributes:
        class_name: Java's name of it.
        data: Its bytes.
    """

    class_name: str
    data: bytes

    @classmethod
    def read(cls, data: DataInput) -> Self:  # noqa: ARG003 - the signature of all records
        """Refuse: without its class's name it cannot be read."""
        raise UserError("an OpaqueWritable is read by the map that holds it")

    def write(self, out: DataOutput) -> None:
        """Write the bytes."""
        out.write_bytes(self.data)


@dataclass(frozen=True, slots=True)
class MapWritable(Writable):
    """A map of Writables.

    Attributes:
        entries: Keys and values, in the order they were put in. Not to be changed.
        classes: Java's names of the classes that are not built in, in the order of their ids.
        as_read: The entries stand in the order of a file, which is kept in writing.
    """

    entries: Mapping[Writable, Writable] = field(default_factory=dict)
    classes: tuple[str, ...] = field(default=(), compare=False)
    as_read: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, values: Mapping[str, Writable | str]) -> Self:
        """Make a map of `Text` keys; strings become `Text`, too."""
        return cls(
            {
                Text(key): Text(value) if isinstance(value, str) else value
                for key, value in values.items()
            }
        )

    # ------------------------------------------------------------------ as a map

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self.entries)

    def __iter__(self) -> Iterator[Writable]:
        """Yield the keys in the order of `in_order`."""
        return iter(self.in_order())

    def __contains__(self, key: str | Writable) -> bool:
        """Say whether a key is there; a string is a `Text`."""
        return _key(key) in self.entries

    def get(self, key: str | Writable) -> Writable | None:
        """Return the value of a key, None if it is not there; a string is a `Text`."""
        return self.entries.get(_key(key))

    def items(self) -> ItemsView[Writable, Writable]:
        """Return keys and values, in the order of `in_order`."""
        return {key: self.entries[key] for key in self.in_order()}.items()

    def put(self, key: str | Writable, value: str | Writable) -> Self:
        """Return a map with one more entry, or another value."""
        entries = dict(self.entries)
        entries[_key(key)] = _key(value)
        return type(self)(entries, self.classes)

    def without(self, key: str | Writable) -> Self:
        """Return a map without a key."""
        gone = _key(key)
        entries = {one: value for one, value in self.entries.items() if one != gone}
        return type(self)(entries, self.classes)

    def in_order(self) -> list[Writable]:
        """Return the keys in the order in which they are written, and printed."""
        if self.as_read or len(self.entries) < 2:
            return list(self.entries)
        try:
            return hash_order(self.entries, hash_code)
        except KeyError:  # Java's hash of such a key is its place in memory
            return list(self.entries)

    # ------------------------------------------------------------------ as bytes

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        return cls.read_in(data)

    @classmethod
    def read_in(cls, data: DataInput, *, tail: bool = False) -> Self:
        """Read it.

        Args:
            data: Where it begins.
            tail: Nothing follows it, so that an unknown value at its end is the rest.

        Raises:
            CorruptDataError: It is none, or holds a value whose length cannot be known.
        """
        try:
            table = _class_table(data)
            entries = _read_entries(data, table, tail=tail)
        except RecursionError:
            raise CorruptDataError(f"maps lie too deep in each other at {data.position}") from None
        return cls(entries, table.names, as_read=True)

    def write(self, out: DataOutput) -> None:
        """Write it.

        Raises:
            UserError: It holds more than 127 classes that are not built in.
        """
        entries = self.entries
        kinds = dict.fromkeys(
            [_kind(one) for pair in entries.items() for one in pair if type(one) is not Text]
        )
        ids, header = numbering(self.classes, tuple(kinds))
        data = out.data
        data += header
        data += len(entries).to_bytes(4, "big")
        for key in self.in_order():
            for one in (key, entries[key]):
                if type(one) is Text:
                    data += _CODED.get(one.value) or _coded(one.value)
                else:
                    data.append(ids.get(type(one)) or ids[_kind(one)])
                    one.write(out)

    def __str__(self) -> str:
        """Return `AbstractMap.toString` of the entries."""
        shown = (f"{java_string(key)}={java_string(value)}" for key, value in self.items())
        return "{" + ", ".join(shown) + "}"


EMPTY = MapWritable()
"""The map without entries; maps are values, so one is enough."""

_BUILT_IN_IDS: dict[type[Writable], int] = {
    simple.BooleanWritable: -126,
    simple.BytesWritable: -125,
    simple.FloatWritable: -124,
    simple.IntWritable: -123,
    simple.LongWritable: -122,
    MapWritable: -121,
    simple.MD5Hash: -120,
    simple.NullWritable: -119,
    Text: _TEXT_ID,
    simple.VIntWritable: -114,
    simple.VLongWritable: -113,
}


def _key(key: str | Writable) -> Writable:
    return Text(key) if isinstance(key, str) else key


# ---------------------------------------------------------------------- writing

_CODED: dict[str, bytes] = {}


def _kind(one: Writable) -> Kind:
    """Return the class of a value; of one that is not known here, its Java name."""
    return one.class_name if isinstance(one, OpaqueWritable) else type(one)


def _coded(value: str) -> bytes:
    """Return a `Text` with its id before it."""
    out = DataOutput()
    out.write_byte(_TEXT_ID)
    out.write_text(value)
    coded = out.getvalue()
    if len(coded) <= _MOST_SHORT and len(_CODED) < _MOST_TEXTS:
        _CODED[value] = coded
    return coded


# ---------------------------------------------------------------------- reading


class _Table(dict[int, "Callable[[DataInput], Writable]"]):
    """What reads a value of each class id; `names` are the classes that are not built in."""

    def __init__(self, own: tuple[str, ...]) -> None:
        super().__init__({number: known.read for known, number in _BUILT_IN_IDS.items()})
        self.names = own
        for number, name in enumerate(own, 1):
            known = names.record_class(name)
            if known is not None:
                self[number] = known.read

    def name(self, number: int) -> str:
        """Return Java's name of an id, for errors and unknown values."""
        if 0 < number <= len(self.names):
            return self.names[number - 1]
        if number in NAME_OF_ID:
            return NAME_OF_ID[number]
        raise CorruptDataError(f"a map has a value of class id {number}, which it does not name")


_PLAIN = _Table(())
_TABLES: dict[bytes, _Table] = {}
_FIXED: dict[int, tuple[struct.Struct, Callable[[float], Writable]]] = {
    -124 & 0xFF: (struct.Struct(">f"), simple.FloatWritable),
    -123 & 0xFF: (struct.Struct(">i"), simple.IntWritable),  # type: ignore[dict-item]
    -122 & 0xFF: (struct.Struct(">q"), simple.LongWritable),  # type: ignore[dict-item]
}
"""Numbers by the byte of their id: they are read at once."""
_MOST_TABLES = 1024


def _class_table(data: DataInput) -> _Table:
    """Read the classes that are not built in; return what reads values."""
    start = data.position
    count = data.read_byte()
    if count == 0:
        return _PLAIN
    if count < 0:
        raise CorruptDataError(f"a map of {count} classes at byte {start} cannot be")
    for _ in range(count):
        at = data.take(3)
        data.take(data.data[at + 1] << 8 | data.data[at + 2])
    header = data.data[start : data.position]
    found = _TABLES.get(header)
    if found is None:
        found = _Table(_own_classes(DataInput(header, 1), count, start))
        if len(_TABLES) < _MOST_TABLES:
            _TABLES[header] = found
    return found


def _own_classes(data: DataInput, count: int, start: int) -> tuple[str, ...]:
    own = {}
    for _ in range(count):
        number = data.read_byte()
        own[number] = data.read_utf()
    if sorted(own) != list(range(1, count + 1)) or not ID_OF_NAME.keys().isdisjoint(own.values()):
        raise CorruptDataError(f"a map at byte {start} has classes of the ids {list(own)}")
    return tuple(own[number] for number in sorted(own))


def _read_entries(data: DataInput, table: _Table, *, tail: bool) -> dict[Writable, Writable]:
    entries: dict[Writable, Writable] = {}
    left = 2 * data.read_count(2)  # keys and values in turn
    raw, end, at = data.data, data.end, data.position
    key: Writable | None = None
    while left:
        left -= 1
        one: Writable | None = None
        if at + 2 <= end and raw[at] == _TEXT_BYTE:
            stop = at + 2 + raw[at + 1]
            if stop <= end:
                one = _TEXTS.get(raw[at + 2 : stop])
                at = stop if one is not None else at
        if one is None:
            data.position = at
            one = _short_text(data) or _read_value(data, table, last=tail and not left)
            at = data.position
        if key is None:
            key = one
        else:
            try:
                entries[key] = one
            except TypeError:
                raise CorruptDataError(
                    f"a {names.java_name(key)} before byte {at} cannot be a key"
                ) from None
            key = None
    data.position = at
    return entries


def _short_text(data: DataInput) -> Text | None:
    """Read the id and the bytes of a short `Text`, if there is one, and note it."""
    at, raw = data.position, data.data
    start = at + 2
    if start > data.end or raw[at] != _TEXT_BYTE:
        return None
    end = start + raw[at + 1]
    if end > data.end or end - start > _MOST_SHORT:
        return None
    coded = raw[start:end]
    data.position = end
    found = Text(coded.decode("utf-8", "surrogateescape"))
    if len(_TEXTS) < _MOST_TEXTS:
        _TEXTS[coded] = found
    return found


def _read_value(data: DataInput, table: _Table, *, last: bool) -> Writable:
    at = data.take(1)
    byte = data.data[at]
    fixed = _FIXED.get(byte)
    if fixed is not None:
        layout, kind = fixed
        return kind(layout.unpack_from(data.data, data.take(layout.size))[0])
    number = byte - 256 if byte > 127 else byte
    reader = table.get(number)
    return unknown(data, table.name(number), last=last) if reader is None else reader(data)


def unknown(data: DataInput, name: str, *, last: bool) -> OpaqueWritable:
    """Read the rest as a value of a class that is not known here.

    Raises:
        CorruptDataError: It is not the last thing of a record.
    """
    if not last:
        raise CorruptDataError(
            f"a value of the class {name} at byte {data.position} cannot be read",
            hint="the class is not known here, so that its length is not known either",
        )
    return OpaqueWritable(name, data.read_bytes(data.left))


# ---------------------------------------------------------------------- as Java has it


def java_string(value: Writable) -> str:
    """Return Java's `toString` of a value."""
    if isinstance(value, Text):
        return value.value
    if isinstance(value, simple.FloatWritable):
        return float_text(value.value)
    return str(value)
