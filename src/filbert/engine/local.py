"""The local engine: DuckDB in this process for queries, worker processes for page work.

Guarantee: keeps to the memory of `engine.memory_limit_mb` by spilling, leaves no file behind
after an error, and starts nothing before it is needed.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Self

from filbert.engine.base import Collect, Written
from filbert.engine.pool import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from filbert.engine.base import Files, PageTask, Part, PartResult, Query, Target
    from filbert.settings.engine import EngineSettings

__all__ = ["LocalEngine", "cores"]


class LocalEngine:
    """Runs queries on DuckDB and page work in processes. A context manager.

    Args:
        settings: Memory, threads, processes, spill folder.
        scratch_dir: Where queries spill unless the settings name a folder.
    """

    def __init__(self, settings: EngineSettings, scratch_dir: Path) -> None:
        self._settings = settings
        base = Path(settings.spill_dir) if settings.spill_dir else scratch_dir
        self._spill_dir = base / f"spill-{os.getpid()}"
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._workers = Workers(settings.processes or cores())

    def __enter__(self) -> Self:
        """Return the engine; DuckDB is started by the first query."""
        return self

    def __exit__(self, *exc: object) -> None:
        """End the workers, close DuckDB and remove what it spilled."""
        self._workers.__exit__(*exc)
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        shutil.rmtree(self._spill_dir, ignore_errors=True)

    def execute(self, query: Query, views: Mapping[str, Files], into: Target) -> Written:
        """Run a query over `views`; see `engine.base.Engine`."""
        from filbert.engine import duck

        connection = self._connect()
        with duck.translated(query.name, self._settings.memory_limit_mb):
            try:
                for name, files in views.items():
                    duck.bind(connection, name, files)
                if isinstance(into, Collect):
                    return Written(table=connection.sql(query.sql).to_arrow_table())
                written = duck.copy(connection, query.sql, into)
                return Written(files=(written,) if written else ())
            finally:
                for name in views:
                    connection.execute(f'drop view if exists temp."{name}"')

    def run(self, task: PageTask, parts: Sequence[Part]) -> Iterator[PartResult]:
        """Run page work in processes; see `engine.base.Engine`.

        With `engine.processes = 1` the parts run one by one in this process.
        """
        return self._workers.run(task, parts)

    def _connect(self) -> duckdb.DuckDBPyConnection:
        from filbert.engine import duck

        if self._connection is None:
            self._connection = duck.connect(
                memory_limit_mb=self._settings.memory_limit_mb,
                threads=self._settings.threads or cores(),
                spill_dir=self._spill_dir,
            )
        return self._connection


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))
