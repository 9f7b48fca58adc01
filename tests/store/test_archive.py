"""Archives: WARC files of any program, read in order and at random."""

from __future__ import annotations

import gzip
import shutil
from typing import TYPE_CHECKING

import pytest
import zstandard

from filbert.errors import DataError, UserError
from filbert.model.clock import date_ms
from filbert.rules.archive import archive_key
from filbert.store.archive import Archive, index_archive, warc_files
from filbert.testing.archives import Archived, write_archive

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.store.archive import ArchiveIndex

A, B = "http://a.test/", "http://b.test/x?y=1"
PLAIN = [Archived(url=A, body=b"one"), Archived(url=B, body=b"two " * 60_000)]


def _index(path: Path, *files: Path, skip: bool = False) -> ArchiveIndex:
    return index_archive(warc_files(files), path / "index", skip_damaged=skip)


def _body(index: ArchiveIndex, url: str, at: str = "") -> bytes | None:
    """Return the end of the block that is found; None: nothing is."""
    with Archive(index.path) as archive:
        found = archive.find(archive_key(url), date_ms(at) if at else None)
        if found is None:
            return None
        record, block = archive.read(found, 1 << 30)
        assert len(block) == record.size
        return block.partition(b"\r\n\r\n")[2]


def _as_zstd(path: Path) -> Path:
    """Return the file compressed as zstd frames, one for each member of gzip."""
    made, rest = path.with_suffix("").with_suffix(".warc.zst"), path.read_bytes()
    with made.open("wb") as file:
        for member in rest.split(b"\x1f\x8b\x08")[1:]:
            plain = gzip.decompress(b"\x1f\x8b\x08" + member)
            file.write(zstandard.compress(plain))
    return made


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("form", ["plain", "gzip", "zstd"])
def test_every_form_of_warc_is_read(tmp_path: Path, version: str, form: str) -> None:
    """WARC 1.0 and 1.1, plain, in gzip members or zstd frames; each record at its place."""
    name = "a.warc" if form == "plain" else "a.warc.gz"
    path = write_archive(tmp_path / name, PLAIN, version=version, gzip=form != "plain")
    index = _index(tmp_path, _as_zstd(path) if form == "zstd" else path)
    assert (index.captures, index.damaged) == (2, 0)
    assert _body(index, A) == b"one"
    assert _body(index, B) == b"two " * 60_000
    assert _body(index, "http://c.test/") is None


def test_the_newest_capture_is_taken(tmp_path: Path) -> None:
    """Of several the newest, at or before a date if one is said; of equal dates the last."""
    dates = ["2023-05-01T00:00:00Z", "2024-05-01T00:00:00Z", "2022-05-01T00:00:00Z"]
    records = [Archived(url=A, body=date.encode(), date=date) for date in dates]
    first = write_archive(tmp_path / "1.warc.gz", records)
    again = [Archived(url=A, body=b"again", date=dates[0])]
    second = write_archive(tmp_path / "2.warc.gz", again)
    index = _index(tmp_path, first, second)
    assert _body(index, A) == dates[1].encode()
    assert _body(index, A, "2023-12-31") == b"again"
    assert _body(index, A, "20220501000000") == dates[2].encode()
    assert _body(index, A, "2021") is None


def test_what_is_no_document_is_passed_over(tmp_path: Path) -> None:
    """Requests, metadata and 304 are no captures; a resource is."""
    records = [
        Archived(url=A, status="304 Not Modified", body=b"", date="2025-01-01T00:00:00Z"),
        Archived(url=A, body=b"old"),
        Archived(url=A, kind="metadata", status="", body=b"x: y", date="2025-01-01T00:00:00Z"),
        Archived(url="ftp://a.test/f", kind="resource", status="", body=b"\r\n\r\nfile"),
    ]
    index = _index(tmp_path, write_archive(tmp_path / "a.warc.gz", records))
    assert index.captures == 2
    assert _body(index, A) == b"old"
    assert _body(index, "ftp://a.test/f") == b"file"


def test_spellings_of_a_url_find_its_capture(tmp_path: Path) -> None:
    """Case of the host, a default port and a fragment do not matter; angle brackets neither."""
    records = [Archived(url="<http://A.test:80/p?q#f>")]
    index = _index(tmp_path, write_archive(tmp_path / "a.warc.gz", records))
    assert _body(index, "http://a.test/p?q") is not None
    assert _body(index, "https://a.test/p?q") is None


