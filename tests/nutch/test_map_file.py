"""MapFiles, ArrayFiles and SetFiles, held against what the real ones answered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filbert.errors import UserError
from filbert.nutch.array_file import ArrayFile, ArrayFileWriter, SetFile, SetFileWriter
from filbert.nutch.data import CorruptDataError, DataInput
from filbert.nutch.map_file import MapFile, MapFileWriter, fix
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.sequence_writer import OLD, Compression, Form
from filbert.nutch.simple import UTF8, LongWritable, Text

CONTAINERS = Path(__file__).parents[1] / "data" / "nutch07" / "nutch072" / "containers"
LARGE = Path(__file__).parents[1] / "data" / "nutch1" / "crawldb-large" / "current/part-r-00000"
LOOKUPS = json.loads((CONTAINERS / "lookups.json").read_text(encoding="utf-8"))["lookups"]


def _of(op: str) -> list[dict[str, object]]:
    return [one for one in LOOKUPS if one["op"] == op]


def test_array_file_lookups() -> None:
    """Values by number, in any order; beyond the end there is none."""
    with ArrayFile(CONTAINERS / "arrayfile") as file:
        for case in _of("ArrayFile.get"):
            value = file.at(int(str(case["n"])))
            assert (None if value is None else UTF8.from_bytes(value).value) == case["value"]
        assert file.seek_to(298)
        record = file.next()
        assert record is not None
        assert (file.key_of(record), UTF8.from_bytes(record.value)) == (
            LongWritable(298),
            UTF8("value 2086"),
        )
        assert file.next() is not None
        assert file.next() is None


def test_map_file_lookups() -> None:
    """get, seek to the key or the next larger one, the final key, and sync."""
    with MapFile(CONTAINERS / "mapfile") as file:
        for case in _of("MapFile.get"):
            value = file.get(UTF8(str(case["key"])))
            assert (None if value is None else LongWritable.from_bytes(value).value) == case[
                "value"
            ]
        for case in _of("MapFile.seek then next"):
            found, record = file.seek(UTF8(str(case["key"]))), file.next()
            key = None if record is None else str(file.key_of(record))
            assert (found, key) == (case["found"], case["nextKey"])
        for case in _of("SequenceFile.sync"):
            file.data.sync(int(str(case["position"])))
            at, record = file.data.position, file.data.next()
            key = None if record is None else str(file.key_of(record))
            assert (at, key) == (case["after"], case["nextKey"])
        file.reset()
        first = file.next()
        assert first is not None
        assert str(file.final_key()) == _of("MapFile.finalKey")[0]["key"]
        second = file.next()
        assert second is not None
        assert second.position > first.position  # the final key was found without losing the place


@pytest.mark.parametrize(
    ("name", "interval"),
    [("arrayfile", 128), ("mapfile", 128), ("setfile", 128), ("mapfile-interval-5", 5)],
)
def test_files_of_old_are_written_byte_for_byte(name: str, interval: int, tmp_path: Path) -> None:
    """Data and index of a MapFile written anew are those of the real one, sync bytes aside."""
    source = CONTAINERS / name
    with SequenceFile(source / "index") as index:
        index_sync = index.header.sync
    with MapFile(source) as file:
        header = file.data.header
        form = Form(version=OLD, sync=header.sync, checksums=False)
        with MapFileWriter(
            tmp_path / name, header.key_class, header.value_class, form, index_interval=interval
        ) as writer:
            for record in file:
                writer.append(file.key_of(record), record.value)
    assert (tmp_path / name / "data").read_bytes() == (source / "data").read_bytes()
    index_bytes = (tmp_path / name / "index").read_bytes().replace(header.sync, index_sync)
    assert index_bytes == (source / "index").read_bytes()


@pytest.mark.parametrize("harm", ["gone", "cut", "wrong"])
def test_an_index_that_cannot_be_read_is_made_anew(harm: str, tmp_path: Path) -> None:
    """Without an index, or with a damaged one, every key is found all the same."""
    path = tmp_path / "map"
    shutil.copytree(LARGE, path)
    (path / ".index.crc").unlink()
    index = path / "index"
    if harm == "gone":
        index.unlink()
    elif harm == "cut":
        index.write_bytes(index.read_bytes()[:150])
    else:
        index.write_bytes(b"SEQ\x06 this is no index")
    with MapFile(LARGE) as whole, MapFile(path) as file:
        for number, record in enumerate(list(whole)):
            if number % 97 == 0:
                assert file.get(whole.key_of(record)) == record.value


def test_fix_writes_the_index_that_was_there(tmp_path: Path) -> None:
    """The index made by `fix` finds what the first one found."""
    path = tmp_path / "map"
    shutil.copytree(LARGE, path)
    before = [one[:2] for one in SequenceFile(path / "index")]
    (path / "index").unlink()
    (path / ".index.crc").unlink()
    assert fix(path) == 1500
    assert [one[:2] for one in SequenceFile(path / "index")] == before


def test_closest() -> None:
    """The key, else the next larger one; `before`: the next smaller one."""
    with MapFile(CONTAINERS / "mapfile") as file:

        def key(wanted: str, *, before: bool = False) -> str | None:
            record = file.closest(UTF8(wanted), before=before)
            return None if record is None else str(file.key_of(record))

        assert key("k00003") == key("k00003", before=True) == "k00003"
        assert (key("k00004"), key("k00004", before=True)) == ("k00006", "k00003")
        assert (key("a"), key("a", before=True)) == ("k00000", None)
        assert (key("z"), key("z", before=True)) == (None, "k00897")


def test_keys_grow(tmp_path: Path) -> None:
    """A key that is not after the last one refuses, in the words of old; strings by their bytes."""
    with MapFileWriter(tmp_path / "map", "UTF8", "long", Form(version=OLD)) as writer:
        writer.append(UTF8("b"), bytes(8))
        for key in ("a", "b"):
            with pytest.raises(UserError, match=f"key out of order: {key} after b"):
                writer.append(UTF8(key), bytes(8))
        writer.append(UTF8("é"), bytes(8))
    with pytest.raises(UserError, match="already exists: "):
        MapFileWriter(tmp_path / "map", "UTF8", "long")


@pytest.mark.parametrize("compression", list(Compression))
def test_hadoops_maps_are_sought_in(compression: Compression, tmp_path: Path) -> None:
    """Every key is found, also where many lie in one block."""
    rows = {f"k{n:05d}": b"v%d" % n * 10 for n in range(2_000)}
    form = Form(compression=compression, block_bytes=9_000)
    with MapFileWriter(tmp_path / "map", "org.apache.hadoop.io.Text", "x", form) as writer:
        for key, value in rows.items():
            writer.append(Text(key), value)
    with MapFile(tmp_path / "map") as file:
        for key in ("k01999", "k00000", "k00777", "k01024", "k00001"):
            assert file.get(Text(key)) == rows[key]
        assert file.get(Text("k00777x")) is None
        assert file.final_key() == Text("k01999")


def test_arrays_and_sets_come_back(tmp_path: Path) -> None:
    """Numbers go on from 0; a set has keys alone; both eras."""
    for version in (OLD, 6):
        form = Form(version=version)
        with ArrayFileWriter(tmp_path / f"a{version}", "UTF8", form) as array:
            assert [array.add(UTF8(str(n)).to_bytes()) for n in range(300)] == list(range(300))
        with ArrayFile(tmp_path / f"a{version}") as read:
            value = read.at(287)
            assert value is not None
            assert UTF8.read(DataInput(value)) == UTF8("287")
            assert read.at(300) is None
        with SetFileWriter(tmp_path / f"s{version}", "UTF8", form) as keys:
            for name in ("a", "b", "d"):
                keys.add(UTF8(name))
        with SetFile(tmp_path / f"s{version}") as known:
            assert [known.has(UTF8(name)) for name in "abcd"] == [True, True, False, True]


def test_the_final_key_leaves_the_reader_where_it_stands(tmp_path: Path) -> None:
    """Also in the middle of a block."""
    for compression in Compression:
        form = Form(compression=compression, block_bytes=2_000)
        path = tmp_path / compression.value
        with MapFileWriter(path, "org.apache.hadoop.io.Text", "x", form) as writer:
            for n in range(600):
                writer.append(Text(f"k{n:03d}"), b"0123456789")
        with MapFile(path) as file:
            keys = []
            for record in file:
                keys.append(str(file.key_of(record)))
                if len(keys) in {1, 300}:
                    assert file.final_key() == Text("k599")
        assert keys == [f"k{n:03d}" for n in range(600)]


def test_an_empty_map(tmp_path: Path) -> None:
    """Has no key at all."""
    MapFileWriter(tmp_path / "map", "org.apache.hadoop.io.Text", "x").close()
    with MapFile(tmp_path / "map") as file:
        assert (file.final_key(), file.get(Text("a")), file.closest(Text("a"))) == (None,) * 3
        assert list(file) == []


def test_keys_of_another_class_refuse(tmp_path: Path) -> None:
    """As of old; where the name of the class says nothing, the first key decides."""
    for name in ("UTF8", "org.example.Key"):
        with MapFileWriter(tmp_path / name, name, "long", Form(version=OLD)) as writer:
            writer.append(UTF8("a"), bytes(8))
            with pytest.raises(UserError, match="wrong key class: LongWritable is not UTF8"):
                writer.append(LongWritable(7), bytes(8))


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_a_damaged_index_finds_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Cut or changed anywhere, without checksums: every key is found as before."""
    source = data.draw(st.sampled_from(["mapfile", "mapfile-interval-5"]))
    path = tmp_path_factory.mktemp("index") / "map"
    path.mkdir()
    shutil.copyfile(CONTAINERS / source / "data", path / "data")
    changed = bytearray((CONTAINERS / source / "index").read_bytes())
    at = data.draw(st.integers(0, len(changed) - 1))
    if data.draw(st.booleans()):
        del changed[at:]
    else:
        changed[at] ^= data.draw(st.integers(1, 255))
    (path / "index").write_bytes(changed)
    with MapFile(CONTAINERS / source) as whole, MapFile(path) as file:
        for record in list(whole)[:: data.draw(st.integers(5, 50))]:
            key = whole.key_of(record)
            assert file.get(key) == record.value
            assert file.get(UTF8(f"{key}x")) is None
        assert file.final_key() == whole.final_key()


