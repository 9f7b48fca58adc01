"""Typed values of Nutch's metadata as text and class name, and back.

Guarantee: lossless. What has no text that can be read back is written as `hex:` and its bytes; a
map that cannot be told name by name (a key that is no `Text`, text that is no UTF-8) is kept whole
under one name. Text itself needs no class name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from filbert.nutch import simple
from filbert.nutch.data import CorruptDataError, DataInput
from filbert.nutch.simple import Text
from filbert.nutch.v1 import names
from filbert.nutch.v1.map_writable import EMPTY, MapWritable, OpaqueWritable
from filbert.nutch.v1.statuses import PROTOCOL_STATUS_NAMES, ProtocolStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from filbert.nutch.writable import Writable

__all__ = ["WHOLE", "from_text", "map_of", "text_of", "texts_of"]

WHOLE: Final = "nutch.metadata"
"""The name under which a map is kept that cannot be told name by name."""

_HEX = "hex:"
_MAP = "org.apache.hadoop.io.MapWritable"
_WHOLE_NUMBERS = (
    simple.ByteWritable,
    simple.ShortWritable,
    simple.IntWritable,
    simple.LongWritable,
    simple.VIntWritable,
    simple.VLongWritable,
)
_READERS: dict[Any, Callable[[str], Any]] = {
    Text: str,
    simple.UTF8: str,
    **dict.fromkeys(_WHOLE_NUMBERS, int),
    simple.FloatWritable: float,
    simple.DoubleWritable: float,
    simple.BooleanWritable: "true".__eq__,
    simple.MD5Hash: bytes.fromhex,
}
_STATUS = re.compile(r"(\w+)\((-?\d+)\), lastModified=(-?\d+)(?:: (.*))?", re.DOTALL)


def texts_of(values: MapWritable) -> tuple[dict[str, str], dict[str, str]]:
    """Return a map as texts by name, and the Java classes of those that are no `Text`."""
    texts: dict[str, str] = {}
    types: dict[str, str] = {}
    for key, value in values.items():
        if not isinstance(key, Text) or not _is_sayable(key.value):
            return {WHOLE: _HEX + values.to_bytes().hex()}, {WHOLE: _MAP}
        texts[key.value] = text_of(value)
        if not isinstance(value, Text) or not _is_sayable(value.value):
            types[key.value] = names.java_name(value)
    return texts, types


def map_of(texts: Mapping[str, str], types: Mapping[str, str] | None) -> MapWritable:
    """Return the map of texts and classes.

    Raises:
        CorruptDataError: A text is none of its class.
    """
    if not texts:
        return EMPTY
    types = types or {}
    if set(texts) == {WHOLE} and types.get(WHOLE) == _MAP:
        return MapWritable.from_bytes(_bytes(texts[WHOLE]))
    return MapWritable.of(
        {
            name: from_text(text, types[name]) if name in types else text
            for name, text in texts.items()
        }
    )


def text_of(value: Writable) -> str:
    """Return a value as a text that `from_text` reads back."""
    if isinstance(value, (Text, simple.UTF8)) and _is_sayable(value.value):
        return value.value
    if isinstance(value, (*_WHOLE_NUMBERS, simple.BooleanWritable, simple.MD5Hash)):
        return str(value)
    if isinstance(value, (simple.FloatWritable, simple.DoubleWritable)):
        return repr(value.value)
    if isinstance(value, ProtocolStatus) and _status(str(value)) == value:
        return str(value)
    return _HEX + value.to_bytes().hex()


def from_text(text: str, name: str) -> Writable:
    """Return the value of a text.

    Args:
        text: What `text_of` gave.
        name: Java's name of its class.

    Raises:
        CorruptDataError: The text is none of that class.
    """
    cls = names.record_class(name)
    try:
        if text.startswith(_HEX):
            data = _bytes(text)
            return OpaqueWritable(name, data) if cls is None else cls.read(DataInput(data))
        if cls in _READERS:
            return cls(_READERS[cls](text))  # type: ignore[call-arg, misc]  # one field each
    except ValueError as error:
        raise CorruptDataError(f"{text!r} is no {name}: {error}") from None
    status = _status(text) if cls is ProtocolStatus else None
    if status is None:
        raise CorruptDataError(f"{text!r} is no {name}")
    return status


def _status(text: str) -> ProtocolStatus | None:
    match = _STATUS.fullmatch(text)
    if match is None or PROTOCOL_STATUS_NAMES.get(int(match[2])) != match[1]:
        return None
    args = None if match[4] is None else (match[4],)
    return ProtocolStatus(int(match[2]), int(match[3]), args)


def _is_sayable(text: str) -> bool:
    """Say whether UTF-8 can say it; bytes that were no UTF-8 it cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text.removeprefix(_HEX))
    except ValueError as error:
        raise CorruptDataError(f"{text[:40]!r} is no {_HEX} and bytes: {error}") from None