@pytest.mark.parametrize("form", ["plain", "gzip", "zstd"])
def test_a_cut_file_is_told_with_its_place(tmp_path: Path, form: str) -> None:
    """A file that ends inside a record is an error with file and offset, or counted."""
    name = "a.warc" if form == "plain" else "a.warc.gz"
    path = write_archive(tmp_path / name, PLAIN, gzip=form != "plain")
    path = _as_zstd(path) if form == "zstd" else path
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=rf"{path.name} is damaged at [\d,]+: it is cut"):
        _index(tmp_path, path)
    index = _index(tmp_path, path, skip=True)
    assert (index.captures, index.damaged) == (1, 1)
    assert _body(index, A) == b"one"


def test_what_follows_damage_is_found(tmp_path: Path) -> None:
    """Bytes changed inside a record cost that record alone, when damage is to be skipped."""
    path = write_archive(tmp_path / "a.warc.gz", [*PLAIN, Archived(url="http://c.test/")])
    data = bytearray(path.read_bytes())
    place = data.index(b"\x1f\x8b\x08", data.index(b"\x1f\x8b\x08", 1) + 1) + 200
    data[place : place + 40] = b"\xff" * 40
    path.write_bytes(data)
    index = _index(tmp_path, path, skip=True)
    assert (index.captures, index.damaged) == (2, 1)
    assert _body(index, "http://c.test/") == b"<p>hello"


def test_a_file_compressed_in_one_go_is_refused(tmp_path: Path) -> None:
    """It cannot be read at random: said so, not misread."""
    path = write_archive(tmp_path / "a.warc", PLAIN, gzip=False)
    packed = tmp_path / "b.warc.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(DataError, match="not compressed record by record"):
        _index(tmp_path, packed)


def test_an_index_is_made_once_for_the_same_files(tmp_path: Path) -> None:
    """It is taken as it is while the files are unchanged; made anew, alone, when one changes."""
    path = write_archive(tmp_path / "a.warc.gz", PLAIN)
    made = _index(tmp_path, path)
    before = made.path.stat().st_mtime_ns
    assert _index(tmp_path, path).path.stat().st_mtime_ns == before
    write_archive(path, [*PLAIN, Archived(url="http://c.test/")])
    anew = _index(tmp_path, path)
    assert anew.captures == 3
    assert [one.name for one in made.path.parent.iterdir()] == [anew.path.name]


def test_an_index_that_is_damaged_is_made_anew(tmp_path: Path) -> None:
    """Whatever became of it; and in a folder of any name."""
    path = write_archive(tmp_path / "a.warc.gz", PLAIN)
    folder = tmp_path / "odd ?name#100%"
    made = index_archive([path], folder, skip_damaged=False)
    made.path.write_bytes(made.path.read_bytes()[:100])
    assert index_archive([path], folder, skip_damaged=False).captures == 2
    assert _body(made, A) == b"one"


def test_files_are_found_in_folders(tmp_path: Path) -> None:
    """A folder stands for the WARC files in it; none, or a name that is not there, is wrong use."""
    first = write_archive(tmp_path / "a.warc.gz", PLAIN)
    (tmp_path / "deep").mkdir()
    shutil.copy(first, tmp_path / "deep" / "b.warc.gz")
    (tmp_path / "deep" / "notes.txt").write_text("no archive")
    assert [one.name for one in warc_files([tmp_path, first])] == ["a.warc.gz", "b.warc.gz"]
    with pytest.raises(UserError, match="there is no file"):
        warc_files([tmp_path / "missing.warc"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no WARC file"):
        warc_files([tmp_path / "empty"])


@pytest.mark.parametrize("refers_by", ["WARC-Refers-To", "URI", "digest"])
def test_a_revisit_is_resolved(tmp_path: Path, refers_by: str) -> None:
    """By the record's id, by URL and date, or by the payload's digest alone."""
    uuid, digest = "<urn:uuid:12345678-1234-4123-8123-123456789abc>", "sha1:AAAA"
    by = {
        "WARC-Refers-To": (("WARC-Refers-To", uuid),),
        "URI": (
            ("WARC-Refers-To-Target-URI", A),
            ("WARC-Refers-To-Date", "2024-01-01T00:00:00Z"),
        ),
        "digest": (("WARC-Payload-Digest", digest),),
    }
    own = (("WARC-Record-ID", uuid), ("WARC-Payload-Digest", digest))
    records = [
        Archived(url=A, body=b"the body", fields=own),
        Archived(
            url=B, kind="revisit", body=b"", date="2025-01-01T00:00:00Z", fields=by[refers_by]
        ),
    ]
    index = _index(tmp_path, write_archive(tmp_path / "a.warc.gz", records))
    with Archive(index.path) as archive:
        found = archive.find(archive_key(B))
        assert found is not None
        revisit, _ = archive.read(found, 0)
        original = archive.original(revisit)
        assert original is not None
        assert archive.read(original, 1000)[1].endswith(b"\r\n\r\nthe body")