def test_damaged_data_is_an_error_of_the_data(tmp_path: Path) -> None:
    """It is not taken for a wrong index."""
    path = tmp_path / "map"
    shutil.copytree(LARGE, path)
    changed = bytearray((path / "data").read_bytes())
    at = len(changed) // 2
    changed[at] ^= 1
    (path / "data").write_bytes(changed)
    with MapFile(LARGE) as whole, MapFile(path) as file:
        records = list(whole)
        assert file.get(whole.key_of(records[10])) == records[10].value
        hit = max((one for one in records if one.position <= at), key=lambda one: one.position)
        with pytest.raises(CorruptDataError, match="are damaged"):
            file.get(whole.key_of(hit))
        assert file.get(whole.key_of(records[-10])) == records[-10].value


def test_an_array_has_a_length_and_numbers(tmp_path: Path) -> None:
    """As a sequence of Python has; an empty one is no nothing for its reader."""
    for name, count in (("empty", 0), ("some", 300)):
        with ArrayFileWriter(tmp_path / name, "UTF8") as writer:
            for n in range(count):
                writer.add(b"%d" % n)
        with ArrayFile(tmp_path / name) as array:
            assert len(array) == count
            assert list(array) == list(MapFile(tmp_path / name))
            with pytest.raises(IndexError, match=f"has no value {count}"):
                array[count]
    with ArrayFile(tmp_path / "some") as array:
        assert (array[0], array[128], array[299]) == (b"0", b"128", b"299")
