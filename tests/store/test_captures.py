"""The capture log: WARC and journal agree after any crash, nothing is lost, nothing twice."""

from __future__ import annotations

import errno
import importlib.util
import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import DataError
from filbert.model.clock import FixedClock
from filbert.model.hosts import HostState
from filbert.model.records import ProtocolOutput, RobotsRequest
from filbert.model.statuses import ProtocolStatus
from filbert.settings import Settings
from filbert.settings.store import StoreSettings
from filbert.store.captures import CaptureLog, CaptureOptions, journal_path, read_journal
from filbert.store.frames import Bitmap, CaptureFrame, KeptFrame
from filbert.store.journal import JournalWriter
from filbert.store.seal import seal
from filbert.store.warc import read_capture
from filbert.store.warc_codec import WarcOptions, decompress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WRITER = Path(__file__).with_name("captures_writer.py")
_spec = importlib.util.spec_from_file_location("captures_writer", WRITER)
assert _spec is not None
assert _spec.loader is not None
writer: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(writer)

COUNT = 40


def open_log(folder: Path, **options: Any) -> CaptureLog:
    """Open the log of part 3 with small files."""
    chosen = CaptureOptions(**{"max_bytes": 8_000, "fsync": "never", **options})
    return CaptureLog(
        folder / "content", folder / "journal", 3, options=chosen, clock=FixedClock(0)
    )


def fill(log: CaptureLog, positions: Iterable[int]) -> None:
    """Append the captures of some positions."""
    for position in positions:
        log.append(*writer.capture_of(position))


def frames_of(folder: Path) -> Iterator[CaptureFrame | HostState | KeptFrame]:
    """Read what the journal holds by now."""
    return read_journal(journal_path(folder / "journal", 3))


def check_whole(folder: Path, positions: Iterable[int]) -> None:
    """Every position stands once in the journal and once in the WARC files, readable."""
    frames = frames_of(folder)
    records = [f.record for f in frames if isinstance(f, CaptureFrame)]
    assert sorted(r.position for r in records) == sorted(positions)
    for record in records:
        assert record.warc_file is not None
        assert record.warc_offset is not None
        assert record.warc_length is not None
        got = read_capture(
            folder / "content", record.warc_file, record.warc_offset, record.warc_length
        )
        assert (got.body, got.url) == (writer.body_of(record.position), record.url)
    by_file: dict[str, int] = {}
    for record in records:
        assert record.warc_file is not None
        by_file[record.warc_file] = max(
            by_file.get(record.warc_file, 0),
            (record.warc_offset or 0) + (record.warc_length or 0),
        )
    sizes = {path.name: path.stat().st_size for path in (folder / "content").iterdir()}
    assert sizes == by_file


def test_append_gives_the_place_of_the_capture(tmp_path: Path) -> None:
    """Records come back with their place; files are closed at their size; all is readable."""
    with open_log(tmp_path) as log:
        fill(log, range(COUNT))
        assert len(log.done) == COUNT
    assert len(list((tmp_path / "content").iterdir())) > 2
    check_whole(tmp_path, range(COUNT))


@pytest.mark.parametrize("warc_format", ["gzip", "zstd"])
def test_a_log_goes_on_where_it_was(tmp_path: Path, warc_format: str) -> None:
    """Reopened, a log knows what is done and appends behind it."""
    warc = WarcOptions(format="zstd" if warc_format == "zstd" else "gzip")
    for start in range(0, COUNT, 7):
        with open_log(tmp_path, warc=warc) as log:
            assert len(log.done) == start
            assert start not in log.done
            fill(log, range(start, min(COUNT, start + 7)))
    check_whole(tmp_path, range(COUNT))


def test_a_part_that_was_begun_is_resumed(tmp_path: Path) -> None:
    """Killed before its first answer, a part has nothing to show, and yet has asked hosts."""
    got = []
    for _ in range(2):
        with open_log(tmp_path) as log:
            got.append((log.resumed, len(log.done), len(log.host_states)))
    assert got == [(False, 0, 0), (True, 0, 0)]


def test_any_damaged_tail_is_cut(tmp_path: Path) -> None:
    """With the tail of either file cut, zeroed or lengthened, a prefix of captures remains."""
    rng = random.Random(11)
    done = 0
    for _ in range(15):
        with open_log(tmp_path) as log:
            assert len(log.done) <= done + 5
            missing = [p for p in range(60) if p not in log.done][:5]
            fill(log, missing)
            done = len(log.done)
        _damage(tmp_path, rng)
    with open_log(tmp_path) as log:
        fill(log, [p for p in range(60) if p not in log.done])
    check_whole(tmp_path, range(60))


