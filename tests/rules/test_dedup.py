"""Which of several equal pages stays: held beside Nutch's DeduplicationJob."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from filbert.engine.base import Collect, Files, Query
from filbert.engine.local import LocalEngine
from filbert.errors import UserError
from filbert.model.schemas import CRAWLDB
from filbert.rules.dedup import duplicates
from filbert.rules.urls import place_of
from filbert.settings.dedup import DedupSettings
from filbert.settings.engine import EngineSettings
from filbert.store.parquet import ParquetSink
from filbert.testing.paper_crawl import page_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

Entry = dict[str, Any]
KNOWN = ("score", "fetchTime", "urlLength", "httpsOverHttp")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    """DuckDB."""
    with LocalEngine(EngineSettings(threads=1), tmp_path_factory.mktemp("spill")) as engine:
        yield engine


def cases(repository: Path) -> list[dict[str, Any]]:
    """The recorded cases."""
    with gzip.open(repository / "tests/data/golden/dedup.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def order_of(case: dict[str, Any], *, trimmed: bool = True) -> tuple[str, ...]:
    """The criteria. Nutch passes over a name that it does not know, and over one after a blank."""
    names = case["compare_order"].split(",")
    return tuple(n for n in ([n.strip() for n in names] if trimmed else names) if n in KNOWN)


def group_of(entry: Entry, mode: str) -> tuple[str, str]:
    """What pages are compared by."""
    place = place_of(entry["url"])
    return entry["signature"], {"none": "", "host": place.host, "domain": place.domain}[mode]


def length(url: str) -> int:
    """Length after decoding; of what cannot be decoded, as it is."""
    if re.search(r"%(?![0-9A-Fa-f]{2})", url):
        return len(url)
    try:
        return len(unquote(url, errors="strict"))
    except UnicodeDecodeError:
        return len(url)


def loser(old: Entry, new: Entry, order: Sequence[str]) -> Entry | None:
    """Nutch's comparison of two pages; None: undecided."""
    for name in order:
        if name == "httpsOverHttp":
            schemes = [page["url"].partition("://") for page in (old, new)]
            if schemes[0][2] == schemes[1][2] and schemes[0][0] != schemes[1][0]:
                return old if schemes[0][0] == "http" else new
            continue
        values = {
            "score": [page["score"] for page in (old, new)],
            "fetchTime": [page["fetch_time"] for page in (old, new)],
            "urlLength": [-length(page["url"]) for page in (old, new)],
        }[name]
        if values[0] != values[1]:
            return old if values[0] < values[1] else new
    return None


def fold(entries: Iterable[Entry], order: Sequence[str], mode: str) -> set[str]:
    """Nutch's reducer: a fold over a group's pages in the order in which they come."""
    marked: set[str] = set()
    best: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        if entry["status"] not in {2, 6} or not entry["signature"]:
            continue
        group = group_of(entry, mode)
        old = best.setdefault(group, entry)
        if old is entry:
            continue
        lost = loser(old, entry, order)
        if lost is not None:
            marked.add(lost["url"])
        if lost is old:
            best[group] = entry
    return marked


def sieve(engine: LocalEngine, case: dict[str, Any], folder: Path) -> set[str]:
    """What our query marks."""
    with ParquetSink(CRAWLDB, folder, "crawldb") as sink:
        for entry in case["entries"]:
            signature = entry["signature"]
            values = {name: entry[name] for name in ("status", "score", "fetch_time")}
            values["signature"] = bytes.fromhex(signature) if signature else None
            sink.append(page_row("crawldb", entry["url"], **values))
    view = Files(schema=CRAWLDB, paths=tuple(str(file.path) for file in sink.files))
    settings = DedupSettings(group=case["group_mode"], compare_order=order_of(case))
    query = Query(name="dedup", sql=duplicates(settings))
    table = engine.execute(query, {"crawldb": view}, Collect()).table
    assert table is not None
    return set(table["url"].to_pylist())


def test_the_fold_is_nutchs(repository: Path) -> None:
    """The fold above gives what Nutch's reducer gave, in every recorded case."""
    for case in cases(repository):
        got = fold(case["entries"], order_of(case, trimmed=False), case["group_mode"])

        assert got == set(case["result"]["duplicates"])


@pytest.mark.slow
def test_we_mark_what_nutch_marks_in_every_order(
    repository: Path, engine: LocalEngine, tmp_path: Path
) -> None:
    """Where the order of the pages does not decide, we agree; it decides between equals only."""
    counts: Counter[bool] = Counter()
    for number, case in enumerate(cases(repository)):
        order, mode = order_of(case), case["group_mode"]
        orders = [list(case["entries"]) for _ in range(60)]
        for seed, entries in enumerate(orders[1:]):
            Random(seed).shuffle(entries)
        results = [fold(entries, order, mode) for entries in orders]
        got = sieve(engine, case, tmp_path / str(number))
        always, ever = set.intersection(*results), set.union(*results)
        counts[always == ever] += 1

        assert always <= got <= ever
    assert counts[True] > 50


@pytest.mark.parametrize(
    ("order", "what"),
    [
        (("score", "fetchTime"), "urlLength is missing"),
        (("score", "fetchTime", "urlLength", "score"), "stands twice"),
        (("score", "fetchtime", "urlLength"), "no criterion 'fetchtime'"),
    ],
)
def test_a_wrong_order_is_refused(order: tuple[str, ...], what: str) -> None:
    """The criteria of Nutch must all be there, once."""
    with pytest.raises(UserError, match=what):
        duplicates(DedupSettings(compare_order=order))
