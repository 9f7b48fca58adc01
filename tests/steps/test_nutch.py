"""A crawl of Nutch 1.x becomes ours, goes on, and is given back."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from filbert.errors import UserError
from filbert.nutch.codecs import CODECS
from filbert.nutch.data import CorruptDataError
from filbert.nutch.map_file import MapFileWriter
from filbert.nutch.parts import part_files, records
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.sequence_writer import Compression
from filbert.nutch.simple import UTF8
from filbert.nutch.v1 import names
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.folders import RecordFolder
from filbert.nutch.v1.links import Inlinks
from filbert.steps import nutch_export, nutch_import
from filbert.steps.context import open_context
from filbert.store.segments import SegmentState

if TYPE_CHECKING:
    from filbert.nutch.writable import Writable
    from filbert.steps.context import StepResult

GOLDEN = Path(__file__).parents[1] / "data" / "nutch1"
SEGMENTS = ("20261130202918", "20261130202958", "20261130203037")
PARTS = ("crawl_generate", "crawl_fetch", "content", "parse_data", "parse_text", "crawl_parse")
FOLDERS = (
    "crawldb/current",
    "linkdb/current",
    *(f"segments/{segment}/{part}" for segment in SEGMENTS for part in PARTS),
)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden crawl, imported."""
    path = tmp_path_factory.mktemp("imported") / "crawl"
    with open_context(path, (), {}, create=True) as context:
        result = nutch_import.run(context, nutch_import.ImportOptions(source=GOLDEN))
    assert result.counters == Counter(
        pages=98, links=490, segments=3, captures=127, generated=127, parsed=90
    )
    return path


def _of(folder: Path) -> list[tuple[bytes, object]]:
    with SequenceFile(part_files(folder)[0]) as file:
        cls = names.record_class(file.header.value_class)
    assert cls is not None
    found = [(one.key, cls.from_bytes(one.value)) for one in records(folder)]
    return [(key, _as_set(record)) for key, record in found]


def _as_set(record: Writable) -> object:
    return frozenset(record.inlinks) if isinstance(record, Inlinks) else record


