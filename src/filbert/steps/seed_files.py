"""Seed files, folders and URLs, read into rows of the view `seeds`.

Guarantee: what cannot be read is reported with file, line and reason; the rest goes on. A missing
file is an error before anything is read. Memory is bounded by one line.
"""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.plugins.contracts import Scope
from filbert.rules.inject import SEEDS
from filbert.rules.seeds import BadLine, is_url, lines_of, no_place, parse_line, private_endpoint
from filbert.rules.urls import place_of, url_hash
from filbert.store.parquet import ParquetSink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from filbert.engine.base import WrittenFile
    from filbert.plugins.url_chain import UrlChain
    from filbert.rules.seeds import Line, Seed

__all__ = ["BadSeed", "SeedReader", "SeedSource", "find_seeds"]

_CHUNK = 1 << 16
_COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedSource:
    """A file of seeds, or one seed given as an argument."""

    name: str
    path: Path | None = None

    def lines(self) -> Iterator[Line]:
        """Give the lines.

        Raises:
            UserError: The file cannot be read.
        """
        if self.path is None:
            yield from lines_of([self.name.encode("utf-8", "surrogateescape")])
            return
        opened = gzip.open if self.path.suffix == ".gz" else open
        try:
            with opened(self.path, "rb") as file:
                yield from lines_of(iter(lambda: file.read(_CHUNK), b""))
        except (OSError, EOFError) as error:
            raise UserError(f"cannot read the seed file {self.path}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSeed:
    """A line that is no seed: where, and why."""

    where: str
    reason: str
    detail: str


def find_seeds(seeds: Sequence[str]) -> tuple[SeedSource, ...]:
    """Return the files and URLs that arguments name; of a folder, every file in it.

    Raises:
        UserError: A file is missing, a folder has none, or nothing was named.
    """
    found = [source for seed in seeds for source in _sources(seed)]
    if not found:
        raise UserError("no seeds were named", hint="Name a seed file, a folder of them, or a URL.")
    return tuple(found)


def _sources(seed: str) -> list[SeedSource]:
    if not seed.strip():
        raise UserError("a seed is blank", hint="Name a seed file, a folder of them, or a URL.")
    if is_url(seed):
        return [SeedSource(name=seed)]
    path = Path(seed)
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
        if not files:
            raise UserError(f"the folder {path} has no seed file", hint="One URL per line, UTF-8.")
        return [SeedSource(name=str(file), path=file) for file in files]
    if not path.exists():
        hint = "Name a file with one URL per line, a folder of such files, or a URL."
        if "/" not in seed and "." in seed:
            hint = f"If it is a web site, write http://{seed}/"
        raise UserError(f"there is no seed file {seed}", hint=hint)
    return [SeedSource(name=str(path), path=path)]


class SeedReader:
    """Reads sources into a Parquet file; says what was bad, and counts.

    Attributes:
        counters: Lines by what became of them.
        endpoints: host:port of seeds that name the local machine or network.

    Args:
        chain: Normalisers and filters.
        normalize: Apply the normalisers.
        judge: Apply the filters.
        buckets: Buckets of the crawldb.
        depth: The depth of a seed, if scoring counts depths.
        complain: Called with every bad line.
    """

    def __init__(
        self,
        chain: UrlChain,
        *,
        normalize: bool,
        judge: bool,
        buckets: int,
        depth: int | None,
        complain: Callable[[BadSeed], None],
    ) -> None:
        self.counters: Counter[str] = Counter()
        self.endpoints: set[str] = set()
        self._chain = chain
        self._normalize = normalize
        self._judge = judge
        self._buckets = buckets
        self._depth = depth
        self._complain = complain

    def read(self, sources: Sequence[SeedSource], directory: Path) -> tuple[WrittenFile, ...]:
        """Read all sources.

        Raises:
            UserError: A file cannot be read.
        """
        with ParquetSink(SEEDS, directory, "seeds") as sink:
            ordinal = 0
            for source in sources:
                for line in source.lines():
                    ordinal += 1
                    row = self._row(source, line)
                    if row is not None:
                        sink.append({**row, "ordinal": ordinal})
        return sink.files

    def _row(self, source: SeedSource, line: Line) -> dict[str, object] | None:
        where = _COMMAND_LINE if source.path is None else f"{source.name}:{line.number}"
        seed = parse_line(line)
        if seed is None:
            return None
        self.counters["lines"] += 1
        if isinstance(seed, BadLine):
            self._bad(where, seed)
            return None
        for note in seed.notes:
            self._bad(where, note)
        verdict = self._chain.apply(
            seed.url, Scope.INJECT, normalize=self._normalize, judge=self._judge
        )
        if verdict.url is None:
            rule = f" ({verdict.rule})" if verdict.rule else ""
            detail = f"{seed.url[:200]!r} is rejected: {verdict.reason}{rule}"
            self._bad(where, BadLine(reason=f"rejected_{verdict.reason}", detail=detail))
            return None
        nowhere = no_place(verdict.url)
        if nowhere is not None:
            self._bad(where, nowhere)
            return None
        self.counters["injected"] += 1
        endpoint = private_endpoint(verdict.url)
        if endpoint is not None:
            self.endpoints.add(endpoint)
        return self._seeded(seed, verdict.url, where)

    def _seeded(self, seed: Seed, url: str, where: str) -> dict[str, object]:
        place = place_of(url)
        return {
            "url": url,
            "bucket": url_hash(url) % self._buckets,
            "host": place.host,
            "domain": place.domain,
            "score": seed.score,
            "fetch_interval": seed.fetch_interval,
            "fixed_interval": seed.fixed_interval,
            "depth": self._depth,
            "max_depth": seed.max_depth,
            "metadata": dict(seed.metadata),
            "origin": where,
        }

    def _bad(self, where: str, bad: BadLine) -> None:
        self.counters[
            bad.reason if bad.reason.startswith("rejected_") else f"bad_{bad.reason}"
        ] += 1
        self._complain(BadSeed(where=where, reason=bad.reason, detail=bad.detail))
