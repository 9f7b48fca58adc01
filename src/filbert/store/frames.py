"""What the frames of a fetch journal say, to and from MessagePack values.

A frame is a list whose first element is its kind: 1, a capture or failure (the row of
crawl_fetch, and the crawl_parse rows that come from it); 2, the state of a host; 3, a record that
stands in a WARC file and has no row (a robots.txt). Guarantee:
`decode_frame(encode_…(x))` is x. A robots body is written once as long as it does not change: a
`HostMemory` on each side remembers it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from filbert.errors import DataError
from filbert.model.hosts import HostState
from filbert.model.records import CrawlDatum, FetchRecord
from filbert.model.statuses import FetchStatus, ProtocolStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "Bitmap",
    "CaptureFrame",
    "HostMemory",
    "KeptFrame",
    "Place",
    "decode_frame",
    "decode_rows",
    "encode_capture",
    "encode_kept",
    "is_capture",
]

Place = tuple[str, int, int]
"""WARC file, offset and length."""

_CAPTURE = 1
_HOST = 2
_KEPT = 3

_RECORD_FIELDS = tuple(field.name for field in fields(FetchRecord) if field.name != "datum")
_DATUM_FIELDS = tuple(field.name for field in fields(CrawlDatum))
_HOST_FIELDS = tuple(field.name for field in fields(HostState) if field.name != "robots_body")
_record_values = attrgetter(*_RECORD_FIELDS)
assert _RECORD_FIELDS[-3:] == ("warc_file", "warc_offset", "warc_length")
_datum_values = attrgetter(*_DATUM_FIELDS)
_host_values = attrgetter(*_HOST_FIELDS)
_SAME_BODY = True


@dataclass(frozen=True, slots=True)
class CaptureFrame:
    """One row of crawl_fetch, and the rows of crawl_parse that come from it."""

    record: FetchRecord
    links: tuple[Mapping[str, object], ...]

    @property
    def place(self) -> Place | None:
        """WARC file, offset and length; None if nothing was kept."""
        record = self.record
        if record.warc_file is None:
            return None
        return record.warc_file, record.warc_offset or 0, record.warc_length or 0


@dataclass(frozen=True, slots=True)
class KeptFrame:
    """A record that stands in a WARC file and has no row of crawl_fetch."""

    place: Place


class Bitmap:
    """A set of small non-negative integers: one bit each."""

    def __init__(self) -> None:
        self._bits = bytearray()
        self._count = 0

    def add(self, number: int) -> None:
        """Put `number` into the set."""
        index = number >> 3
        if index >= len(self._bits):
            self._bits.extend(bytes(max(1024, index + 1 - len(self._bits))))
        bit = 1 << (number & 7)
        self._count += not self._bits[index] & bit
        self._bits[index] |= bit

    def __contains__(self, number: int) -> bool:
        index = number >> 3
        return index < len(self._bits) and bool(self._bits[index] & (1 << (number & 7)))

    def __len__(self) -> int:
        return self._count


class HostMemory:
    """The last state of each host, and so the robots bodies that need no second writing."""

    def __init__(self) -> None:
        self.states: dict[str, HostState] = {}

    def keep(self, state: HostState) -> None:
        """Remember a state that was written or read."""
        self.states[state.host] = state

    def encode(self, state: HostState) -> list[object]:
        """Return the frame of a state."""
        before = self.states.get(state.host)
        body: object = state.robots_body
        if before is not None and body is not None and body == before.robots_body:
            body = _SAME_BODY
        return [_HOST, _host_values(state), body]

    def decode(self, payload: Sequence[Any]) -> HostState:
        """Return the state that a frame holds, and remember it."""
        values = dict(zip(_HOST_FIELDS, payload[1], strict=True))
        body = payload[2]
        if body is _SAME_BODY:
            body = self.states[values["host"]].robots_body
        state = HostState(**values, robots_body=body)
        self.keep(state)
        return state


def encode_capture(
    record: FetchRecord,
    links: Sequence[Mapping[str, object]],
    place: Place | None = None,
) -> list[object]:
    """Return the frame of a capture or failure; `place`: WARC file, offset and length."""
    values = _record_values(record)
    if place is not None:
        values = values[: -len(place)] + place
    return [_CAPTURE, values, _datum_values(record.datum), list(links)]


def encode_kept(place: Place) -> list[object]:
    """Return the frame of a record that has no row."""
    return [_KEPT, *place]


def decode_frame(
    payload: Sequence[Any], memory: HostMemory
) -> CaptureFrame | HostState | KeptFrame:
    """Return what a frame says.

    Raises:
        DataError: The frame is whole but of another version of filbert.
    """
    try:
        if payload[0] == _KEPT:
            _, name, offset, length = payload
            return KeptFrame((name, offset, length))
        return memory.decode(payload) if payload[0] == _HOST else _decode_capture(payload)
    except _FOREIGN as error:
        raise _unreadable(error) from error


def decode_rows(
    payload: Sequence[Any], memory: HostMemory
) -> tuple[dict[str, Any] | None, list[dict[str, object]]]:
    """Return the rows of crawl_fetch and crawl_parse in a frame, without making records of them.

    The first is None for a host state, which `memory` then holds, and for what has no row.

    Raises:
        DataError: The frame is whole but of another version of filbert.
    """
    try:
        if payload[0] == _HOST:
            memory.decode(payload)
        if payload[0] in {_HOST, _KEPT}:
            return None, []
        values, datum, links = _capture_values(payload)
    except _FOREIGN as error:
        raise _unreadable(error) from error
    return values | datum, links


def is_capture(packed: bytes) -> bool:
    """Tell by its first bytes whether a packed frame is a capture or failure."""
    return packed[1] == _CAPTURE  # behind the head of a list of four


_FOREIGN = (TypeError, ValueError, KeyError, IndexError)


def _unreadable(error: Exception) -> DataError:
    return DataError(
        f"a frame of the fetch journal cannot be read: {error}",
        hint="Another version of filbert wrote it; finish the fetch with that version.",
    )


def _decode_capture(payload: Sequence[Any]) -> CaptureFrame:
    values, datum, links = _capture_values(payload)
    values["status"] = FetchStatus(values["status"])
    values["protocol_code"] = ProtocolStatus(values["protocol_code"])
    values["datum"] = CrawlDatum(**datum)
    return CaptureFrame(FetchRecord(**values), tuple(links))


def _capture_values(
    payload: Sequence[Any],
) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, object]]]:
    kind, record, datum, links = payload
    if kind != _CAPTURE:
        raise ValueError(f"unknown kind {kind!r}")
    values = dict(zip(_RECORD_FIELDS, record, strict=True))
    return values, dict(zip(_DATUM_FIELDS, datum, strict=True)), links