@pytest.mark.parametrize("harm", ["garbage in the middle", "cut", "emptied"])
def test_what_is_cut_off_is_told(tmp_path: Path, harm: str) -> None:
    """Nothing of a whole log; of a damaged one the bytes of journal and WARC that must go."""
    with open_log(tmp_path) as log:
        fill(log, range(COUNT))
    with open_log(tmp_path) as log:
        assert log.cut_bytes == 0
    path = journal_path(tmp_path / "journal", 3)
    data = path.read_bytes()
    middle = len(data) // 2
    damaged = {
        "garbage in the middle": data[:middle] + b"\xff" * 50 + data[middle + 50 :],
        "cut": data[:middle],
        "emptied": b"",
    }[harm]
    path.write_bytes(damaged)
    with open_log(tmp_path) as log:
        assert log.cut_bytes > len(damaged) // 3
        assert len(log.done) < COUNT
        fill(log, [p for p in range(COUNT) if p not in log.done])
    check_whole(tmp_path, range(COUNT))


def _damage(folder: Path, rng: random.Random) -> None:
    files = [journal_path(folder / "journal", 3), *sorted((folder / "content").iterdir())[-1:]]
    path = rng.choice(files)
    size = path.stat().st_size
    kind = rng.choice(["cut", "noise", "zeros", "zeroed tail"])
    if kind == "cut":
        os.truncate(path, max(0, size - rng.randrange(1, 900)))
    elif kind == "zeroed tail":
        keep = max(0, size - rng.randrange(1, 900))
        os.truncate(path, keep)
        os.truncate(path, size)
    else:
        tail = rng.randbytes(rng.randrange(1, 300)) if kind == "noise" else bytes(512)
        with path.open("ab") as file:
            file.write(tail)


@pytest.mark.slow
@pytest.mark.parametrize("warc_format", ["gzip", "zstd"])
def test_a_killed_process_loses_and_doubles_nothing(tmp_path: Path, warc_format: str) -> None:
    """SIGKILL at random instants: what was acknowledged is there, once, and the rest follows."""
    rng = random.Random(5)
    count = 1_500
    acknowledged: set[int] = set()
    for _ in range(6):
        command = [sys.executable, str(WRITER), str(tmp_path), str(count), warc_format]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(rng.randrange(20, 220)):
                line = process.stdout.readline().strip()
                if not line.isdigit():  # a machine under load: it was done before it was killed
                    break
                acknowledged.add(int(line))
            process.kill()
            rest = process.stdout.read().splitlines()
            acknowledged.update(int(line) for line in rest if line.isdigit() and line != rest[-1])
        with open_log(tmp_path) as log:
            assert all(position in log.done for position in acknowledged)
    command = [sys.executable, str(WRITER), str(tmp_path), str(count), warc_format]
    last = subprocess.run(command, capture_output=True, text=True, check=True)
    assert last.stdout.splitlines()[-1] == "done"
    check_whole(tmp_path, range(count))


