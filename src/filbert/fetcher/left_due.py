"""The URLs of a fetch list that were left to a later round, each with its reason.

Guarantee: nothing that updatedb would count: the crawldb keeps such a page as it was, due. One
JSON line per URL in the segment, written anew by each run of the part, so that `explain` can say
why a page of a fetch list has no row in crawl_fetch.
Source: Nutch counts `AboveExceptionThresholdInQueue`, `hitByTimeLimit` … and keeps no names.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, Self

from filbert.errors import DataError
from filbert.rules.host_queue import DropReason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import TextIOWrapper
    from pathlib import Path

    from filbert.rules.fetch_actions import Dropped

__all__ = ["REASONS", "LeftDue", "LeftUrl", "read_left_due"]

REASONS = {
    DropReason.TIME_LIMIT: "the time limit came first (fetcher.timelimit_mins)",
    DropReason.EXCEPTIONS: "its host failed too often in a row (fetcher.max_exceptions_per_queue)",
    DropReason.RETRY_AFTER: "its host asked for, or owes, a longer wait than fetcher.max_wait_s",
    DropReason.CRAWL_DELAY: "its host's delay is longer than fetcher.max_wait_s",
    DropReason.ROBOTS_UNAVAILABLE: "its host's robots.txt could not be had (robots.defer_*)",
    DropReason.THROUGHPUT: "the fetch was too slow (fetcher.throughput_threshold_pages)",
    DropReason.FILTERED: "the URL filters reject it now (fetcher.filter_urls)",
    DropReason.NO_AGENT_NAME: "its host is not this machine, and we have no name (http.agent_name)",
}
"""What each reason means to a person."""


class LeftUrl(NamedTuple):
    """One URL left due; `detail` is a sentence of its own that says more than the reason."""

    url: str
    reason: str
    detail: str = ""

    @property
    def meaning(self) -> str:
        """The reason in words."""
        return self.detail or REASONS.get(DropReason(self.reason), self.reason)


class LeftDue:
    """Writes the file of a part. A context manager.

    Args:
        directory: The segment's folder for such files; made when the first URL comes.
        part: Number of the part.
    """

    def __init__(self, directory: Path, part: int) -> None:
        self._path = _path(directory, part)
        self._file: TextIOWrapper | None = None

    def __enter__(self) -> Self:
        """Forget what an earlier run of the part wrote: its URLs are offered again."""
        self._path.unlink(missing_ok=True)
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def note(self, dropped: Dropped, detail: str = "") -> None:
        """Write one URL; `detail` is what more is known of why.

        Raises:
            DataError: The disk is full, or fails.
        """
        values = {"url": dropped.item.url, "reason": dropped.reason.value}
        line = json.dumps(values | ({"detail": detail} if detail else {}))
        try:
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("w", encoding="utf-8")
            self._file.write(line + "\n")
        except OSError as error:
            raise DataError(f"cannot write {self._path}: {error.strerror}") from error


def read_left_due(directory: Path) -> Iterator[LeftUrl]:
    """Yield the URLs that the parts of a segment left due; a torn last line ends a file."""
    for path in sorted(directory.glob("part-*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                if line.endswith("\n"):
                    values = json.loads(line)
                    yield LeftUrl(values["url"], values["reason"], values.get("detail", ""))


def _path(directory: Path, part: int) -> Path:
    return directory / f"part-{part:05d}.jsonl"
