"""`filbert sql`: any question, in SQL, over the views of a crawl folder.

Guarantee: one query and nothing else; a statement that would write, attach or set is refused
before it runs. Rows stream.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from filbert.engine.duck import names_a_damaged_file, translated
from filbert.errors import UserError
from filbert.reports.catalog import VIEWS
from filbert.reports.views import open_views

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder

__all__ = ["Rows", "ask", "one_query"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """An answer: its columns, and its rows as they come."""

    columns: tuple[str, ...]
    rows: Iterator[dict[str, Any]]


@contextlib.contextmanager
def ask(crawl: CrawlFolder, text: str, settings: EngineSettings) -> Iterator[Rows]:
    """Run one query over the views.

    Raises:
        UserError: It is not one query, or the query is wrong.
        EngineError: It needs more memory or disk than there is.
    """
    query = one_query(text)
    with open_views(crawl, settings) as connection:
        yield answer(connection, query, settings)


def one_query(text: str) -> str:
    """Return the text if it is one query.

    Raises:
        UserError: It is none, several, or something that is no query.
    """
    try:
        statements = duckdb.extract_statements(text)
    except duckdb.Error as error:
        raise _wrong(error) from error
    if len(statements) != 1:
        raise UserError(
            f"{len(statements)} statements were given; one query is right",
            hint="such as: select status, count(*) from crawldb group by status",
        )
    kind = statements[0].type
    if kind != duckdb.StatementType.SELECT:
        raise UserError(
            f"`filbert sql` only reads: {kind.name} is no query",
            hint="a query begins with select, from, with, values, describe or summarize",
        )
    return text


def answer(connection: duckdb.DuckDBPyConnection, query: str, settings: EngineSettings) -> Rows:
    """Run a query on an open connection.

    Raises:
        UserError: The query is wrong.
    """
    with _explained(settings):
        connection.execute(query)
        columns = _unique([str(column[0]) for column in connection.description or ()])
    return Rows(columns=columns, rows=_stream(connection, columns, settings))


def _stream(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[str], settings: EngineSettings
) -> Iterator[dict[str, Any]]:
    while True:
        with _explained(settings):
            batch = connection.fetchmany(1000)
        if not batch:
            return
        for row in batch:
            yield dict(zip(columns, row, strict=True))


@contextlib.contextmanager
def _explained(settings: EngineSettings) -> Iterator[None]:
    with translated("of `filbert sql`", settings.memory_limit_mb):
        try:
            yield
        except (duckdb.OutOfMemoryException, duckdb.InterruptException, duckdb.IOException):
            raise
        except duckdb.PermissionException as error:
            raise UserError(
                "the query names a file; `filbert sql` reads the views alone",
                hint=f"the views are {', '.join(VIEWS)}",
            ) from error
        except duckdb.Error as error:
            if names_a_damaged_file(error):
                raise
            raise _wrong(error) from error


def _wrong(error: duckdb.Error) -> UserError:
    return UserError(
        f"the query is wrong: {error}",
        hint=f"the views are {', '.join(VIEWS)}; `filbert sql --help` lists their columns",
    )


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names with a number behind each that was there before."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return tuple(unique)