@pytest.fixture(scope="module")
def exported(imported: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, exported again."""
    dest = tmp_path_factory.mktemp("exported") / "crawl"
    with open_context(imported, (), {}) as context:
        nutch_export.run(context, nutch_export.ExportOptions(dest=dest))
    return dest


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_crawl_comes_back_record_by_record(exported: Path, folder: str) -> None:
    """Every byte of every record, in its order; but for orders that Nutch leaves to chance.

    (Those of records in crawl_parse, and of the links of a page.)
    """
    before, after = _of(GOLDEN / folder), _of(exported / folder)
    if folder.endswith("crawl_parse"):
        before, after = sorted(before, key=repr), sorted(after, key=repr)
    assert after == before
    if not folder.startswith("linkdb"):
        bytes_before, bytes_after = (
            sorted((one.key, one.value) for one in records(root / folder))
            for root in (GOLDEN, exported)
        )
        assert bytes_after == bytes_before


def test_files_are_packed_as_nutch_packs_them(exported: Path) -> None:
    """Each part has the classes and the compression that Nutch gives it by default."""
    for folder in FOLDERS:
        with (
            SequenceFile(part_files(GOLDEN / folder)[0]) as before,
            SequenceFile(part_files(exported / folder)[0]) as after,
        ):
            told = ("version", "key_class", "value_class", "compressed", "block", "codec")
            assert [getattr(after.header, name) for name in told] == [
                getattr(before.header, name) for name in told
            ]


@pytest.mark.parametrize("compression", list(Compression))
def test_any_compression(imported: Path, tmp_path: Path, compression: Compression) -> None:
    """Whatever the files are packed with, the records are the same."""
    with open_context(imported, (), {}) as context:
        options = nutch_export.ExportOptions(
            dest=tmp_path / "out", compression=compression, codec="gzip"
        )
        nutch_export.run(context, options)
    for folder in ("crawldb/current", f"segments/{SEGMENTS[0]}/content"):
        assert _of(tmp_path / "out" / folder) == _of(GOLDEN / folder)


def test_imported_segments_are_parsed_and_absorbed(imported: Path) -> None:
    """The crawldb and the linkdb have seen them: nothing is fetched, absorbed or inverted twice."""
    with open_context(imported, (), {}) as context:
        crawl = context.crawl
        assert [segment.state for segment in crawl.segments()] == [SegmentState.PARSED] * 3
        for name in SEGMENTS:
            assert crawl.table("crawldb").transaction(f"update:{name}") is not None
            assert crawl.table("linkdb").transaction(f"invert:{name}") is not None
        assert crawl.table("origins").count() == 98


def test_the_same_command_changes_nothing_more(imported: Path) -> None:
    """An import that is done is done; another crawl does not go into the same folder."""
    with open_context(imported, (), {}) as context:
        versions = {t: context.crawl.table(t).version() for t in ("crawldb", "linkdb", "origins")}
        nutch_import.run(context, nutch_import.ImportOptions(source=GOLDEN))
        assert {t: context.crawl.table(t).version() for t in versions} == versions


def test_a_crawl_that_has_pages_is_not_imported_into(tmp_path: Path) -> None:
    """Pages of our own are not mixed with those of another crawl."""
    from filbert.steps import inject

    with open_context(tmp_path / "crawl", (), {}, create=True) as context:
        inject.run(context, inject.InjectOptions(seeds=("http://a.test/",)))
        with pytest.raises(UserError, match="has already a crawldb of its own"):
            nutch_import.run(context, nutch_import.ImportOptions(source=GOLDEN))


@pytest.mark.parametrize("part", ["crawldb", "linkdb", "segments", f"segments/{SEGMENTS[0]}"])
def test_a_part_of_a_crawl_is_found_out(part: str, tmp_path: Path) -> None:
    """A crawldb, a linkdb, segments or one segment are taken alone."""
    with open_context(tmp_path / "crawl", (), {}, create=True) as context:
        counted = nutch_import.run(
            context, nutch_import.ImportOptions(source=GOLDEN / part)
        ).counters
    wanted = {"crawldb": (98, 0, 0), "linkdb": (0, 490, 0), "segments": (0, 0, 3)}
    got = (counted["pages"], counted["links"], counted["segments"])
    assert got == wanted.get(part, (0, 0, 1))


def test_what_is_nothing_of_nutchs_is_told(tmp_path: Path) -> None:
    """Neither a folder of other things nor one that is not there."""
    (tmp_path / "notes.txt").write_text("no crawl", encoding="utf-8")
    with open_context(tmp_path / "crawl", (), {}, create=True) as context:
        for source in (tmp_path, tmp_path / "none"):
            with pytest.raises(UserError, match=r"is nothing of Nutch 1\.x|there is no"):
                nutch_import.run(context, nutch_import.ImportOptions(source=source))


def _damaged(source: Path) -> bytes:
    """Return the bytes of a file with the lengths of one record in the middle destroyed."""
    data = bytearray(source.read_bytes())
    at = [record.position for record in SequenceFile(source)][700]
    data[at : at + 8] = b"\xff" * 8
    return bytes(data)


def test_damage_stops_or_is_told(tmp_path: Path) -> None:
    """A damaged crawldb imports nothing, or with skip_bad what can be read, and says so."""
    source = tmp_path / "crawldb" / "current" / "part-r-00000"
    source.mkdir(parents=True)
    data = GOLDEN / "crawldb-large" / "current" / "part-r-00000" / "data"
    (source / "data").write_bytes(_damaged(data))
    with open_context(tmp_path / "crawl", (), {}, create=True) as context:
        with pytest.raises(CorruptDataError, match="part-r-00000/data"):
            nutch_import.run(context, nutch_import.ImportOptions(source=tmp_path))
        assert context.crawl.table("crawldb").count() == 0
        options = nutch_import.ImportOptions(source=tmp_path, skip_bad=True)
        result = nutch_import.run(context, options)
    assert 500 < result.counters["pages"] < 1500
    assert result.notes[0].startswith("left out 41,636 bytes from byte ")


def _copied(tmp_path: Path, *parts: str) -> Path:
    """Copy parts of the golden crawl."""
    for part in parts:
        shutil.copytree(GOLDEN / part, tmp_path / "source" / part)
    return tmp_path / "source"


def _flip(path: Path, at: int) -> None:
    """Change a byte of a file."""
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(bytes(data))


def _import(crawl: Path, source: Path, *, skip_bad: bool = False) -> StepResult:
    with open_context(crawl, (), {}, create=True, importing=True) as context:
        options = nutch_import.ImportOptions(source=source, skip_bad=skip_bad)
        return nutch_import.run(context, options)


SEGMENT = f"segments/{SEGMENTS[-1]}"


@pytest.mark.parametrize("part", ["content", "crawl_fetch", "parse_data", "parse_text"])
def test_damage_in_a_segment_costs_what_it_hit(part: str, tmp_path: Path) -> None:
    """With skip_bad all the rest comes, and each place is told once, with its file."""
    source = _copied(tmp_path, SEGMENT)
    file = source / SEGMENT / part / "part-r-00000" / "data"
    _flip(file, file.stat().st_size // 2)
    with pytest.raises(CorruptDataError, match=f"{part}/part-r-00000/data"):
        _import(tmp_path / "strict", source)
    result = _import(tmp_path / "crawl", source, skip_bad=True)
    told = [note for note in result.notes if note.startswith("left out")]
    assert told == sorted(set(told))
    assert all(f"{part}/part-r-00000/data" in note for note in told)
    assert told
    assert 0 < result.counters["captures"] <= 86


def test_a_damaged_record_is_told_with_its_file(tmp_path: Path) -> None:
    """Without checksums the frame may be good and the record not: that record is left out alone."""
    source = _copied(tmp_path, "crawldb")
    file = source / "crawldb" / "current" / "part-r-00000" / "data"
    file.with_name(".data.crc").unlink()
    with SequenceFile(file) as whole:
        at, key = [(one.position, one.key) for one in whole][40]
    place = at + 8 + len(key)
    data = bytearray(file.read_bytes())
    assert data[place] == 7
    data[place] = 99
    file.write_bytes(bytes(data))
    wanted = f"data: the record at byte {at}: A record version mismatch"
    with pytest.raises(CorruptDataError, match=wanted):
        _import(tmp_path / "strict", source)
    result = _import(tmp_path / "crawl", source, skip_bad=True)
    assert result.counters["pages"] == 97
    assert wanted in result.notes[0]


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        (
            "crawl_fetch",
            "has no crawl_fetch: left out content, crawl_parse, parse_data, parse_text",
        ),
        ("content", "has no content: its captures have no body"),
        ("parse_data", "has no parse_data: left out crawl_parse, parse_text"),
        ("parse_text", "has no parse_text"),
    ],
)
def test_a_segment_that_is_not_whole_is_told(lost: str, told: str, tmp_path: Path) -> None:
    """What is missing, and what does not come for that."""
    source = _copied(tmp_path, SEGMENT)
    shutil.rmtree(source / SEGMENT / lost)
    result = _import(tmp_path / "crawl", source)
    assert [note.endswith(told) for note in result.notes] == [True]


def test_data_that_are_gone_are_damage(tmp_path: Path) -> None:
    """A MapFile whose index alone is left is no part that was never there."""
    source = _copied(tmp_path, SEGMENT)
    (source / SEGMENT / "content" / "part-r-00000" / "data").unlink()
    with pytest.raises(CorruptDataError, match=r"there is no file .*content/part-r-00000/data"):
        _import(tmp_path / "crawl", source)


def test_a_database_without_current_is_told(tmp_path: Path) -> None:
    """An update of Nutch that was cut off may leave none."""
    source = _copied(tmp_path, "crawldb", "linkdb")
    (source / "crawldb" / "current").rename(source / "crawldb" / "old")
    assert _import(tmp_path / "crawl", source).notes == (
        f"{source / 'crawldb'} has no `current`: nothing of it came",
    )


def test_parts_come_one_after_the_other(tmp_path: Path) -> None:
    """As one import: the segments count as absorbed, whatever came first."""
    for part in ("segments", "crawldb", "linkdb"):
        _import(tmp_path / "crawl", GOLDEN / part)
    with open_context(tmp_path / "crawl", (), {}) as context:
        for table, step in (("crawldb", "update"), ("linkdb", "invert")):
            found = context.crawl.table(table)
            assert {found.transaction(f"{step}:{name}") for name in SEGMENTS} == {1}


def test_no_part_comes_from_two_sources(tmp_path: Path) -> None:
    """Another crawldb, or another segment of that name, is refused, and said to be there."""
    _import(tmp_path / "crawl", GOLDEN)
    other = _copied(tmp_path, SEGMENT)
    for source, what in ((GOLDEN / "crawldb-large", "a crawldb"), (other, "a segment")):
        with pytest.raises(UserError, match=f"has already {what}.* from .*nutch1"):
            _import(tmp_path / "crawl", source)
    assert "was imported already, " in _import(tmp_path / "crawl", GOLDEN).message


def test_no_step_works_on_half_an_import(tmp_path: Path) -> None:
    """It is refused until the same import has ended."""
    source = _copied(tmp_path, "crawldb", SEGMENT)
    file = source / "crawldb" / "current" / "part-r-00000" / "data"
    whole = file.read_bytes()
    _flip(file, 3000)
    with pytest.raises(CorruptDataError):
        _import(tmp_path / "crawl", source)
    with (
        pytest.raises(UserError, match=r"the import of .* has not ended"),
        open_context(tmp_path / "crawl", (), {}),
    ):
        pass
    file.write_bytes(whole)
    assert _import(tmp_path / "crawl", source).counters["captures"] == 86
    with open_context(tmp_path / "crawl", (), {}) as context:
        assert context.crawl.table("crawldb").count() == 98


def test_source_and_crawl_folder_lie_apart(tmp_path: Path, imported: Path) -> None:
    """Neither is written into the other's data; beside them is good enough."""
    source = _copied(tmp_path, "crawldb")
    for crawl in (source, source / "crawldb" / "ours"):
        with pytest.raises(UserError, match=r"in each other|not a crawl folder"):
            _import(crawl, source)
    assert _import(source / "ours", source).counters["pages"] == 98
    with open_context(imported, (), {}) as context:
        options = nutch_export.ExportOptions(dest=imported / "nutch")
        with pytest.raises(UserError, match="lies in the crawl folder"):
            nutch_export.run(context, options)


def test_keys_of_old_are_read(tmp_path: Path) -> None:
    """Nutch 0.8 and 0.9 had URLs as `UTF8`, and a crawldb of version 4."""
    datum = CrawlDatum(status=2, fetch_time=1_700_000_000_000, fetch_interval=86_400)
    old, value = "org.apache.hadoop.io.UTF8", "org.apache.nutch.crawl.CrawlDatum"
    folder = tmp_path / "source" / "crawldb" / "current" / "part-00000"
    with MapFileWriter(folder, old, value) as file:
        for name in ("a", "b"):
            file.append(UTF8(f"http://{name}.test/"), datum.to_bytes())
    assert _import(tmp_path / "crawl", tmp_path / "source").counters["pages"] == 2
    with RecordFolder(tmp_path / "source" / "crawldb") as parts:
        assert parts.get("http://b.test/") == datum


def test_no_folder_is_exported_over(imported: Path, tmp_path: Path) -> None:
    """A folder with something in it refuses."""
    (tmp_path / "file").touch()
    with (
        open_context(imported, (), {}) as context,
        pytest.raises(UserError, match="is not empty"),
    ):
        nutch_export.run(context, nutch_export.ExportOptions(dest=tmp_path))


def test_codecs_are_named() -> None:
    """Every codec that the issue of compression may name is there."""
    assert {"default", "deflate", "gzip", "bzip2", "zstd", "snappy", "lz4"} == set(CODECS)
