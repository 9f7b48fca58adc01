"""What a fetch that has not ended has done, read from its journals.

Guarantee: only reads, and only segments that are being fetched: what is sealed stands in tables.
A frame that does not name what is asked for is not unpacked, so that a look costs about as much
as reading the file.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from filbert.store.frames import HostMemory, decode_rows, is_capture
from filbert.store.journal import read_packed, unpacked
from filbert.store.segments import SegmentState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from filbert.store.segments import Segment

__all__ = ["Unsealed", "captures_of", "look_up"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsealed:
    """What journals say of one URL.

    Attributes:
        captures: Captures and failures of any URL, by the name of a segment being fetched.
        rows: Rows of crawl_fetch that name the URL, each with its `segment`.
        hosts: Rows of hostdb, the newest of each host looked for.
    """

    captures: Mapping[str, int] = field(default_factory=dict)
    rows: tuple[dict[str, Any], ...] = ()
    hosts: Mapping[str, dict[str, Any]] = field(default_factory=dict)


def captures_of(segment: Segment) -> int | None:
    """Return how many captures and failures a fetch has so far; None: it is not under way."""
    if segment.state is not SegmentState.FETCHING:
        return None
    return sum(is_capture(packed) for packed in _packed(segment))


def look_up(segments: Iterable[Segment], url: str, hosts: Iterable[str]) -> Unsealed:
    """Return what the journals say of `url`, and of `hosts` (keys of hostdb).

    Raises:
        DataError: A frame is whole but of another version of filbert.
    """
    memory, asked = HostMemory(), [host for host in hosts if host]
    counts: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    for segment in segments:
        if segment.state is not SegmentState.FETCHING:
            continue
        counts[segment.name] = 0
        for packed in _packed(segment):
            capture = is_capture(packed)
            counts[segment.name] += capture
            if not any(name.encode() in packed for name in ([url] if capture else asked)):
                continue
            row, _ = decode_rows(unpacked(packed) or [], memory)
            if row is not None and url in {row["url"], row["redirect_url"]}:
                rows.append({**row, "segment": segment.name})
    known = {host: asdict(memory.states[host]) for host in asked if host in memory.states}
    return Unsealed(captures=counts, rows=tuple(rows), hosts=known)


def _packed(segment: Segment) -> Iterator[bytes]:
    for path in sorted(segment.journal_dir.glob("*.journal")):
        yield from read_packed(path)
