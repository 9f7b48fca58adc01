"""What `readdb -stats` and `readdb -topN` print of a crawldb.

Guarantee: character for character, the last digits of averages and quantiles included, which depend
on the order in which Hadoop's sort hands out the scores: up to `EXACT` pages, as one part. Of more
pages, or several parts, counts and extremes are exact, and the scores are reckoned in the order of
the crawldb (there Nutch's own digest merges in random order). Memory does not grow with the pages.
Source: Nutch 1.22 `crawl.CrawlDbReader`.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from typing import TYPE_CHECKING, Final

from filbert.nutch.hadoop_order import map_sorted
from filbert.nutch.v1.crawl_datum import status_name
from filbert.nutch.v1.java_hash import float_bits
from filbert.nutch.v1.java_text import (
    days_hms,
    double_text,
    float_text,
    iso_text,
    nearest_float,
    whole_division,
)
from filbert.nutch.v1.score_digest import ScoreDigest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from filbert.nutch.v1.crawl_datum import CrawlDatum

__all__ = ["EXACT", "QUANTILES", "crawldb_stats", "crawldb_top"]

EXACT: Final = 50_000
"""Pages up to which the order of Hadoop's sort is followed."""

QUANTILES: Final = (
    *(0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5),
    *(0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99),
)

_MINUTE = 60_000
_SMALLEST_FLOAT = 2.0**-149  # `Float.MIN_VALUE`, where the search for the highest score begins
_LARGEST_FLOAT = 3.4028234663852886e38


def crawldb_stats(
    pages: Iterable[tuple[str, CrawlDatum]],
    crawldb: str,
    *,
    by_host: bool = False,
    quantiles: Sequence[float] = QUANTILES,
) -> Iterator[str]:
    """Yield the lines of `readdb -stats`.

    Args:
        pages: URLs and records of the crawldb.
        crawldb: What it is called.
        by_host: Count each status by host, too (`-sort`).
        quantiles: Shares, from 0 to 1.
    """
    yield f"CrawlDb statistics start: {crawldb}\n"
    counts = _Counts()
    scores = _Scores()
    for url, datum in pages:
        host = _host(url) if by_host else None
        counts.add(datum, host)
        scores.add(datum, host)
    yield f"Statistics for CrawlDb: {crawldb}\n"
    yield f"TOTAL urls:\t{counts.total}\n"
    if counts.total:
        yield from counts.first_lines()
        yield from scores.lines(counts.total, quantiles)
        yield from counts.status_lines()
    yield "CrawlDb statistics: done\n"


def _host(url: str) -> str:
    """Return `URL.getHost`."""
    place = url.partition("//")[2]
    for end in "/?#":
        place = place.partition(end)[0]
    place = place.rpartition("@")[2]
    if place.startswith("["):
        return place.partition("]")[0] + "]"
    return place.partition(":")[0]


class _Counts:
    def __init__(self) -> None:
        self.total = 0
        self._keys: Counter[str] = Counter()  # under the keys of Nutch's job
        self._times = _Range()
        self._intervals = _Range()

    def add(self, datum: CrawlDatum, host: str | None) -> None:
        self.total += 1
        self._keys[f"status {datum.status}"] += 1
        self._keys[f"retry {datum.retries}"] += 1
        if host is not None:
            self._keys[f"status {datum.status} {host}"] += 1
        self._times.add(whole_division(datum.fetch_time, _MINUTE))
        self._intervals.add(datum.fetch_interval)

    def first_lines(self) -> Iterator[str]:
        intervals, times = self._intervals, self._times
        yield f"shortest fetch interval:\t{days_hms(intervals.least)}\n"
        yield f"avg fetch interval:\t{days_hms(whole_division(intervals.sum, self.total))}\n"
        yield f"longest fetch interval:\t{days_hms(intervals.most)}\n"
        yield f"earliest fetch time:\t{iso_text(times.least * _MINUTE)}\n"
        average = whole_division(times.sum, self.total)
        yield f"avg of fetch times:\t{iso_text(average * _MINUTE)}\n"
        yield f"latest fetch time:\t{iso_text(times.most * _MINUTE)}\n"
        for key in sorted(self._keys):
            if key.startswith("retry"):
                yield f"{key}:\t{self._keys[key]}\n"

    def status_lines(self) -> Iterator[str]:
        for key in sorted(self._keys, key=lambda one: one.encode("utf-16-be", "surrogatepass")):
            if not key.startswith("status"):
                continue
            words = key.rstrip(" ").split(" ")  # Java's split leaves blank words at the end out
            if len(words) > 2:
                yield f"   {words[2]} :\t{self._keys[key]}\n"
            else:
                code = int(words[1])
                yield f"status {code} ({status_name(code)}):\t{self._keys[key]}\n"


