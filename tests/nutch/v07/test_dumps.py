"""Every record of every file of the real programs, held against what their own classes read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from filbert.nutch.sequence_file import SequenceFile
from filbert.nutch.v07.fetched import FetcherOutput, FetcherOutput06
from filbert.nutch.v07.jsonable import jsonable
from filbert.nutch.v07.names import record_class
from filbert.nutch.v07.parsed import ParseData, ParseData06

if TYPE_CHECKING:
    from filbert.nutch.writable import Writable

DATA = Path(__file__).parents[2] / "data" / "nutch07"
DUMPS = sorted(path for path in DATA.glob("*/dump/**/*.json") if path.name != "stats.json")
OF_06: dict[type[Writable], type[Writable]] = {
    FetcherOutput: FetcherOutput06,
    ParseData: ParseData06,
}


def _id(path: Path) -> str:
    return str(path.relative_to(DATA).with_suffix("")).replace("/dump/", " ")


def _read(name: str, era: str, data: bytes) -> object:
    cls = record_class(name)
    assert cls is not None
    cls = OF_06.get(cls, cls) if era == "nutch06" else cls
    return jsonable(cls.from_bytes(data))


def test_no_dump_is_lost() -> None:
    """All that lie beside the files."""
    assert len(DUMPS) == 94


@pytest.mark.parametrize("dump", DUMPS, ids=_id)
def test_each_record_is_what_the_real_classes_read(dump: Path) -> None:
    """Header, place, length and every field of every record."""
    era = dump.relative_to(DATA).parts[0]
    told: dict[str, Any] = json.loads(dump.read_text(encoding="utf-8"))
    with SequenceFile(DATA / era / dump.relative_to(DATA / era / "dump").with_suffix("")) as file:
        header = file.header
        got = [
            {
                "pos": record.position,
                **({"sync": True} if record.synced else {}),
                "length": len(record.key) + len(record.value),
                "keyLength": len(record.key),
                "key": _read(header.key_class, era, record.key),
                "value": _read(header.value_class, era, record.value),
            }
            for record in file
        ]
    assert header.key_class == told["header"]["keyClass"]
    assert header.value_class == told["header"]["valueClass"]
    assert header.sync.hex() == told["header"]["sync_hex"]
    assert header.length == told["header"]["headerLength"]
    assert got == told["records"]
