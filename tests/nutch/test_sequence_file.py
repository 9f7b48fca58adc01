"""SequenceFiles of both eras, held against what Hadoop and the old Nutch wrote."""

from __future__ import annotations

import contextlib
import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filbert.errors import UserError
from filbert.nutch.codecs import CODECS
from filbert.nutch.data import CorruptDataError, DataOutput
from filbert.nutch.sequence_file import Record, SequenceFile
from filbert.nutch.sequence_writer import OLD, Compression, Form, SequenceFileWriter
from filbert.nutch.simple import UTF8, LongWritable
from filbert.nutch.writable import VersionMismatchError

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA = Path(__file__).parents[1] / "data"
HADOOP = sorted(
    path
    for path in (DATA / "nutch1").rglob("*")
    if path.is_file() and path.read_bytes()[:3] == b"SEQ"
)
DUMPS = sorted(
    path
    for era in ("nutch06", "nutch072")
    for path in (DATA / "nutch07" / era / "dump").rglob("*.json")
    if path.name != "stats.json" and path.is_file()
)
# Java's gzip notes no system, and its bzip2 packs otherwise: the same rows, other bytes.
OTHER_PACKERS = {"crawldb-block-gzip", "crawldb-block-bzip2"}
PLAIN = DATA / "nutch1" / "crawldb" / "current" / "part-r-00000" / "data"


def _read(path: Path, **how: Any) -> list[Record]:
    with SequenceFile(path, **how) as file:
        return list(file)


def _written(path: Path, records: Iterable[tuple[bytes, bytes]], form: Form) -> Path:
    with SequenceFileWriter(path, "key", "value", form) as file:
        for key, value in records:
            file.append(key, value)
    return path


def _name(path: Path) -> str:
    return str(path.relative_to(DATA))


@pytest.mark.parametrize("path", HADOOP, ids=_name)
def test_hadoops_files_are_written_byte_for_byte(path: Path, tmp_path: Path) -> None:
    """Each file, read and written again with its sync bytes, is the same, and so its checksums."""
    with SequenceFile(path) as file:
        records, header = list(file), file.header
    compression = (
        Compression.BLOCK
        if header.block
        else Compression.RECORD
        if header.compressed
        else Compression.NONE
    )
    small = "small" in str(path) and path.name == "data"
    form = Form(
        compression=compression, codec=header.codec or "default", metadata=header.metadata,
        sync=header.sync, block_bytes=2_000 if small else 1_000_000,
    )  # fmt: skip
    again = tmp_path / path.name
    with SequenceFileWriter(again, header.key_class, header.value_class, form) as writer:
        for record in records:
            writer.append(record.key, record.value)
    if path.name == "data" and path.parents[2].name in OTHER_PACKERS:
        assert [one[:2] for one in _read(again)] == [one[:2] for one in records]
        return
    assert again.read_bytes() == path.read_bytes()
    side = f".{path.name}.crc"
    assert again.with_name(side).read_bytes() == path.with_name(side).read_bytes()


def test_compressed_copies_hold_the_same() -> None:
    """The crawldb reads alike however it is packed."""
    copies = ("crawldb-record", "crawldb-block", "crawldb-block-gzip", "crawldb-block-bzip2")
    plain = [one[:2] for one in _read(PLAIN)]
    assert len(plain) == 98
    for name in (*copies, "crawldb-block-small"):
        data = DATA / "nutch1" / name / "current" / "part-r-00000" / "data"
        assert [one[:2] for one in _read(data)] == plain