class _Range:
    def __init__(self) -> None:
        self.least, self.most, self.sum = 2**63 - 1, -(2**63), 0

    def add(self, value: int) -> None:
        self.least, self.most = min(self.least, value), max(self.most, value)
        self.sum += value


class _Scores:
    """The scores, in the order in which Nutch's job adds them up."""

    def __init__(self) -> None:
        self._held: list[tuple[bytes, ...]] | None = []  # the keys of each page's output
        self._values: list[float] = []
        self._sum = 0.0
        self._digest = ScoreDigest()
        self._count = self._no_numbers = 0
        self._least, self._most = _LARGEST_FLOAT, _SMALLEST_FLOAT

    def add(self, datum: CrawlDatum, host: str | None) -> None:
        score = datum.score
        if math.isnan(score):
            self._no_numbers += 1
        else:
            self._count += 1
            self._least, self._most = min(self._least, score), max(self._most, score)
        if self._held is None:
            self._add_up(score)
            self._digest_one(score)
            return
        self._held.append(_output_keys(datum, host))
        self._values.append(score)
        if len(self._held) > EXACT:
            self._held = None
            for value in self._values:
                self._add_up(value)
                self._digest_one(value)
            self._values = []

    def _add_up(self, score: float) -> None:
        if not math.isnan(score):
            self._sum = nearest_float(self._sum + score)

    def _digest_one(self, score: float) -> None:
        if not math.isnan(score):
            self._digest.add(score)

    def _in_hadoops_order(self) -> None:
        if self._held is None:
            return
        output = [
            (key, score)
            for keys, score in zip(self._held, self._values, strict=True)
            for key in keys
        ]
        for key, score in map_sorted(output, lambda one: one[0]):
            if key == b"sct":
                self._add_up(score)
            elif key == b"scd":
                self._digest_one(score)
        self._held, self._values = None, []

    def lines(self, total: int, quantiles: Sequence[float]) -> Iterator[str]:
        self._in_hadoops_order()
        if self._no_numbers:
            yield f"score == NaN:\t{self._no_numbers}\n"
        if not self._count:
            return
        digest = self._digest.packed().packed()  # by the combiner, and by the reducer
        for share in quantiles:
            yield f"score quantile {double_text(share)}:\t{double_text(digest.quantile(share))}\n"
        yield f"min score:\t{double_text(self._least)}\n"
        yield f"avg score:\t{double_text(self._sum / total)}\n"
        yield f"max score:\t{double_text(self._most)}\n"


def _output_keys(datum: CrawlDatum, host: str | None) -> tuple[bytes, ...]:
    """Return the keys of what the job's map puts out for a page, in its order."""
    status = b"status %d" % datum.status
    scores = (b"scNaN",) if math.isnan(datum.score) else (b"sc", b"sct", b"scd")
    keys = (b"T", status, b"retry %d" % datum.retries, *scores, b"ft", b"ftt", b"fi", b"fit")
    return keys if host is None else (*keys, status + b" " + host.encode("utf-8", "replace"))


def crawldb_top(
    pages: Iterable[tuple[str, CrawlDatum]], count: int, least: float = 0.0
) -> Iterator[str]:
    """Yield the lines of `readdb -topN`: score and URL, highest score first.

    Args:
        pages: URLs and records of the crawldb.
        count: How many lines.
        least: Pages of a lower score are left out.
    """
    held: list[tuple[bytes, int, float, str]] = []
    exact = True
    for number, (url, datum) in enumerate(pages):
        if datum.score < least:
            continue
        held.append((_descending(datum.score), number, datum.score, url))
        if len(held) > EXACT and len(held) > 2 * count:
            exact = False
            held = heapq.nsmallest(count, held)
    if exact:
        # Two jobs: each sorts.
        held = map_sorted(map_sorted(held, lambda one: one[0]), lambda one: one[0])
    else:
        held.sort()
    for _, _, score, url in held[:count]:
        yield f"{float_text(score)}\t{url}\n"


def _descending(score: float) -> bytes:
    """Return bytes that sort as `Float.compare` sorts negated scores."""
    bits = float_bits(-score)
    return (bits ^ 0xFFFF_FFFF if bits >> 31 else bits | 0x8000_0000).to_bytes(4, "big")
