"""Where the crawl loop's current run began, so that a killed run can be gone on with.

Guarantee: written in one piece before the run's first step, removed after its last. It holds no
progress: how far the run has come is read from the tables.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from filbert.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["RunMarker"]

_NAME = "run.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMarker:
    """The beginning of a run.

    Attributes:
        start_version: Version of the crawldb when the run began; -1: it had none.
    """

    start_version: int

    @classmethod
    def read(cls, crawl_path: Path) -> RunMarker | None:
        """Return the marker of an unfinished run, or None.

        Raises:
            DataError: The file is not one of ours.
        """
        path = crawl_path / _NAME
        try:
            return cls(start_version=int(json.loads(path.read_text())["start_version"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{path} is damaged: {error}",
                hint="Remove it: the next `filbert crawl` then counts its rounds from now.",
            ) from error

    @classmethod
    def begin(cls, crawl_path: Path, start_version: int) -> RunMarker:
        """Note that a run begins."""
        marker = cls(start_version=start_version)
        fresh = crawl_path / f"{_NAME}.new"
        with fresh.open("w") as file:
            json.dump(asdict(marker), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(crawl_path / _NAME)
        return marker

    @staticmethod
    def end(crawl_path: Path) -> None:
        """Note that the run is over."""
        (crawl_path / _NAME).unlink(missing_ok=True)
