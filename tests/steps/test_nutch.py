"""A crawl of Nutch 1.x becomes ours, goes on, and is given back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from filbert.errors import UserError
from filbert.nutch.codecs import CODECS
from filbert.nutch.data import CorruptDataError
from filbert.nutch.parts import part_files, records
from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.sequence_writer import Compression
from filbert.nutch.v1 import names
from filbert.nutch.v1.links import Inlinks
from filbert.steps import nutch_export, nutch_import
from filbert.steps.context import open_context
from filbert.store.segments import SegmentState

if TYPE_CHECKING:
    from filbert.nutch.writable import Writable

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
        pages=98, links=490, segments=3, captures=127, generated=127, parsed=90, outlinks=653
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
    """Every record of every part, in its order; of crawl_parse, which has none, all of them."""
    before, after = _of(GOLDEN / folder), _of(exported / folder)
    if folder.endswith("crawl_parse"):
        before, after = sorted(before, key=repr), sorted(after, key=repr)
    assert after == before


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
        with pytest.raises(UserError, match="has pages already"):
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
    assert "left out: " in result.notes[0]


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
