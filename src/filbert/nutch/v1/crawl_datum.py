"""What a crawl knows of one URL: `CrawlDatum`, versions 1 to 7 read, 7 written.

Guarantee: reading and writing again gives the same bytes (of version 7). A status of before
version 5 is renumbered. All times are ms since 1970, intervals seconds.
Source: Nutch 1.22 `crawl.CrawlDatum`; 0.8 and 0.9 for the older versions.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, Self

from filbert.errors import UserError
from filbert.nutch.data import CorruptDataError, DataInput, DataOutput
from filbert.nutch.v1.java_text import date_text, float_text, whole_division
from filbert.nutch.v1.map_writable import EMPTY, MapWritable, java_string
from filbert.nutch.v1.old_map import read_old_map
from filbert.nutch.writable import VersionMismatchError, Writable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "FETCH_DIR_NAME",
    "GENERATE_DIR_NAME",
    "PARSE_DIR_NAME",
    "STATUS_NAMES",
    "CrawlDatum",
    "Status",
    "status_name",
]

GENERATE_DIR_NAME: Final = "crawl_generate"
FETCH_DIR_NAME: Final = "crawl_fetch"
PARSE_DIR_NAME: Final = "crawl_parse"

VERSION: Final = 7
SECONDS_PER_DAY: Final = 86_400
_FIRST_INT_INTERVAL, _FIRST_NEW_STATUS, _FIRST_METADATA, _FIRST_SIGNATURE = 6, 5, 4, 3
_FIRST_SCORE = 1


class Status(IntEnum):
    """What a record says of its URL. Up to 31: in a crawldb; from 32 to 63: in a fetch."""

    DB_UNFETCHED = 0x01
    DB_FETCHED = 0x02
    DB_GONE = 0x03
    DB_REDIR_TEMP = 0x04
    DB_REDIR_PERM = 0x05
    DB_NOTMODIFIED = 0x06
    DB_DUPLICATE = 0x07
    DB_ORPHAN = 0x08
    DB_PARSE_FAILED = 0x09
    FETCH_SUCCESS = 0x21
    FETCH_RETRY = 0x22
    FETCH_REDIR_TEMP = 0x23
    FETCH_REDIR_PERM = 0x24
    FETCH_GONE = 0x25
    FETCH_NOTMODIFIED = 0x26
    SIGNATURE = 0x41
    INJECTED = 0x42
    LINKED = 0x43
    PARSE_METADATA = 0x44
    PARSE_FAILED = 0x45


DB_MAX: Final = 0x1F
FETCH_MAX: Final = 0x3F
STATUS_NAMES: Final = {status.value: status.name.lower() for status in Status}
_OF_OLD = {
    0: Status.SIGNATURE,
    1: Status.DB_UNFETCHED,
    2: Status.DB_FETCHED,
    3: Status.DB_GONE,
    4: Status.LINKED,
    5: Status.FETCH_SUCCESS,
    6: Status.FETCH_RETRY,
    7: Status.FETCH_GONE,
}
"""`CrawlDatum.oldToNew`: statuses before version 5."""


def status_name(status: int) -> str:
    """Return the name of a status, `unknown` for one that is none."""
    return STATUS_NAMES.get(status, "unknown")


_HEAD = struct.Struct(">bbqbifqb")
_SHORTEST = _HEAD.size + 1
_NO_METADATA, _METADATA = b"\0", b"\1"
_MAPS: dict[bytes, MapWritable] = {_NO_METADATA: EMPTY}
"""Metadata by their bytes: those of a crawldb say one of a few things of most pages."""
_MOST_MAPS, _MOST_PACKED = 8192, 512


@dataclass(frozen=True, slots=True)
class CrawlDatum(Writable):
    """One record of a crawldb, a fetch list, a fetch or a parse.

    Attributes:
        status: A `Status`, or another byte.
        fetch_time: When it was, or will be, fetched.
        retries: Failed fetches since the last good one; wraps at 127.
        fetch_interval: Seconds from one fetch to the next.
        score: A number of 32 bits.
        modified_time: When the page changed; 0: unknown.
        signature: Of the content; None: unknown. At most 127 bytes.
        metadata: What else is known.
    """

    status: int = 0
    fetch_time: int = 0
    retries: int = 0
    fetch_interval: int = 0
    score: float = 1.0
    modified_time: int = 0
    signature: bytes | None = None
    metadata: MapWritable = EMPTY

    @classmethod
    def from_bytes(cls, data: bytes, position: int = 0) -> Self:
        """Read a record from bytes."""
        if len(data) - position < _SHORTEST or data[position] != VERSION:
            return cls._read_of_old(DataInput(data, position))
        _, status, fetch_time, retries, interval, score, modified, length = _HEAD.unpack_from(
            data, position
        )
        position += _HEAD.size
        signature = None
        if length:
            rest = DataInput(data, position)
            signature = _signature(rest, length)
            position = rest.position
        packed = data[position:]
        metadata = _MAPS.get(packed)
        if metadata is None:
            metadata = _read_metadata(DataInput(data, position))
            if len(packed) <= _MOST_PACKED and len(_MAPS) < _MOST_MAPS:
                _MAPS[packed] = metadata
        return cls(status, fetch_time, retries, interval, score, modified, signature, metadata)

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it. It is the last thing in `data`, for a value that is not known here."""
        if data.left < _SHORTEST or data.data[data.position] != VERSION:
            return cls._read_of_old(data)
        _, status, fetch_time, retries, interval, score, modified, length = _HEAD.unpack_from(
            data.data, data.take(_HEAD.size)
        )
        signature = _signature(data, length) if length else None
        metadata = _read_metadata(data)
        return cls(status, fetch_time, retries, interval, score, modified, signature, metadata)

    @classmethod
    def _read_of_old(cls, data: DataInput) -> Self:
        """Read any version, field after field."""
        version = data.read_byte()
        if not _FIRST_SCORE <= version <= VERSION:
            raise VersionMismatchError(VERSION, version)
        status = data.read_byte()
        fetch_time, retries = data.read_long(), data.read_byte()
        if version >= _FIRST_INT_INTERVAL:
            interval = data.read_int()
        else:
            interval = _rounded(data.read_float())
        score = data.read_float()
        modified, signature = 0, None
        if version >= _FIRST_SIGNATURE:
            modified, length = data.read_long(), data.read_byte()
            signature = _signature(data, length) if length else None
        metadata = EMPTY
        if version >= _FIRST_METADATA and data.read_boolean():
            metadata = read_old_map(data, tail=True)
        if version < _FIRST_NEW_STATUS:
            status = _OF_OLD.get(status, Status.DB_UNFETCHED)
        return cls(status, fetch_time, retries, interval, score, modified, signature, metadata)

    def write(self, out: DataOutput) -> None:
        """Write version 7.

        Raises:
            UserError: A field is beyond its range, or the signature longer than 127 bytes.
        """
        signature = self.signature or b""
        try:
            out.data += _HEAD.pack(
                VERSION,
                self.status,
                self.fetch_time,
                self.retries,
                self.fetch_interval,
                self.score,
                self.modified_time,
                len(signature),
            )
        except (struct.error, OverflowError) as error:
            raise UserError(f"a CrawlDatum cannot be written: {error}") from None
        out.data += signature
        if self.metadata.entries:
            out.data += _METADATA
            self.metadata.write(out)
        else:
            out.data += _NO_METADATA

    @property
    def status_name(self) -> str:
        """The status in words."""
        return status_name(self.status)

    @property
    def has_db_status(self) -> bool:
        """It says what a crawldb knows."""
        return self.status <= DB_MAX

    @property
    def has_fetch_status(self) -> bool:
        """It says what a fetch, or a parse in it, came to."""
        return DB_MAX < self.status <= FETCH_MAX or self.status == Status.PARSE_FAILED

    @property
    def interval_days(self) -> int:
        """Whole days of the interval, as the readers print them."""
        return whole_division(self.fetch_interval, SECONDS_PER_DAY)

    def sort_key(self) -> tuple[float | int | bytes, ...]:
        """Return what puts records in Nutch's order: highest score first, and so on."""
        return (
            -self.score,
            self.status,
            -self.fetch_time,
            -self.retries,
            -self.fetch_interval,
            -self.modified_time,
            self.signature or b"",
        )

    def __str__(self) -> str:
        """Return Nutch's text of it, ten lines or more."""
        return (
            f"Version: {VERSION}\n"
            f"Status: {self.status} ({self.status_name})\n"
            f"Fetch time: {date_text(self.fetch_time)}\n"
            f"Modified time: {date_text(self.modified_time)}\n"
            f"Retries since fetch: {self.retries}\n"
            f"Retry interval: {self.fetch_interval} seconds ({self.interval_days} days)\n"
            f"Score: {float_text(self.score)}\n"
            f"Signature: {_hex(self.signature)}\n"
            f"Metadata: \n {self._metadata_text(java_string)}"
        )

    def _metadata_text(self, text: Callable[[Writable], str]) -> str:
        return "".join(f"\t{text(key)}={text(value)}\n" for key, value in self.metadata.items())


def _read_metadata(data: DataInput) -> MapWritable:
    return MapWritable.read_in(data, tail=True) if data.read_boolean() else EMPTY


def _signature(data: DataInput, length: int) -> bytes:
    if length < 0:
        raise CorruptDataError(f"a signature of {length} bytes before byte {data.position}")
    return data.read_bytes(length)


def _rounded(value: float) -> int:
    """Return `Math.round` of a number of 32 bits."""
    if value != value:  # noqa: PLR0124 - not a number
        return 0
    if abs(value) >= 0x8000_0000:
        return 0x7FFF_FFFF if value > 0 else -0x8000_0000
    return int((value + 0.5) // 1)


def _hex(signature: bytes | None) -> str:
    return "null" if signature is None else signature.hex()
