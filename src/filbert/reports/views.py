"""The views of a crawl folder, bound once for sql, readdb, diff, explain and the dashboard.

Guarantee: read-only. The connection can open the files of the views and no others, load nothing
and change no setting; what it spills goes to a folder of its own that is removed.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from filbert.engine.duck import connect, no_rows, parquet, quoted, translated
from filbert.engine.local import cores
from filbert.reports.catalog import VIEWS, text_columns
from filbert.rules.urls import url_hash
from filbert.store.layout import SEGMENT_TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import duckdb

    from filbert.reports.catalog import View
    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder

__all__ = ["open_files", "open_views", "view_sql"]


@contextlib.contextmanager
def open_views(
    crawl: CrawlFolder,
    settings: EngineSettings,
    *,
    names: Iterable[str] = tuple(VIEWS),
    version: int | None = None,
    url: str | None = None,
    output: Path | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection that has the views.

    Args:
        crawl: The crawl folder.
        settings: Memory and threads.
        names: Which views.
        version: Of the crawldb; None: the newest. Other views are always the newest.
        url: Only files of crawldb and linkdb that may hold this key; the rows stay unfiltered.
        output: A file that may be written.
    """
    bound = {}
    for name in names:
        view = VIEWS[name]
        paths = _paths(crawl, view.table.name, version, url)
        texts = _paths(crawl, view.text_of.name) if view.text_of else ()
        bound[name] = (view_sql(view, paths, texts), (*paths, *texts))
    files = [path for _, paths in bound.values() for path in paths]
    with open_files(settings, [*files, *([str(output.absolute())] if output else [])]) as opened:
        for name, (sql, _) in bound.items():
            opened.execute(f'create temp view "{name}" as {sql}')
        yield opened


@contextlib.contextmanager
def open_files(
    settings: EngineSettings, paths: Sequence[str]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection that can open these files and no others."""
    with tempfile.TemporaryDirectory(prefix="filbert-") as spill:
        connection = connect(
            memory_limit_mb=settings.memory_limit_mb,
            threads=settings.threads or cores(),
            spill_dir=Path(spill),
        )
        with contextlib.closing(connection), translated("of the views", settings.memory_limit_mb):
            listed = ", ".join(quoted(path) for path in paths)
            connection.execute(f"set allowed_paths = [{listed}]")
            connection.execute("set enable_external_access = false")
            connection.execute("set lock_configuration = true")
            yield connection


def view_sql(view: View, paths: Sequence[str], text_paths: Sequence[str] = ()) -> str:
    """Return the SELECT behind a view over these files."""
    texts = text_columns(view)
    if not paths:
        return no_rows((column.name, column.type) for column in (*view.columns, *texts))
    shown = ", ".join(f'{column.sql} as "{column.name}"' for column in view.columns)
    where = f" where {view.where}" if view.where else ""
    rows = f"select {shown} from {parquet(paths, filename=True)}{where}"
    if not texts:
        return rows
    if not text_paths:
        nothing = ", ".join(f'cast(null as {c.type}) as "{c.name}"' for c in texts)
        return f"select *, {nothing} from ({rows})"
    names = ", ".join(f't."{column.name}"' for column in texts)
    segment = next(column.sql for column in view.columns if column.name == "segment")
    return (
        f"select p.*, {names} from ({rows}) as p left join (select *, {segment} as segment from "
        f"{parquet(text_paths, filename=True)}) as t on p.url = t.url and p.segment = t.segment"
    )


def _paths(
    crawl: CrawlFolder, name: str, version: int | None = None, url: str | None = None
) -> tuple[str, ...]:
    if name in SEGMENT_TABLES:
        return tuple(
            path for segment in crawl.segments() for path in segment.table(name).files().paths
        )
    table = crawl.table(name)
    bucket = url_hash(url) % table.buckets if url is not None and table.buckets > 1 else None
    return table.files(version if name == "crawldb" else None, bucket=bucket).paths
