"""The head of a SequenceFile: what the file says of itself.

Guarantee: no more of the file is read than the header needs, and at most 16 MiB.
Source: Nutch 0.7 `io.SequenceFile` (versions 0 to 2); Hadoop `io.SequenceFile.Reader` (3 to 6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from filbert.nutch.data import CorruptDataError, DataInput, EndOfDataError
from filbert.nutch.writable import VersionMismatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["ESCAPE", "NEWEST", "SYNC_BYTES", "TEXT_NAMES_SINCE", "Header", "read_header"]

NEWEST = 6
SYNC_BYTES = 16
ESCAPE = -1
TEXT_NAMES_SINCE = 4

_MAGIC = b"SEQ"
_START = len(_MAGIC) + 1
_USUAL, _MOST = 1 << 12, 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a file says of itself.

    Attributes:
        version: 0 to 6.
        key_class, value_class: Java's names, or the aliases of the old Nutch.
        compressed: Values are packed.
        block: Many records are packed together.
        codec: Hadoop's class; blank where nothing is packed.
        metadata: What its writer noted, in order.
        sync: The 16 bytes of its sync marks; none before version 2.
        length: Bytes of the header.
    """

    version: int
    key_class: str
    value_class: str
    compressed: bool = False
    block: bool = False
    codec: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    sync: bytes = b""
    length: int = 0


def read_header(first: Callable[[int], bytes], name: str, newest: int = NEWEST) -> Header:
    """Read a header.

    Args:
        first: Returns so many of the first bytes of the file, or fewer if it has not so many.
        name: The file, for what goes wrong.
        newest: The newest version that is taken.

    Raises:
        CorruptDataError: It is none, or is cut short.
        VersionMismatchError: It is of a newer version.
    """
    start = first(_START)
    if start[: len(_MAGIC)] != _MAGIC or len(start) < _START:
        raise CorruptDataError(f"{name} not a SequenceFile")
    version = start[-1]
    if version > newest:
        raise VersionMismatchError(newest, version)
    size = _USUAL
    while True:
        data = first(size)
        try:
            return _header(DataInput(data, _START), version)
        except EndOfDataError:
            if len(data) < size or size >= _MOST:
                raise
            size *= 16


def _header(data: DataInput, version: int) -> Header:
    read_name = data.read_text if version >= TEXT_NAMES_SINCE else data.read_utf
    key_class, value_class = read_name(), read_name()
    compressed = version > 2 and data.read_boolean()
    block = version >= 4 and data.read_boolean()
    codec = "default" if compressed else ""
    if compressed and version >= 5:
        codec = data.read_text()
    metadata = {}
    if version >= NEWEST:
        at, count = data.position, data.read_int()
        if count < 0:
            raise CorruptDataError(f"{count} pairs of metadata at byte {at} cannot be")
        for _ in range(count):
            pair = data.read_text(), data.read_text()
            metadata[pair[0]] = pair[1]
    sync = data.read_bytes(SYNC_BYTES) if version > 1 else b""
    return Header(
        version=version,
        key_class=key_class,
        value_class=value_class,
        compressed=compressed,
        block=block and compressed,
        codec=codec,
        metadata=metadata,
        sync=sync,
        length=data.position,
    )
