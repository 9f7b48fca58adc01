"""The capture log of one part of a fetch: WARC files and a journal that agree after any crash.

Guarantees:
- A capture's WARC bytes are written before its journal frame, and `append` returns after both:
  a capture is safe (from a kill) before its queue slot is free.
- On resume the journal is cut at its first bad frame, or at the first frame that points past the
  end of a WARC file or to a record that is not whole; then each WARC file is cut behind its last
  good frame. So nothing is lost that was acknowledged, and nothing stands twice.
- A disk that is full, or fails, is a DataError; both files are then as they were before the call,
  and the log can be used again.
- `sync` forces WARC bytes to the disk before the frames that point at them.
Source: Nutch's FetcherOutputFormat, which keeps a segment only if the whole fetch ends.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self

from filbert import __version__
from filbert.errors import DataError
from filbert.store.durable import room, sync_folder
from filbert.store.frames import (
    Bitmap,
    CaptureFrame,
    HostMemory,
    KeptFrame,
    decode_frame,
    encode_capture,
    encode_kept,
)
from filbert.store.journal import JournalWriter, append_all, read_frames
from filbert.store.warc import capture_members, is_captured, parse_capture, warcinfo
from filbert.store.warc_codec import Codec, WarcOptions, decompress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from filbert.model.clock import Clock
    from filbert.model.hosts import HostState
    from filbert.model.records import FetchRecord, ProtocolOutput
    from filbert.settings import Settings
    from filbert.store.frames import Place
    from filbert.store.warc import Asked

__all__ = ["CaptureLog", "CaptureOptions", "journal_path", "read_journal"]

# Captures whose records are read back on resume: more than any sync interval leaves unsynced.
_CHECKED_CAPTURES = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions:
    """How captures are kept.

    Attributes:
        warc: Format and level of the records.
        max_bytes: Size at which a WARC file is closed and the next begun.
        fsync: When captures are forced to disk: by `sync` calls, each, or by the system.
        store_content: False keeps the rows and no captures.
        agent: The User-Agent, for the warcinfo record.
    """

    warc: WarcOptions = field(default_factory=WarcOptions)
    max_bytes: int = 1 << 30
    fsync: Literal["batch", "each", "never"] = "batch"
    store_content: bool = True
    agent: str = ""

    @classmethod
    def from_settings(cls, settings: Settings, agent: str = "") -> Self:
        """Return the options that the settings of a crawl ask for."""
        store = settings.store
        return cls(
            warc=WarcOptions(
                format=store.warc_format, level=store.warc_level, requests=store.warc_requests
            ),
            max_bytes=store.warc_max_mb << 20,
            fsync=store.fsync,
            store_content=settings.fetcher.store_content,
            agent=agent,
        )


def journal_path(journal_dir: Path, part: int) -> Path:
    """Return where the journal of a part lies."""
    return journal_dir / f"part-{part:05d}.journal"


def read_journal(path: Path) -> Iterator[CaptureFrame | HostState | KeptFrame]:
    """Yield what the whole frames of a journal say, host states with their robots body."""
    memory = HostMemory()
    for frame in read_frames(path):
        yield decode_frame(frame.payload, memory)


class CaptureLog:
    """Captures of one part, appended and resumed. A context manager; opening it recovers.

    Args:
        content_dir: Where the WARC files lie; made if missing.
        journal_dir: Where the journal lies; made if missing.
        part: Number of the part.
        options: How captures are kept.
        clock: For the date of warcinfo records.

    Attributes:
        resumed: The part was begun before, if only to be killed in its first requests.
        done: Positions of the fetch list that have a frame.
        open_redirects: Records whose redirect was followed and whose target has no frame yet:
            a resume goes on from these; their positions are in `done`.
        host_states: Last state noted of each host.
        cut_bytes: What was cut off, of journal and WARC files, because it was torn or damaged;
            whose captures these were is asked again.
    """

    def __init__(
        self,
        content_dir: Path,
        journal_dir: Path,
        part: int,
        *,
        options: CaptureOptions | None = None,
        clock: Clock,
    ) -> None:
        self._content_dir = content_dir
        self._part = part
        self._options = options or CaptureOptions()
        self._clock = clock
        self._codec = Codec(self._options.warc)
        self._path = journal_path(journal_dir, part)
        self.resumed = self._path.exists()
        self._lock = threading.Lock()
        self._memory = HostMemory()
        self._warc_fd = -1
        self._warc_name = ""
        self._warc_path = content_dir
        self._warc_end = 0
        self.done = Bitmap()
        self.open_redirects: dict[tuple[int, int], FetchRecord] = {}
        content_dir.mkdir(parents=True, exist_ok=True)
        journal_dir.mkdir(parents=True, exist_ok=True)
        self.cut_bytes = 0
        ends, journal_end = self._recover()
        self._next_number = self._cut_content(ends)
        self._journal = JournalWriter(self._path, end=journal_end)

    @property
    def host_states(self) -> Mapping[str, HostState]:
        """Last state noted of each host."""
        return self._memory.states

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Force everything to disk and close; further calls do nothing."""
        if self._options.fsync != "never":
            self.sync()
        with self._lock:
            self._close_warc()
            self._journal.close()

    def append(
        self,
        record: FetchRecord,
        output: ProtocolOutput | None = None,
        links: Sequence[Mapping[str, object]] = (),
    ) -> None:
        """Keep one capture, or one failure.

        Args:
            record: The row of crawl_fetch, without its place in the WARC.
            output: What the protocol plugin gave; None if nothing was asked.
            links: Rows of crawl_parse that come from it (a redirect to the next round).

        Raises:
            DataError: The disk is full or fails; nothing was kept of this capture.
        """
        place, start = None, self._warc_end
        if output is not None and self._options.store_content and is_captured(output):
            place, start = self._append_warc(record, output)
        try:
            self._journal.append(encode_capture(record, links, place))
        except DataError:
            self._undo_warc(start)
            raise
        self._note(record)
        if self._options.fsync == "each":
            self.sync()

    def keep(self, asked: Asked, output: ProtocolOutput) -> None:
        """Keep an answer that has no row of crawl_fetch: that of a robots.txt.

        Raises:
            DataError: The disk is full or fails; nothing was kept.
        """
        if not (self._options.store_content and is_captured(output)):
            return
        place, start = self._append_warc(asked, output)
        try:
            self._journal.append(encode_kept(place))
        except DataError:
            self._undo_warc(start)
            raise

    def note_host(self, state: HostState) -> None:
        """Keep the politeness state, or the robots record, of a host.

        Raises:
            DataError: The disk is full or fails.
        """
        frame = self._memory.encode(state)
        self._journal.append(frame)
        self._memory.keep(state)

    def sync(self) -> None:
        """Force what was appended to the disk, WARC first. May be called from another thread."""
        for journal in (False, True):
            with self._lock:
                descriptor = self._journal.fileno() if journal else self._warc_fd
                copy = os.dup(descriptor) if descriptor >= 0 else -1
            if copy >= 0:
                self._force(copy)

    def _force(self, descriptor: int) -> None:
        try:
            os.fdatasync(descriptor)
        except OSError as error:
            raise DataError(
                f"cannot force captures to disk in {self._content_dir}: {error.strerror}"
            ) from error
        finally:
            os.close(descriptor)

    def _note(self, record: FetchRecord) -> None:
        self.done.add(record.position)
        self.open_redirects.pop((record.position, record.hop - 1), None)
        if record.redirect_verdict == "followed":
            self.open_redirects[record.position, record.hop] = record

    def _append_warc(self, record: Asked, output: ProtocolOutput) -> tuple[Place, int]:
        data, begin = capture_members(record, output, self._codec, self._options.warc)
        if self._warc_fd < 0 or self._warc_end >= self._options.max_bytes:
            self._next_warc()
        start = self._warc_end
        append_all(self._warc_fd, data, start, self._warc_path)
        self._warc_end += len(data)
        return (self._warc_name, start + begin, len(data) - begin), start

    def _undo_warc(self, start: int) -> None:
        if self._warc_fd >= 0 and start < self._warc_end:
            os.ftruncate(self._warc_fd, start)
            os.lseek(self._warc_fd, start, os.SEEK_SET)
            self._warc_end = start

    def _next_warc(self) -> None:
        name = f"part-{self._part:05d}-{self._next_number:05d}{self._codec.suffix}"
        path = self._content_dir / name
        about = {
            "software": f"filbert/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": "https://iipc.github.io/warc-specifications/specifications/"
            "warc-format/warc-1.1/",
            "robots": "obey",
        }
        if self._options.agent:
            about["http-header-user-agent"] = self._options.agent
        head = self._codec.compress(warcinfo(name, self._clock.now_ms(), about))
        with self._lock:
            self._close_warc()
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
            with room(f"beginning {path}"):
                self._warc_fd = os.open(path, flags, 0o644)
                if self._options.fsync != "never":
                    sync_folder(self._content_dir)  # the journal will name the file
        try:
            append_all(self._warc_fd, head, 0, path)
        except DataError:
            with self._lock:
                self._close_warc()
            path.unlink(missing_ok=True)
            raise
        self._warc_name, self._warc_path, self._warc_end = name, path, len(head)
        self._next_number += 1

    def _close_warc(self) -> None:
        if self._warc_fd < 0:
            return
        try:
            if self._options.fsync != "never":
                with room(f"closing {self._warc_path}"):
                    os.fdatasync(self._warc_fd)
        finally:
            os.close(self._warc_fd)
            self._warc_fd, self._warc_end = -1, 0

    def _recover(self) -> tuple[dict[str, int], int]:
        """Read the journal; return where each WARC file and the journal must end."""
        sizes = {path.name: path.stat().st_size for path in self._files()}
        good = self._checked(sizes)
        ends: dict[str, int] = {}
        journal_end = 0
        for number, frame in enumerate(read_frames(self._path)):
            if number >= good:
                break
            journal_end = frame.end
            entry = decode_frame(frame.payload, self._memory)
            if isinstance(entry, CaptureFrame):
                self._note(entry.record)
            if isinstance(entry, CaptureFrame | KeptFrame) and entry.place is not None:
                name, offset, length = entry.place
                ends[name] = offset + length
        self.cut_bytes += (self._path.stat().st_size if self.resumed else 0) - journal_end
        return ends, journal_end

    def _checked(self, sizes: Mapping[str, int]) -> int:
        """Return how many frames, from the first, point at captures that are there and whole."""
        recent: list[tuple[int, Place]] = []
        count = 0
        memory = HostMemory()
        for frame in read_frames(self._path):
            entry = decode_frame(frame.payload, memory)
            if isinstance(entry, CaptureFrame | KeptFrame) and entry.place is not None:
                name, offset, length = entry.place
                if offset + length > sizes.get(name, 0):
                    break
                recent.append((count, entry.place))
                del recent[:-_CHECKED_CAPTURES]
            count += 1
        for number, place in recent:
            if not self._is_whole(place):
                return number
        return count

    def _is_whole(self, place: Place) -> bool:
        name, offset, length = place
        with (self._content_dir / name).open("rb") as file:
            file.seek(offset)
            member = file.read(length)
        try:
            parse_capture(decompress(member))
        except ValueError:
            return False
        return True

    def _files(self) -> list[Path]:
        return sorted(self._content_dir.glob(f"part-{self._part:05d}-*.warc.*"))

    def _cut_content(self, ends: Mapping[str, int]) -> int:
        """Cut each WARC file behind its last good frame; return the number of the next file."""
        following = 0
        for path in self._files():
            following = max(following, int(path.name.split(".")[0].rsplit("-", 1)[1]) + 1)
            end = ends.get(path.name, 0)
            self.cut_bytes += path.stat().st_size - end
            if end == 0:
                path.unlink()
                continue
            if path.stat().st_size > end:
                os.truncate(path, end)
            if path.name.endswith(self._codec.suffix):
                self._reopen(path, end)
        return following

    def _reopen(self, path: Path, end: int) -> None:
        """Go on in the last file of this format that a resume finds."""
        self._close_warc()
        self._warc_fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        os.lseek(self._warc_fd, end, os.SEEK_SET)
        self._warc_name, self._warc_path, self._warc_end = path.name, path, end