@pytest.mark.parametrize("dump", DUMPS, ids=_name)
def test_files_of_old_are_read_and_written_byte_for_byte(dump: Path, tmp_path: Path) -> None:
    """Header, positions, lengths and sync marks are as the old reader saw them."""
    told = json.loads(dump.read_text(encoding="utf-8"))
    era = next(parent for parent in dump.parents if parent.parent.name == "nutch07")
    path = era / dump.relative_to(era / "dump").with_suffix("")
    with SequenceFile(path, newest=OLD) as file:
        records, header = list(file), file.header
    head = told["header"]
    assert (header.version, header.key_class, header.value_class) == (
        head["version"],
        head["keyClass"],
        head["valueClass"],
    )
    assert (header.length, header.sync.hex()) == (head["headerLength"], head["sync_hex"])
    assert [(r.position, len(r.key) + len(r.value), len(r.key), r.synced) for r in records] == [
        (r["pos"], r["length"], r["keyLength"], r.get("sync", False)) for r in told["records"]
    ]
    again = tmp_path / path.name
    form = Form(version=OLD, sync=header.sync, checksums=False)
    with SequenceFileWriter(again, header.key_class, header.value_class, form) as writer:
        for record in records:
            writer.append(record.key, record.value)
    assert again.read_bytes() == path.read_bytes()


def _hand_made() -> list[dict[str, Any]]:
    cases = json.loads((DATA / "nutch07/nutch072/records.json").read_text(encoding="utf-8"))
    return [one for one in cases["cases"] if one.get("class") == "SequenceFile"]


@pytest.mark.parametrize("case", _hand_made(), ids=lambda case: case["name"])
def test_versions_and_damage_are_judged_as_of_old(case: dict[str, Any], tmp_path: Path) -> None:
    """Versions 0 to 3, a wrong magic, a wrong sync mark: the records, or the old reader's error."""
    path = tmp_path / "FILE"
    path.write_bytes(bytes.fromhex(case["hex"]))
    got: list[tuple[int, str, bool]] = []
    said, kind = "", ""
    try:
        with SequenceFile(path, newest=OLD) as file:
            for record in file:
                key = LongWritable.from_bytes(record.key).value
                got.append((key, UTF8.from_bytes(record.value).value, record.synced))
    except CorruptDataError as error:
        said, kind = error.message, type(error).__name__
    wanted = [(one["key"], one["value"], one["syncSeen"]) for one in case["records"]]
    assert got == wanted
    if "error" not in case:
        assert said == ""
    elif "VersionMismatch" in case["error"]["class"]:
        assert (kind, said) == (VersionMismatchError.__name__, case["error"]["text"])
    else:
        known = ("not a SequenceFile", "File is corrupt!")
        assert any(words in said and words in case["error"]["text"] for words in known)


ROWS = [(b"%05d" % n, b"value %d " % n * 40) for n in range(3_000)]


@pytest.mark.parametrize("codec", sorted(CODECS))
@pytest.mark.parametrize("compression", [Compression.RECORD, Compression.BLOCK])
def test_every_codec_comes_back(codec: str, compression: Compression, tmp_path: Path) -> None:
    """What was packed is unpacked, record by record and block by block."""
    if codec in {"snappy", "lz4"}:
        pytest.importorskip("cramjam", reason="no cramjam: pip install filbert[hadoop-codecs]")
    form = Form(compression=compression, codec=codec, block_bytes=50_000)
    path = _written(tmp_path / "data", ROWS, form)
    assert [one[:2] for one in _read(path)] == ROWS


@pytest.mark.parametrize("compression", list(Compression))
def test_reading_goes_on_behind_damage(compression: Compression, tmp_path: Path) -> None:
    """`skip_bad` loses what lies before the next sync mark, says where, and gives all the rest."""
    form = Form(compression=compression, block_bytes=20_000, checksums=False)
    path = _written(tmp_path / "data", ROWS, form)
    data = bytearray(path.read_bytes())
    at = len(data) // 2
    data[at : at + 40] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(CorruptDataError, match="data"):
        _read(path)
    with SequenceFile(path, skip_bad=True) as file:
        got = [one[:2] for one in file]
    assert len(file.skipped) >= 1
    assert all(one.length > 0 and "data: " in one.reason for one in file.skipped)
    # Unpacked and unchecked, a damaged value passes; the next length does not.
    assert file.skipped[0].position <= at + 40 + len(ROWS[-1][1])
    assert at < file.skipped[-1].position + file.skipped[-1].length
    assert set(got) <= set(ROWS) or compression is Compression.NONE
    assert got[0] == ROWS[0]
    assert got[-1] == ROWS[-1]
    assert len(got) < len(ROWS)


