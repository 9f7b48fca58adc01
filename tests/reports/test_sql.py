"""Questions in SQL: the views, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import UserError
from filbert.model.schemas import TABLES
from filbert.reports.catalog import VIEWS, describe_views, text_columns
from filbert.reports.sql import ask
from filbert.store.crawl import CrawlFolder
from filbert.testing.paper_crawl import NOW

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Grove  # type: ignore[import-not-found]
    from filbert.settings.engine import EngineSettings

OAK, HAZEL, ELM = "http://oak.test/", "http://hazel.test/nuts", "http://elm.test/"


def rows(grove: Grove, engine: EngineSettings, sql: str) -> list[tuple[Any, ...]]:
    """Return the answer."""
    with ask(grove.folder, sql, engine) as answer:
        return [tuple(row.values()) for row in answer.rows]


def test_statuses_have_names_and_times_are_timestamps(grove: Grove, engine: EngineSettings) -> None:
    """In the crawldb: Nutch's name, the code beside it, UTC timestamps, fingerprints as hex."""
    sql = "select status, status_code, fetch_time, signature, metadata from crawldb order by url"
    now = datetime.fromtimestamp(NOW / 1000, tz=UTC).replace(tzinfo=None)
    assert rows(grove, engine, sql) == [
        ("db_unfetched", 1, now, None, {"k": "v"}),
        ("db_gone", 3, now, None, None),
        ("db_fetched", 2, now.replace(month=12, day=30), "abcd", None),
    ]


def test_fetches_name_their_segment(grove: Grove, engine: EngineSettings) -> None:
    """Fetch status and protocol status by name, over all segments."""
    sql = "select url, status, protocol_status, segment from fetches order by url"
    assert rows(grove, engine, sql) == [
        (HAZEL, "fetch_gone", "notfound", grove.segment.name),
        (OAK, "fetch_success", "0", grove.segment.name),
    ]


def test_pages_have_their_text(grove: Grove, engine: EngineSettings) -> None:
    """parse_data and parse_text as one view."""
    sql = "select url, parse_status, parse_reason, title, text, segment from pages"
    assert rows(grove, engine, sql) == [
        (OAK, "success", "ok", "Oak", "An oak.", grove.segment.name)
    ]


def test_links_are_links(grove: Grove, engine: EngineSettings) -> None:
    """Rows of crawl_parse that are no links (signatures, adjustments) are not shown."""
    assert rows(grove, engine, "select from_url, url, anchor from links") == [(OAK, ELM, "elm")]
    assert rows(grove, engine, "select from_url, url, anchor from inlinks") == [(OAK, ELM, "elm")]
    assert rows(grove, engine, "select url, origin from origins") == [(ELM, "link")]


@pytest.mark.parametrize("name", list(VIEWS))
def test_every_view_is_there_with_or_without_rows(
    name: str, grove: Grove, engine: EngineSettings, tmp_path: Path
) -> None:
    """An empty crawl has the same views with the same columns and types as a full one."""
    empty = CrawlFolder.create(tmp_path / "empty", clock=grove.paper.clock, buckets=4)
    described = []
    for folder in (grove.folder, empty):
        with ask(folder, f"describe {name}", engine) as answer:
            described.append([(r["column_name"], r["column_type"].lower()) for r in answer.rows])
    view = VIEWS[name]
    expected = [(c.name, c.type) for c in (*view.columns, *text_columns(view))]
    assert described == [expected, expected]


def test_every_table_is_in_a_view() -> None:
    """No table but the fetch list is hidden; each view has its line and columns in the help."""
    shown = {view.table.name for view in VIEWS.values()} | {"parse_text"}
    assert set(TABLES) - shown == {"crawl_generate"}
    text = describe_views()
    assert all(f"{name}: " in text for name in VIEWS)
    assert "  fetch_time (timestamp): When the page is due next." in text


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("drop view crawldb", "only reads: DROP"),
        ("insert into crawldb select * from crawldb", "only reads: INSERT"),
        ("copy crawldb to '/tmp/x'", "only reads: COPY"),
        ("set threads = 1", "only reads: SET"),
        ("attach '/tmp/x.db'", "only reads: ATTACH"),
        ("explain analyze copy crawldb to '/tmp/x'", "only reads: EXPLAIN"),
        ("select 1; drop view crawldb", "2 statements were given"),
        ("", "0 statements were given"),
        ("select from", "the query is wrong"),
        ("select * from crawdb", r'Did you mean "crawldb"'),
        ("select * from read_text('/etc/hostname')", "names a file"),
        ("select * from '/etc/hostname.parquet'", "names a file"),
    ],
)
def test_what_is_no_question_is_refused(
    sql: str, message: str, grove: Grove, engine: EngineSettings
) -> None:
    """Nothing can be written or set, and no other file read; the error says what is right."""
    with pytest.raises(UserError, match=message):
        rows(grove, engine, sql)


def test_columns_of_one_name_are_told_apart(grove: Grove, engine: EngineSettings) -> None:
    """A row is a dict: no column may hide another."""
    with ask(grove.folder, "select 1 as a, 2 as a, 3 as b", engine) as answer:
        assert list(answer.rows) == [{"a": 1, "a_2": 2, "b": 3}]
