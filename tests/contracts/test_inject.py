"""inject's queries give the same rows on DuckDB and on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.base import Files
from filbert.model.schemas import CRAWLDB, ORIGINS
from filbert.rules.inject import SEEDS, Injection
from filbert.rules.reapply import MOVED, moved, reapplied
from filbert.rules.urls import place_of, url_hash
from filbert.settings import Settings
from filbert.settings.inject import InjectSettings
from filbert.settings.update import UpdateSettings
from filbert.steps.url_chain import VERDICTS
from filbert.store.parquet import ParquetSink
from filbert.testing.paper_crawl import NOW, page_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.model.schemas import TableSchema
    from tests.contracts.conftest import SameRows

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]


def files_of(schema: TableSchema, rows: Sequence[Mapping[str, Any]], folder: Path) -> Files:
    """The rows as Parquet."""
    with ParquetSink(schema, folder, schema.name) as sink:
        sink.extend(rows)
    return Files(schema=schema, paths=tuple(str(file.path) for file in sink.files))


def seed(url: str, ordinal: int, **said: Any) -> dict[str, Any]:
    """A row of the view `seeds`."""
    host, domain = place_of(url)
    plain = {"bucket": 0, "host": host, "domain": domain, "metadata": {}}
    return {"url": url, "ordinal": ordinal, "origin": f"s:{ordinal}", **plain, **said}


SEED_ROWS = [
    seed("http://a.org/", 1, score=2.5, metadata={"k": "v"}),
    seed("http://a.org/", 2, fetch_interval=60, fixed_interval=60.0, metadata={"k": "w"}),
    seed("http://b.org/", 3, depth=1, max_depth=3, metadata={"x": "y"}),
    seed("http://c.org/", 4, score=7.0),
    seed("http://gone.org/", 5),
]
PAGES = [
    page_row("crawldb", "http://b.org/", status=2, metadata={"a": "b", "x": "z"}, signature=b"s"),
    page_row("crawldb", "http://c.org/", status=2, score=3.0, fixed_interval=5.0),
    page_row("crawldb", "http://gone.org/", status=3),
    page_row("crawldb", "http://old.org/", status=3, metadata_types={"n": "LongWritable"}),
]


@pytest.mark.parametrize("purge", [False, True])
@pytest.mark.parametrize("how", [{}, {"overwrite": True}, {"update": True}])
def test_seeds_into_a_bucket(
    how: dict[str, bool], tmp_path: Path, same_rows: SameRows, *, purge: bool
) -> None:
    """New, overwritten, updated and purged pages; the counts, and the origins."""
    settings = Settings(inject=InjectSettings(**how), update=UpdateSettings(purge_404=purge))
    injection = Injection(settings=settings, injected=("score_in",), now=NOW, seq=4)
    views = {
        "crawldb": files_of(CRAWLDB, PAGES, tmp_path),
        "seeds": files_of(SEEDS, SEED_ROWS, tmp_path),
    }

    assert len(same_rows(injection.merge(), views)) == (4 if purge else 5)
    same_rows(injection.count(), views)
    same_rows(injection.purged(), {"crawldb": views["crawldb"]})
    origin = [page_row("origins", "http://c.org/", first_seen=NOW, origin="link")]
    views = {"seeds": views["seeds"], "origins": files_of(ORIGINS, origin, tmp_path)}
    assert len(same_rows(injection.origins(), views)) == 3


def test_chains_applied_again(tmp_path: Path, same_rows: SameRows) -> None:
    """Pages dropped, moved to other buckets, and merged there."""
    target = "http://c.org/"
    host, domain = place_of(target)
    verdicts: list[dict[str, Any]] = [
        {"url": "http://old.org/", "reason": "regex"},
        {
            "url": "http://b.org/",
            "target": target,
            "host": host,
            "domain": domain,
            "target_hash": url_hash(target),
        },
    ]
    views = {
        "crawldb": files_of(CRAWLDB, PAGES, tmp_path),
        "verdicts": files_of(VERDICTS, verdicts, tmp_path),
    }
    rows = same_rows(moved(4), views)
    views["moved"] = files_of(MOVED, rows, tmp_path)

    assert [row["url"] for row in rows] == [target]
    assert len(same_rows(reapplied(url_hash(target) % 4), views)) == 2