def test_a_wrong_checksum_is_named_and_can_be_passed_over(tmp_path: Path) -> None:
    """With its checksum file no damaged byte is given out; without, the file is read as it lies."""
    path = _written(tmp_path / "data", ROWS, Form())
    data = bytearray(path.read_bytes())
    data[100_000] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptDataError, match=r"512 bytes from byte 99840 are damaged"):
        _read(path)
    assert len(_read(path, verify=False)) == len(ROWS)
    with SequenceFile(path, skip_bad=True) as file:
        rest = list(file)
    assert 0 < len(rest) < len(ROWS)


def test_no_file_is_written_over(tmp_path: Path) -> None:
    """A file that is there stays; the error has the words of old."""
    path = _written(tmp_path / "data", ROWS[:2], Form())
    with pytest.raises(UserError, match="already exists: "):
        _written(path, ROWS, Form())
    assert len(_read(path)) == 2


def test_keys_of_no_length(tmp_path: Path) -> None:
    """A file of old refuses them, Hadoop's takes them."""
    with pytest.raises(UserError, match="zero length keys not allowed"):
        _written(tmp_path / "old", [(b"", b"x")], Form(version=OLD))
    assert _read(_written(tmp_path / "new", [(b"", b"x")], Form()))[0][:2] == (b"", b"x")


SMALL = [
    DATA / "nutch1" / name / "current" / "part-r-00000" / "data"
    for name in ("crawldb", "crawldb-record", "crawldb-block", "crawldb-block-small")
] + [DATA / "nutch07" / "nutch072" / "containers" / "mapfile" / "data"]


@given(st.sampled_from(SMALL), st.data())
@settings(max_examples=60, deadline=None)
def test_any_damage_ends_cleanly(
    tmp_path_factory: pytest.TempPathFactory, source: Path, data: st.DataObject
) -> None:
    """Cut or changed anywhere: with checksums an error or the right rows; without, no crash."""
    whole = source.read_bytes()
    changed = bytearray(whole)
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        del changed[at:]
    else:
        changed[at] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("damage") / "data"
    path.write_bytes(changed)
    with contextlib.suppress(CorruptDataError, UserError):
        assert len(_read(path)) < 100_000
    with contextlib.suppress(CorruptDataError, UserError):
        _read(path, skip_bad=True)
    side = source.with_name(".data.crc")
    if side.exists():
        path.with_name(".data.crc").write_bytes(side.read_bytes())
        right = _read(source)
        with contextlib.suppress(CorruptDataError):
            assert _read(path) == right
        with contextlib.suppress(CorruptDataError):
            assert set(_read(path, skip_bad=True)) <= set(right)


