"""The warc protocol: answers every request from an archive; no host is asked, no socket opened.

Guarantees: the same archive and the same fetch list give the same answers in the same order.
Redirects, errors and robots.txt are as archived. A URL that the archive does not hold is an answer
that says so (`not_in_archive`). Nothing is asked of a host, so nothing is owed to one: no delay,
no back-off, and the hostdb neither is read nor learns anything.
Source: docs/decisions/0015-replays.md; ISO 28500:2017 section 6.7 (revisit).
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from filbert.errors import DataError
from filbert.model.clock import date_ms, iso
from filbert.model.records import ArchivedCapture, ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.heads import header_pairs, split_head, status_line
from filbert.plugins.protocols.lenient import dechunk
from filbert.plugins.protocols.reply import Received, output_of
from filbert.rules.archive import archive_key
from filbert.store.archive import Archive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.fetcher.workers import Captures
    from filbert.model.hosts import HostState
    from filbert.model.records import FetchRecord, FetchRequest, RobotsRequest
    from filbert.settings import Settings
    from filbert.store.archive import Found
    from filbert.store.warc_files import WarcRecord

__all__ = ["HostlessCaptures", "ReplayProtocol", "replaying"]

_UNLIMITED = 1 << 40
_CHUNK_FRAMES = 1 << 20  # room for heads and for the frames of chunks, beside the body itself
_WITH_ROBOTS = frozenset({"http", "https", "ftp"})
_WITHOUT_ROBOTS = frozenset({"file"})
# What stands for a robots.txt that the archive does not hold, by `replay.robots_missing`.
_ROBOTS = {
    "allow": ProtocolOutput(status=ProtocolStatus.NOTFOUND, http_status=404),
    "forbid": ProtocolOutput(
        status=ProtocolStatus.SUCCESS,
        http_status=200,
        body=b"# replay.robots_missing\nUser-agent: *\nDisallow: /\n",
    ),
}


class ReplayProtocol:
    """Answers from an archive. An async context manager.

    Args:
        settings: Of `replay`, and the limits of a body.
        index: Where the archive's index lies.
        robots: Whether its schemes have a robots.txt.
    """

    name = "warc"

    def __init__(self, settings: Settings, index: Path, *, robots: bool = True) -> None:
        self.robots = robots
        self.schemes = _WITH_ROBOTS if robots else _WITHOUT_ROBOTS
        self._index = index
        self._replay = settings.replay
        self._at = date_ms(settings.replay.at) if settings.replay.at else None
        self._limit = settings.http.content_limit
        self._keep_partial = settings.http.partial_truncated
        self._archive: Archive | None = None
        self._reader = ThreadPoolExecutor(1, "archive")  # one: answers come in the order asked

    async def __aenter__(self) -> Self:
        """Open the archive."""
        self._archive = Archive(self._index)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close it."""
        self._reader.shutdown()
        if self._archive is not None:
            self._archive.__exit__(*exc)
        self._archive = None

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        """Look a URL up; the answer is what was captured."""
        return await asyncio.get_running_loop().run_in_executor(self._reader, self._answer, request)

    def _answer(self, request: FetchRequest) -> ProtocolOutput:
        keys = [archive_key(request.url)]
        if request.raw_url is not None:
            keys.insert(0, archive_key(request.raw_url.decode("utf-8", "replace")))
        assert self._archive is not None, "used outside its context"
        for key in keys:
            found = self._archive.find(key, self._at)
            if found is not None:
                return self._captured(found, request)
        return self._missing(keys, request)

    def _captured(self, found: Found, request: FetchRequest) -> ProtocolOutput:
        limit = self._limit if request.content_limit is None else request.content_limit
        limit = limit if limit >= 0 else _UNLIMITED
        archived = ArchivedCapture(date_ms=found.date_ms or None, record_id=found.record_id)
        try:
            output = self._output(found, limit)
        except DataError as error:
            message = f"archive_unreadable: {error.message}"
            output = ProtocolOutput(status=ProtocolStatus.WOULDBLOCK, message=message)
        return replace(output, archived=archived)

    def _output(self, found: Found, limit: int) -> ProtocolOutput:
        assert self._archive is not None, "used outside its context"
        record, block = self._archive.read(found, limit + _CHUNK_FRAMES)
        if found.kind != "revisit":
            return self._of_block(record, block, limit)
        original = self._archive.original(record)
        if original is None:
            message = "revisit_unresolved: the archive does not hold what this capture refers to"
            return ProtocolOutput(status=ProtocolStatus.WOULDBLOCK, message=message)
        own_head = block
        record, block = self._archive.read(original, limit + _CHUNK_FRAMES)
        return self._of_block(record, _with_head(own_head, block), limit)

    def _of_block(self, record: WarcRecord, block: bytes, limit: int) -> ProtocolOutput:
        cut = record.fields.get("warc-truncated") or None
        if len(block) < record.size:
            cut = cut or "length"
        if not record.fields.get("content-type", "").startswith("application/http"):
            return _document(record, block, limit, cut)
        head, body = _final_parts(block)
        received = Received(
            head=head, raw=body, cut=cut, ip=record.fields.get("warc-ip-address") or None
        )
        output = output_of(received, request_head=b"", limit=limit, keep_partial=self._keep_partial)
        told = record.fields.get("warc-protocol", "")
        return replace(output, protocol=told or output.protocol)

    def _missing(self, keys: Sequence[str], request: FetchRequest) -> ProtocolOutput:
        assert self._archive is not None, "used outside its context"
        is_younger = self._at is not None and any(self._archive.has(key) for key in keys)
        words = "the archive holds no capture of it"
        if is_younger and self._at is not None:
            words += f" at or before {iso(self._at)} (replay.at)"
        message, archived = f"not_in_archive: {words}", ArchivedCapture()
        if request.robots:
            return replace(_ROBOTS[self._replay.robots_missing], message=message, archived=archived)
        is_gone = self._replay.missing == "gone"
        status = ProtocolStatus.NOTFOUND if is_gone else ProtocolStatus.WOULDBLOCK
        return ProtocolOutput(status=status, message=message, archived=archived)


