"""What Nutch's own readers print, line for line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from filbert.nutch.hadoop_order import map_sorted, merged
from filbert.nutch.simple import FloatWritable
from filbert.nutch.v1 import texts
from filbert.nutch.v1.crawl_datum import CrawlDatum
from filbert.nutch.v1.java_text import nearest_float
from filbert.nutch.v1.links import Inlinks
from filbert.nutch.v1.map_writable import MapWritable
from filbert.nutch.v1.texts import (
    crawldb_csv,
    crawldb_json,
    crawldb_text,
    linkdb_text,
    pages_of,
    segment_text,
)

GOLDEN = Path(__file__).parents[2] / "data" / "nutch1"
COPIES = ("", "-record", "-block", "-block-gzip", "-block-bzip2", "-block-small")


def _expected(name: str) -> str:
    return (GOLDEN / f"expected-{name}").read_text(encoding="utf-8")


def _without_noise(text: str) -> str:
    """Leave out when a server says that a page changed: Nutch's own value is noise there."""
    return re.sub(r"lastModified=\d+", "lastModified=", text)


def _crawldb(name: str) -> Path:
    return GOLDEN / name / "current"


@pytest.mark.parametrize("name", [f"crawldb{copy}" for copy in COPIES])
def test_readdb_dump(name: str) -> None:
    """The crawldb, however it is packed."""
    got = "".join(crawldb_text(pages_of(_crawldb(name), CrawlDatum)))
    assert got == _expected("crawldb-dump.txt")


def test_readdb_dump_before_dedup() -> None:
    """Another crawldb."""
    got = "".join(crawldb_text(pages_of(_crawldb("crawldb-before-dedup"), CrawlDatum)))
    assert got == _expected("crawldb-before-dedup-dump.txt")


@pytest.mark.parametrize("name", ["crawldb", "crawldb-before-dedup", "crawldb-large"])
def test_readdb_dump_as_csv(name: str) -> None:
    """Intervals as floats, a missing signature as null, metadata in one cell.

    (Java writes the low byte of each character, whatever the character.)
    """
    got = "".join(crawldb_csv(pages_of(_crawldb(name), CrawlDatum)))
    written = got.encode("utf-16-le", "surrogatepass")[::2]
    assert written == (GOLDEN / f"expected-{name}-dump.csv").read_bytes()


def test_readdb_dump_as_json() -> None:
    """A line per page."""
    got = "".join(crawldb_json(pages_of(_crawldb("crawldb"), CrawlDatum)))
    assert got == _expected("crawldb-dump.jsonl")


def test_json_is_ascii_and_numbers_are_javas() -> None:
    """What no ASCII can say is escaped with capital digits; small numbers have Java's E."""
    metadata = MapWritable.of({"é": "\\ué\n", "interval": FloatWritable(1e10)})
    page = ("http://a/日", CrawlDatum(score=nearest_float(1e-5), metadata=metadata))
    (line,) = crawldb_json(iter([page]))
    assert line.startswith('{"url": "http://a/\\u65E5", ')
    assert '"score": 1.0E-5, ' in line
    assert line.endswith('{"interval": 1.0E10, "\\u00E9": "\\\\u\\u00E9\\n"}}\n')
    assert json.loads(line)["metadata"] == {"é": "\\ué\n", "interval": 1e10}


@pytest.mark.parametrize("part", [0, 1, 2])
def test_parts_hold_what_hadoop_dealt_out(part: int) -> None:
    """Each of three parts has its URLs, in order."""
    from filbert.nutch.sequence_file import SequenceFile
    from filbert.nutch.simple import Text

    path = GOLDEN / "crawldb-3parts" / "current" / f"part-r-{part:05d}" / "data"
    with SequenceFile(path) as file:
        got = [f'"{Text.from_bytes(record.key).value}"' for record in file]
    assert got == _expected(f"crawldb-3parts-urls-part{part}.txt").splitlines()


@pytest.mark.parametrize("name", ["linkdb", "linkdb-external"])
def test_readlinkdb_dump(name: str) -> None:
    """Links stand in the order of a hash set that was as large as the largest record before."""
    got = "".join(linkdb_text(pages_of(GOLDEN / name / "current", Inlinks)))
    assert got == _expected(f"{name}-dump.txt")


@pytest.mark.parametrize("name", ["20261130202918", "20261130202958", "20261130203037"])
def test_readseg_dump(name: str) -> None:
    """All parts of a segment by URL, records of one URL in the order of Hadoop's sort and merge."""
    got = "".join(segment_text(GOLDEN / "segments" / name))
    assert _without_noise(got) == _without_noise(_expected(f"segment-{name}-dump.txt"))


def test_readseg_of_more_than_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted on disk, the same sections stand under the same URLs."""
    monkeypatch.setattr(texts, "HELD", 10)
    segment = GOLDEN / "segments" / "20261130202958"
    got = _without_noise("".join(segment_text(segment)))
    wanted = _without_noise(_expected("segment-20261130202958-dump.txt"))
    assert sorted(got.splitlines()) == sorted(wanted.splitlines())
    heads = re.compile(r"^URL:: .*$", re.MULTILINE)
    assert heads.findall(got) == heads.findall(wanted)


@pytest.mark.parametrize("count", [0, 1, 12, 13, 40, 1_000])
@pytest.mark.parametrize("kinds", [1, 3, 10_000])
def test_hadoops_sort_sorts(count: int, kinds: int) -> None:
    """Whatever becomes of equal keys, unequal ones are in order and nothing is lost."""
    items = [(n * 7919 % 104_729 % kinds, n) for n in range(count)]
    got = map_sorted(items, lambda item: b"%05d" % item[0])
    assert [kind for kind, _ in got] == sorted(kind for kind, _ in items)
    assert sorted(got) == sorted(items)


def test_hadoops_sort_gives_up_on_what_it_divides_badly() -> None:
    """A sequence that is made to be divided badly is sorted by a heap."""
    organ = [*range(3_000), *range(3_000, 0, -1)]
    got = map_sorted(organ, lambda item: b"%05d" % item)
    assert got == sorted(organ)


def test_hadoops_merge_merges() -> None:
    """Runs of any length, in order."""
    runs = [list(range(n, 100, 7)) for n in range(7)] + [[], [5]]
    got = list(merged([(len(run), run) for run in runs], lambda item: b"%03d" % item))
    assert got == sorted(item for run in runs for item in run)
