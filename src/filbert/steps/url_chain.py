"""The URL chains over many URLs that are in tables already: page work, a part at a time.

Guarantee: a verdict is written only for a URL that the chains reject or change; whoever reads the
verdicts keeps all others as they are. Where the chains can say that a table agrees with them
already (equal fingerprints), nobody need call this.
Source: Nutch `CrawlDbFilter`, `LinkDbFilter`, the filters of `Generator.SelectorMapper`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import pyarrow.parquet as pq

from filbert.engine.base import Files, Part, PartResult, Query, WriteFiles
from filbert.model.schemas import CRAWLDB, Column, TableSchema, Type
from filbert.plugins.registry import PluginRepository
from filbert.rules.urls import place_of, url_hash
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from filbert.plugins.contracts import Scope
    from filbert.plugins.url_chain import UrlChain
    from filbert.settings import Settings
    from filbert.steps.context import StepContext
    from filbert.store.tables import Table

__all__ = ["CHAIN_KEY", "MIXED", "VERDICTS", "Judging", "agrees", "judged", "note_of", "noted"]

CHAIN_KEY = "url_chain"
"""Metadata of a commit: the fingerprint of the chains that every row of the table has passed."""

MIXED = "mixed"
"""Its value where rows have passed different chains, or nobody can tell."""

VERDICTS = TableSchema(
    name="verdicts",
    key=("url",),
    columns=(
        CRAWLDB["url"],
        Column("target", Type.STRING, "What it is normalised to; null: rejected."),
        Column("host", Type.STRING, "Host of the target."),
        Column("domain", Type.STRING, "Registered domain of the target."),
        Column("target_hash", Type.BIGINT, "url_hash of the target."),
        Column("reason", Type.STRING, "Why it is rejected."),
    ),
)
"""Only URLs that are rejected or changed."""

_URLS = CRAWLDB.select("urls", ("url",))
_BRING_NOTHING = frozenset({"generate", "dedup"})
_PART_ROWS = 20_480
_FEW = 20_000  # below this a pool of processes costs more than it gives


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How URLs are to be judged."""

    scope: Scope
    normalize: bool
    judge: bool

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.normalize or self.judge)


def agrees(table: Table, chain: UrlChain) -> bool:
    """Say whether every row of a table has passed exactly these chains."""
    fingerprint = chain.fingerprint()
    return fingerprint is not None and noted(table) in {None, fingerprint}


def note_of(table: Table, chain: UrlChain, *, entered: bool, all_rows: bool) -> str:
    """Return what a commit should note under `CHAIN_KEY`.

    Args:
        table: The table that is about to change.
        chain: The chains.
        entered: Whether the new rows have passed them, normalisers and filters.
        all_rows: Whether the old rows have passed them in this step, too.
    """
    fingerprint = chain.fingerprint()
    if fingerprint is None or not entered:
        return MIXED
    return fingerprint if all_rows or agrees(table, chain) else MIXED


def judged(
    context: StepContext, urls: str, views: Mapping[str, Files], judging: Judging, scratch: Path
) -> tuple[Files, Counter[str]]:
    """Run the chains over the URLs that the query `urls` gives (one column, `url`).

    Returns:
        The verdicts, and the rejected URLs counted by reason.
    """
    target = WriteFiles(
        schema=_URLS, directory=scratch / "urls", stem="urls", row_group_rows=_PART_ROWS
    )
    written = context.engine.execute(Query(name="urls", sql=urls), views, target)
    parts = [
        Part(number=number, payload=(str(file.path), group))
        for file in written.files
        for number, group in enumerate(range(pq.ParquetFile(file.path).num_row_groups))
    ]
    task = _ChainTask(context.settings, context.crawl.path, judging, scratch / "verdicts")
    results = map(task, parts) if written.rows < _FEW else context.engine.run(task, parts)
    paths: list[str] = []
    counters: Counter[str] = Counter()
    for result in results:
        counters.update(result.counters)
        paths.extend(str(file.path) for file in result.files["verdicts"])
    return Files(schema=VERDICTS, paths=tuple(sorted(paths))), counters


def noted(table: Table) -> str | None:
    """Return the chains that the table's rows have passed; None: the table is empty.

    A commit that says nothing may have brought anything in, unless it is known to bring nothing.
    """
    if table.count() == 0:
        return None
    newest = table.version()
    for record in table.history():
        if record.version > newest:
            continue  # undone by a rollback
        if CHAIN_KEY in record.metadata:
            return record.metadata[CHAIN_KEY]
        if "restored" not in record.metadata and record.step not in _BRING_NOTHING:
            break
        newest = int(record.metadata.get("restored", newest))
    return MIXED


@dataclass(frozen=True)
class _ChainTask:
    """The page task; makes its own plugins, once per process."""

    settings: Settings
    folder: Path
    judging: Judging
    directory: Path

    @cached_property
    def _chain(self) -> UrlChain:
        return PluginRepository(self.settings, self.folder).url_chain()

    def __call__(self, part: Part) -> PartResult:
        path, group = cast("tuple[str, int]", part.payload)
        counters: Counter[str] = Counter()
        before = Counter(self._chain.errors)
        with ParquetSink(VERDICTS, self.directory, f"part-{part.number:06d}") as sink:
            column = pq.ParquetFile(path).read_row_group(group, columns=["url"])["url"]
            for url in column.to_pylist():
                verdict = self._chain.apply(
                    url,
                    self.judging.scope,
                    normalize=self.judging.normalize,
                    judge=self.judging.judge,
                )
                if verdict.url is None:
                    counters[verdict.reason] += 1
                    sink.append({"url": url, "reason": verdict.reason})
                elif verdict.url != url:
                    place = place_of(verdict.url)
                    sink.append(
                        {
                            "url": url,
                            "target": verdict.url,
                            "host": place.host,
                            "domain": place.domain,
                            "target_hash": url_hash(verdict.url),
                        }
                    )
        failed = sum((self._chain.errors - before).values())
        if failed:
            counters["plugin_errors"] = failed
        return PartResult(number=part.number, files={"verdicts": sink.files}, counters=counters)