def test_a_file_that_was_cut_is_read_to_its_end(tmp_path: Path) -> None:
    """With its checksums it does not open; with `skip_bad` it does, and says what is missing."""
    path = _written(tmp_path / "data", ROWS, Form())
    path.write_bytes(path.read_bytes()[:300_000])
    with pytest.raises(CorruptDataError, match="data has 300000 bytes"):
        _read(path)
    with SequenceFile(path, skip_bad=True) as file:
        got = [one[:2] for one in file]
    assert got == ROWS[: len(got)]
    assert 299_000 < sum(len(key) + len(value) + 8 for key, value in got) < 300_000
    assert "data has 300000 bytes" in file.skipped[0].reason


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_splits_give_each_record_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Wherever a file is divided, also within its header, a sync mark or a block; both eras."""
    form = data.draw(
        st.sampled_from(
            [
                Form(version=OLD),
                Form(),
                *(Form(compression=c, block_bytes=9_000) for c in Compression),
            ]
        )
    )
    path = _written(tmp_path_factory.mktemp("splits") / "data", ROWS[:700], form)
    size = path.stat().st_size
    cuts = data.draw(st.lists(st.integers(1, size), max_size=5, unique=True).map(sorted))
    got: list[tuple[bytes, bytes]] = []
    for start, end in zip([0, *cuts], [*cuts, size], strict=True):
        with SequenceFile(path, start=start, end=end) as file:
            got += [one[:2] for one in file]
            assert file.next() is None
    assert got == ROWS[:700]


def test_a_split_begins_at_a_mark_that_it_touches(tmp_path: Path) -> None:
    """The byte where a mark begins belongs to the split that begins there."""
    for form in (Form(version=OLD, checksums=False), Form(checksums=False)):
        path = _written(tmp_path / f"data{form.version}", ROWS, form)
        marks = [one.position for one in _read(path) if one.synced]
        for at in (marks[0], marks[-1]):
            for start, first in ((at - 1, at), (at, at), (at + 1, at + 1)):
                got = [one.position for one in _read(path, start=start)]
                assert got[:1] == [mark for mark in marks if mark >= first][:1]


def _head(path: Path, form: Form) -> tuple[bytes, bytes]:
    """Write a file of no records; return its bytes, and a sync mark of it."""
    _written(path, [], form)
    return path.read_bytes(), b"\xff" * 4 + form.sync


def test_a_block_that_grows_takes_no_memory(tmp_path: Path) -> None:
    """Lengths of five million records in ten thousand bytes: they come one by one."""
    form = Form(compression=Compression.BLOCK, sync=b"s" * 16, checksums=False)
    head, mark = _head(tmp_path / "data", form)
    out = DataOutput()
    out.write_bytes(head + mark)
    out.write_vint(5_000_000)
    for plain in (bytes(5_000_000), b"", bytes(5_000_000), b""):
        packed = CODECS["default"].compress(plain)
        out.write_vint(len(packed))
        out.write_bytes(packed)
    (tmp_path / "data").write_bytes(out.getvalue())
    with SequenceFile(tmp_path / "data") as file:
        assert [one[:2] for one in islice(file, 3)] == [(b"", b"")] * 3


def test_buffers_of_a_block_share_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four bombs are stopped as one is."""
    form = Form(compression=Compression.BLOCK, block_bytes=1 << 30)
    path = _written(tmp_path / "data", [(bytes(600), bytes(600))], form)
    monkeypatch.setattr("filbert.nutch.sequence_file.LIMIT", 1_300)
    assert len(_read(path)) == 1
    monkeypatch.setattr("filbert.nutch.sequence_file.LIMIT", 1_100)
    with pytest.raises(CorruptDataError, match="unpack to more than"):
        _read(path)


def test_blocks_of_nothing_are_no_recursion(tmp_path: Path) -> None:
    """Thousands of empty blocks, and a mark alone at the end, are passed over."""
    form = Form(compression=Compression.BLOCK, sync=b"s" * 16, checksums=False)
    head, mark = _head(tmp_path / "data", form)
    none = CODECS["default"].compress(b"")
    empty = mark + b"\0" + (bytes([len(none)]) + none) * 4
    (tmp_path / "data").write_bytes(head + empty * 2_000 + mark)
    assert _read(tmp_path / "data") == []


def test_damage_within_a_block_leaves_out_its_rest(tmp_path: Path) -> None:
    """A length that cannot be: what lies before it is given, and the next block whole."""
    form = Form(compression=Compression.BLOCK, sync=b"s" * 16, checksums=False)
    head, mark = _head(tmp_path / "data", form)

    def block(key_lengths: bytes) -> bytes:
        buffers = [CODECS["default"].compress(b) for b in (key_lengths, b"aabb", b"\1\1", b"xy")]
        return mark + b"\2" + b"".join(bytes([len(one)]) + one for one in buffers)

    wrong = block(b"\2\7")
    (tmp_path / "data").write_bytes(head + wrong + block(b"\2\2"))
    with SequenceFile(tmp_path / "data", skip_bad=True) as file:
        got = [one[:2] for one in file]
    assert got == [(b"aa", b"x"), (b"aa", b"x"), (b"bb", b"y")]
    assert [(one.position, one.length) for one in file.skipped] == [(len(head), len(wrong))]
