"""`filbert diff`: what changed in the crawldb between two versions.

Guarantee: every URL whose row differs is counted under each kind of change that it shows, with the
first few URLs, in order, as samples. Files that both versions share are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.reports.catalog import VIEWS
from filbert.reports.views import open_files, view_sql

if TYPE_CHECKING:
    from filbert.settings.engine import EngineSettings
    from filbert.store.crawl import CrawlFolder
    from filbert.store.tables import CommitRecord

__all__ = ["Change", "CrawldbDiff", "diff"]

_SAMPLES = 3
_BOTH = "o.url is not null and n.url is not null"

# Kind of change, the condition that shows it, and whether statuses tell more of it.
_KINDS = (
    ("new", "o.url is null", True),
    ("removed", "n.url is null", True),
    ("status", "o.status <> n.status", True),
    (
        "first content",
        "o.url is not null and o.signature is null and n.signature is not null",
        False,
    ),
    ("content changed", "o.signature <> n.signature", False),
    (
        "content lost",
        "o.signature is not null and n.url is not null and n.signature is null",
        False,
    ),
    ("score up", "n.score > o.score", False),
    ("score down", "n.score < o.score", False),
    ("rescheduled", "n.fetch_time <> o.fetch_time", False),
    ("retries", "n.retries <> o.retries", False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """URLs that changed in one way.

    Attributes:
        change: Kind of change.
        old: Old status, where statuses tell more of it; "" for none.
        new: New status, likewise.
        count: How many URLs.
        samples: The first few.
    """

    change: str
    old: str
    new: str
    count: int
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawldbDiff:
    """What changed from one version to another, and which steps did it, oldest first."""

    old_version: int
    new_version: int
    old_rows: int
    new_rows: int
    steps: tuple[CommitRecord, ...]
    changes: tuple[Change, ...]


def diff(
    crawl: CrawlFolder,
    settings: EngineSettings,
    *,
    old: int | None = None,
    new: int | None = None,
) -> CrawldbDiff:
    """Compare two versions of the crawldb.

    Args:
        crawl: The crawl folder.
        settings: Memory and threads.
        old: From which version; None: from before the last updatedb up to `new`.
        new: To which; None: the newest.

    Raises:
        UserError: There are no such versions.
        DataError: Their files were vacuumed.
    """
    table = crawl.table("crawldb")
    history = table.history()
    new = table.version() if new is None else new
    old = _before_round(history, new) if old is None else old
    if not 0 <= old <= new <= table.version():
        raise UserError(
            f"there is nothing to compare from version {old} to {new}",
            hint=f"the crawldb has the versions 0 to {table.version()}; say the older one first",
        )
    return CrawldbDiff(
        old_version=old,
        new_version=new,
        old_rows=table.count(old),
        new_rows=table.count(new),
        steps=tuple(r for r in reversed(history) if old < r.version <= new),
        changes=_changes(crawl, settings, old, new),
    )


def _before_round(history: list[CommitRecord], new: int) -> int:
    for record in history:
        if record.version <= new and record.step == "updatedb":
            return record.version - 1
    return max(0, new - 1)


def _changes(
    crawl: CrawlFolder, settings: EngineSettings, old: int, new: int
) -> tuple[Change, ...]:
    table = crawl.table("crawldb")
    before, after = set(table.files(old).paths), set(table.files(new).paths)
    sides = {"old": sorted(before - after), "new": sorted(after - before)}
    with open_files(settings, [path for paths in sides.values() for path in paths]) as connection:
        for name, paths in sides.items():
            sql = view_sql(VIEWS["crawldb"], paths)
            connection.execute(f"create temp view {name}_rows as {sql}")
        flags = ", ".join(
            f"coalesce({test}, false) as k{i}" for i, (_, test, _) in enumerate(_KINDS)
        )
        connection.execute(
            "create temp table changes as select coalesce(n.url, o.url) as url, "
            f"coalesce(o.status, '') as old, coalesce(n.status, '') as new, {flags} "
            "from old_rows o full join new_rows n on o.url = n.url"
        )
        found = []
        for number, (kind, _, by_status) in enumerate(_KINDS):
            columns = "old, new" if by_status else "'', ''"
            rows = connection.execute(
                f"select {columns}, count(*), min(url, {_SAMPLES}) from changes where k{number} "
                "group by all having count(*) > 0 order by 3 desc, 1, 2"
            ).fetchall()
            found += [
                Change(change=kind, old=o, new=n, count=count, samples=tuple(samples))
                for o, n, count, samples in rows
            ]
    return tuple(found)
