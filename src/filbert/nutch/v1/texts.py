"""What Nutch's own readers print: `readdb -dump`, `readlinkdb -dump`, `readseg -dump`.

Guarantee: line for line, orders included that only Java's hash tables and Hadoop's sort explain, so
that a diff with Nutch's own output tells the truth. Times are UTC. Memory for the records of one
URL, and for up to `HELD` of a part that is not in order; with more, records of one URL in that part
stand as they lie in it (Hadoop would sort several times then, too).
Source: Nutch 1.22 `crawl.CrawlDbReader`, `crawl.LinkDbReader`, `segment.SegmentReader`.
"""

from __future__ import annotations

import json
import re
import tempfile
from itertools import chain, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

from filbert.nutch.data import CorruptDataError
from filbert.nutch.hadoop_order import map_sorted, merged
from filbert.nutch.map_file import DATA
from filbert.nutch.parts import part_files, read_part
from filbert.nutch.sorter import sorted_records
from filbert.nutch.v1 import names
from filbert.nutch.v1.folders import RecordFolder, key_reader
from filbert.nutch.v1.java_text import date_text, float_text
from filbert.nutch.v1.links import Inlinks, InlinksOrder
from filbert.nutch.v1.map_writable import java_string

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from filbert.nutch.damage import Damage
    from filbert.nutch.sequence_file import Header, Record
    from filbert.nutch.v1.crawl_datum import CrawlDatum
    from filbert.nutch.writable import Writable

__all__ = [
    "HELD",
    "crawldb_csv",
    "crawldb_json",
    "crawldb_text",
    "linkdb_text",
    "pages_of",
    "segment_text",
]

_Page = TypeVar("_Page", bound="Writable")
_SEGMENT_PARTS = (
    "crawl_generate",
    "crawl_fetch",
    "crawl_parse",
    "content",
    "parse_data",
    "parse_text",
)
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
HELD: Final = 200_000
"""Records of an unordered part of a segment that are held, and sorted as Hadoop does."""

_CSV_HEAD = (
    "Url,Status code,Status name,Fetch Time,Modified Time,Retries since fetch,"
    "Retry interval seconds,Retry interval days,Score,Signature,Metadata\n"
)


def crawldb_text(pages: Iterator[tuple[str, CrawlDatum]]) -> Iterator[str]:
    """Yield what `readdb -dump` prints of each page."""
    for url, datum in pages:
        yield f"{url}\t{datum}\n"


def crawldb_csv(pages: Iterator[tuple[str, CrawlDatum]]) -> Iterator[str]:
    """Yield what `readdb -dump -format csv` prints: a head, then a line per page."""
    yield _CSV_HEAD
    for url, datum in pages:
        metadata = "".join(
            f"{java_string(key)}:{java_string(value)}|||" for key, value in datum.metadata.items()
        ).replace('"', '""')
        interval = datum.fetch_interval
        yield (
            f'"{url}",{datum.status},"{datum.status_name}",{date_text(datum.fetch_time)},'
            f"{date_text(datum.modified_time)},{datum.retries},{float_text(float(interval))},"
            f"{float_text(float(datum.interval_days))},{float_text(datum.score)},"
            f'"{_hex(datum)}","{metadata}"\n'
        )


def crawldb_json(pages: Iterator[tuple[str, CrawlDatum]]) -> Iterator[str]:
    """Yield what `readdb -dump -format json` prints: a line per page."""
    for url, datum in pages:
        metadata = ", ".join(
            f"{_json_string(java_string(key))}: {_json_value(value)}"
            for key, value in datum.metadata.items()
        )
        yield (
            f'{{"url": {_json_string(url)}, "statusCode": {datum.status}, '
            f'"statusName": "{datum.status_name}", "fetchTime": "{date_text(datum.fetch_time)}", '
            f'"modifiedTime": "{date_text(datum.modified_time)}", '
            f'"retriesSinceFetch": {datum.retries}, "retryIntervalSeconds": '
            f'{datum.fetch_interval}, "retryIntervalDays": {datum.interval_days}, '
            f'"score": {_json_number(float_text(datum.score))}, "signature": "{_hex(datum)}", '
            f'"metadata": {{{metadata}}}}}\n'
        )