class HostlessCaptures:
    """Keeps captures, and nothing of hosts: what an archive says of them is not of today.

    Args:
        captures: Where captures are kept.
    """

    def __init__(self, captures: Captures) -> None:
        self._captures = captures

    def append(
        self,
        record: FetchRecord,
        output: ProtocolOutput | None = None,
        links: Sequence[Mapping[str, object]] = (),
    ) -> None:
        """Keep one capture, or one failure."""
        self._captures.append(record, output, links)

    def keep(self, asked: RobotsRequest, output: ProtocolOutput) -> None:
        """Keep a robots.txt of the archive."""
        self._captures.keep(asked, output)

    def note_host(self, state: HostState) -> None:
        """Keep nothing."""


def replaying(settings: Settings) -> Settings:
    """Return the settings of a fetch that asks nobody: no delays, no host that is given up."""
    unhurried = {
        "threads_per_queue": 1,
        "queue_mode": "host",
        "server_delay_s": 0.0,
        "max_exceptions_per_queue": -1,
    }
    fetcher = settings.fetcher.model_copy(update=unhurried)
    # What the archive says of a robots.txt, it says again: a deferral would only wait.
    robots = settings.robots.model_copy(update={"defer_delay_ms": 0, "defer_retries": 0})
    return settings.model_copy(update={"fetcher": fetcher, "robots": robots})


def _document(record: WarcRecord, block: bytes, limit: int, cut: str | None) -> ProtocolOutput:
    """Return what is no HTTP reply: a file of an FTP server, of a disk, of a mail."""
    body = block[:limit]
    scheme = record.fields.get("warc-target-uri", "").strip("<>").partition(":")[0].lower()
    is_file = scheme in {"ftp", "file"}
    return ProtocolOutput(
        status=ProtocolStatus.SUCCESS,
        http_status=200,
        raw_body=body,
        body=body,
        content_type=record.fields.get("content-type") or None,
        ip=record.fields.get("warc-ip-address") or None,
        protocol=record.fields.get("warc-protocol") or (scheme if is_file else None),
        truncated=cut or ("length" if len(body) < len(block) else None),
    )


def _final_parts(block: bytes) -> tuple[bytes, bytes]:
    """Return head and body of the final reply of a block; the body without its chunks.

    Some programs archive chunks as they came, others undo them and leave the header as it was.
    """
    head, body = split_head(block) or (block, b"")
    line = status_line(head)
    while line is not None and line.status < 200 and status_line(body) is not None:
        head, body = split_head(body) or (body, b"")
        line = status_line(head)
    coding = [value for name, value in header_pairs(head) if name.lower() == "transfer-encoding"]
    if any("chunked" in value.lower() for value in coding):
        body = dechunk(body)
    return head, body


def _with_head(own: bytes, original: bytes) -> bytes:
    """Return the block of a revisit: its own head, if it has one of a document, and the body."""
    head, _ = split_head(own) or (b"", b"")
    line = status_line(head) if head else None
    parts = split_head(original)
    if line is None or line.status == 304 or parts is None:
        return original
    return head + parts[1]