@pytest.mark.parametrize("nth", range(1, 9))
def test_a_full_disk_loses_nothing_and_going_on_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    """Whichever write fails: a clear error, what was there stays readable, later calls work."""
    real_write = os.write
    calls = 0

    def full_at_nth(fd: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls == nth:
            real_write(fd, bytes(data[: len(data) // 2]))
            raise OSError(28, "No space left on device")
        return real_write(fd, data)

    failed = []
    with open_log(tmp_path, max_bytes=1_500) as log:
        monkeypatch.setattr(os, "write", full_at_nth)
        for position in range(6):
            try:
                log.append(*writer.capture_of(position))
            except DataError as error:
                failed.append((position, "No space left" in str(error)))
        ((position, says_why),) = failed
        assert says_why
        assert position not in log.done
        log.append(*writer.capture_of(position))
    check_whole(tmp_path, range(6))
    with open_log(tmp_path) as log:
        assert len(log.done) == 6


def test_host_states_survive_and_robots_bodies_are_written_once(tmp_path: Path) -> None:
    """The last state of each host comes back; an unchanged robots body costs no second copy."""
    body = b"User-agent: *\nDisallow: /\n" * 100
    state = HostState(host="h1.test", robots_body=body, robots_status=200)
    with open_log(tmp_path) as log:
        log.note_host(state)
        before = journal_path(tmp_path / "journal", 3).stat().st_size
        for time in range(10):
            log.note_host(replace(state, last_request_end=time))
        log.note_host(HostState(host="h2.test", failures=3))
        after = journal_path(tmp_path / "journal", 3).stat().st_size
    assert after - before < len(body)
    with open_log(tmp_path) as log:
        assert log.host_states == {
            "h1.test": replace(state, last_request_end=9),
            "h2.test": HostState(host="h2.test", failures=3),
        }


def test_a_followed_redirect_stays_open_until_its_target_has_a_frame(tmp_path: Path) -> None:
    """After a kill between a redirect and its target, the resume knows whom to ask."""
    record, output = writer.capture_of(0)
    redirect = replace(record, redirect_url="http://h0.test/to", redirect_verdict="followed")
    with open_log(tmp_path) as log:
        log.append(redirect, output)
    with open_log(tmp_path) as log:
        assert [r.redirect_url for r in log.open_redirects.values()] == ["http://h0.test/to"]
        assert 0 in log.done
        log.append(replace(record, url="http://h0.test/to", hop=1), output)
        assert log.open_redirects == {}
    with open_log(tmp_path) as log:
        assert log.open_redirects == {}


def test_rows_and_links_come_back_equal(tmp_path: Path) -> None:
    """A frame holds the record and its crawl_parse rows exactly."""
    record, output = writer.capture_of(5)
    links = ({"url": "http://x.test/", "ordinal": 0, "signature": b"\x00", "score": 0.1},)
    with open_log(tmp_path) as log:
        log.append(record, output, links)
        lost = replace(record, position=6)
        log.append(lost)
        (path,) = (tmp_path / "content").iterdir()
        first, second = frames_of(tmp_path)
        assert isinstance(first, CaptureFrame)
        assert first.place is not None
        assert first.place[1] + first.place[2] == path.stat().st_size
        placed = replace(
            record,
            warc_file=path.name,
            warc_offset=first.record.warc_offset,
            warc_length=first.record.warc_length,
        )
        assert (first, second) == (CaptureFrame(placed, links), CaptureFrame(lost, ()))


def test_without_content_rows_are_kept_alone(tmp_path: Path) -> None:
    """`store_content` off writes no WARC; the row still marks the position done."""
    with open_log(tmp_path, store_content=False) as log:
        log.append(*writer.capture_of(1))
        (frame,) = frames_of(tmp_path)
        assert isinstance(frame, CaptureFrame)
        assert frame.record.warc_file is None
        assert 1 in log.done
    assert list((tmp_path / "content").iterdir()) == []


def test_a_file_begins_with_warcinfo(tmp_path: Path) -> None:
    """Each WARC file says what made it."""
    with open_log(tmp_path, agent="bot/1") as log:
        log.append(*writer.capture_of(1))
    data = next((tmp_path / "content").iterdir()).read_bytes()
    head = decompress(data[: data.index(b"\x1f\x8b", 4)])
    assert b"WARC-Type: warcinfo" in head
    assert b"http-header-user-agent: bot/1" in head


def test_bitmap() -> None:
    """A bitmap holds exactly what was added."""
    bits = Bitmap()
    numbers = random.Random(3).sample(range(100_000), 500)
    for number in (*numbers, *numbers):
        bits.add(number)
    assert len(bits) == 500
    assert all(number in bits for number in numbers)
    assert 100_001 not in bits


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KB; only root can make one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(folder)]
    if (
        shutil.which("mount") is None
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip(
            "no rights to mount a small file system: a full disk is tested with a fake only"
        )
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_no_room_for_a_new_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk when a WARC file begins is an error for people, as when it grows."""

    def full(path: object, *_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with open_log(tmp_path) as log:
        monkeypatch.setattr("filbert.store.captures.os.open", full)
        with pytest.raises(DataError, match=r"beginning .*part-00003-00000"):
            fill(log, range(1))
        monkeypatch.undo()


def test_a_disk_that_is_really_full(small_disk: Path) -> None:
    """On a small file system: a clear error, all before it whole, and room lets it go on."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(100_000))
    with open_log(small_disk) as log:
        with pytest.raises(DataError, match="No space left"):
            fill(log, range(2_000))
        count = len(log.done)
        check_whole(small_disk, range(count))
        ballast.unlink()
        fill(log, range(count, count + 50))
    check_whole(small_disk, range(count + 50))


def test_options_come_from_the_settings() -> None:
    """Each setting of the store that concerns captures arrives."""
    store = StoreSettings(warc_format="zstd", warc_level=3, warc_max_mb=2, fsync="each")
    got = CaptureOptions.from_settings(Settings(store=store), "bot/1")
    assert got == CaptureOptions(
        warc=WarcOptions(format="zstd", level=3),
        max_bytes=2 << 20,
        fsync="each",
        agent="bot/1",
    )


@pytest.mark.parametrize("fsync", ["batch", "each", "never"])
def test_captures_are_forced_to_disk_as_the_setting_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fsync: str
) -> None:
    """`each` syncs both files per capture, `batch` when told and at the end, `never` leaves it."""
    forced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", forced.append)
    with open_log(tmp_path, fsync=fsync, max_bytes=1 << 20) as log:
        fill(log, range(3))
        during = len(forced)
    assert during == {"batch": 0, "each": 6, "never": 0}[fsync]
    assert (len(forced) > during) == (fsync != "never")


def test_a_sync_that_fails_is_a_data_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes no more says so at the sync."""

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with open_log(tmp_path) as log:
        fill(log, range(1))
        monkeypatch.setattr(os, "fdatasync", fail)
        with pytest.raises(DataError, match="Input/output error"):
            log.sync()
        monkeypatch.undo()


def test_a_frame_of_another_version_is_a_data_error(tmp_path: Path) -> None:
    """Whole frames that we cannot read are not thrown away as damage."""
    with open_log(tmp_path) as log:
        fill(log, range(2))
    path = journal_path(tmp_path / "journal", 3)
    frames: tuple[list[object], ...] = ([9, 1, 2, 3], [1, [], [], []], [2, [1]], [1])
    for strange in frames:
        end = path.stat().st_size
        with JournalWriter(path, end=end) as journal:
            journal.append(strange)
        with pytest.raises(DataError, match="Another version"):
            open_log(tmp_path)
        os.truncate(path, end)


def test_read_only_mappings_can_be_kept(tmp_path: Path) -> None:
    """Metadata may be any mapping; what is no value at all is refused."""
    record, output = writer.capture_of(0)
    frozen = replace(record, datum=replace(record.datum, metadata=MappingProxyType({"a": "b"})))
    with open_log(tmp_path) as log:
        log.append(frozen, output)
        with pytest.raises(TypeError, match="cannot hold a object"):
            log.append(record, output, [{"bad": object()}])
        entry = next(frames_of(tmp_path))
    assert isinstance(entry, CaptureFrame)
    assert entry.record.datum.metadata == {"a": "b"}


def test_what_has_no_row_is_kept_over_a_kill(tmp_path: Path) -> None:
    """A robots.txt stands in the WARC file and in no table; what is torn behind it is cut off."""
    asked = RobotsRequest(url="http://h.test/robots.txt", fetch_time=1_000)
    _, output = writer.capture_of(0)
    with open_log(tmp_path, max_bytes=1 << 20) as log:
        fill(log, range(2))
        log.keep(asked, output)
    (path,) = (tmp_path / "content").iterdir()
    whole = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"torn")
    with open_log(tmp_path, max_bytes=1 << 20) as log:
        assert (log.cut_bytes, len(log.done)) == (4, 2)
        fill(log, range(2, 3))
    kept = [frame for frame in frames_of(tmp_path) if isinstance(frame, KeptFrame)]
    assert [(one.place[0], one.place[1] + one.place[2]) for one in kept] == [(path.name, whole)]
    got = read_capture(tmp_path / "content", *kept[0].place)
    assert (got.url, got.date) == (asked.url, "1970-01-01T00:00:01.000Z")
    assert seal(tmp_path / "journal", 3, tmp_path / "sealed").rows == 3


def test_nothing_is_kept_where_captures_are_not(tmp_path: Path) -> None:
    """Neither without content, nor of a host that gave no answer."""
    asked = RobotsRequest(url="http://h.test/robots.txt", fetch_time=1_000)
    _, output = writer.capture_of(0)
    with open_log(tmp_path, store_content=False) as log:
        log.keep(asked, output)
    with open_log(tmp_path) as log:
        log.keep(asked, ProtocolOutput(status=ProtocolStatus.EXCEPTION, message="dns_failed: x"))
    assert list(frames_of(tmp_path)) == []