def _json_value(value: Writable) -> str:
    number = getattr(value, "value", None)
    if isinstance(number, (int, float)):
        return _json_number(java_string(value))
    return _json_string(java_string(value))


def _json_number(text: str) -> str:
    """Return a number; what JSON cannot say as a number is a string."""
    return text if text[-1].isdigit() else f'"{text}"'


def _json_string(text: str) -> str:
    """Return a string in ASCII, as Java's writer has it: hexadecimal digits in capitals."""
    return _ESCAPE.sub(lambda match: match[0][:2] + match[0][2:].upper(), json.dumps(text))


def _hex(datum: CrawlDatum) -> str:
    return "null" if datum.signature is None else datum.signature.hex()


def linkdb_text(pages: Iterator[tuple[str, Inlinks]]) -> Iterator[str]:
    """Yield what `readlinkdb -dump` prints of each page."""
    order = InlinksOrder()
    for url, inlinks in pages:
        links = "".join(f" {link}\n" for link in order.of(inlinks))
        yield f"{url}\tInlinks:\n{links}\n"


class _Record(NamedTuple):
    """A record of some part of a segment; the URL is its UTF-8, which is what Hadoop compares."""

    url: bytes
    value: bytes
    class_name: str

    @property
    def size(self) -> int:
        """Bytes in the output of a map task: lengths, and the class in front of the value."""
        return len(self.url) + len(self.value) + 4


def segment_text(segment: Path, *, damage: Damage | None = None) -> Iterator[str]:
    """Yield what `readseg -dump` prints of each URL of a segment, all parts together."""
    with tempfile.TemporaryDirectory(prefix="filbert-readseg-") as spill:
        runs = []
        for part in _SEGMENT_PARTS:
            for path in part_files(segment / part):
                size = sum(record.size for record in _read(path, damage))
                found = _read(path, damage)
                ordered = found if path.name == DATA else _sorted(found, Path(spill))
                runs.append((size, ordered))
        records_ = merged(runs, lambda record: record.url)
        for number, (url, several) in enumerate(groupby(records_, lambda record: record.url)):
            shown = url.decode("utf-8", "surrogateescape")
            said = [f"\nRecno:: {number}\nURL:: {shown}\n"]
            said += [_section(record) for record in several]
            yield "".join(said) + "\n"


def _read(path: Path, damage: Damage | None) -> Iterator[_Record]:
    """Yield the records of a part; where damage is left out, those that can be read."""

    def reader(header: Header) -> Callable[[Record], _Record]:
        name, url_of = header.value_class, key_reader(header.key_class)
        cls = names.record_class(name) if damage is not None else None

        def make(record: Record) -> _Record:
            if cls is not None:
                cls.from_bytes(record.value)
            return _Record(url_of(record.key), record.value, name)

        return make

    return read_part(path, reader, damage=damage)


def _sorted(found: Iterator[_Record], spill: Path) -> Iterator[_Record]:
    """Yield records by URL: as Hadoop sorts them, if they are not too many for memory."""
    first = list(islice(found, HELD + 1))
    if len(first) <= HELD:
        yield from map_sorted(first, lambda record: record.url)
    else:
        yield from sorted_records(chain(first, found), lambda record: record.url, spill)


def _section(record: _Record) -> str:
    name = record.class_name.rpartition(".")[2]
    return f"\n{name}::\n{_said(record)}"


def _said(record: _Record) -> str:
    cls = names.record_class(record.class_name)
    if cls is None:
        return record.value.hex(" ")
    try:
        return str(cls.from_bytes(record.value))
    except CorruptDataError as error:
        url = record.url.decode("utf-8", "replace")
        raise CorruptDataError(f"the {cls.__name__} of {url}: {error.message}") from error


def pages_of(
    folder: Path, cls: type[_Page], *, damage: Damage | None = None
) -> Iterator[tuple[str, _Page]]:
    """Yield the URLs and records of a folder of parts."""
    with RecordFolder(folder, cls, damage=damage) as parts:
        for entry in parts:
            yield entry.url, cast("_Page", entry.record)
