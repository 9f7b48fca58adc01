"""What a crawl folder was imported from, and whether that is finished.

Guarantee: a small file beside the tables, replaced whole; it is there once an import began. An
import that was cut off is known by it until the same import has ended.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from filbert.errors import DataError
from filbert.store import durable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Imports"]


class Imports:
    """The file.

    Args:
        path: Where it lies.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def unfinished(self) -> str:
        """Return the source of an import that has not ended; empty: there is none."""
        return str(self._read()["unfinished"])

    def source_of(self, part: str) -> str:
        """Return where a part came from: `crawldb`, `linkdb`, `segments/NAME`; empty: not known."""
        return str(self._read()["sources"].get(part, ""))

    def begin(self, source: str, parts: Iterable[str]) -> None:
        """Note that parts begin to come from a source."""
        told = self._read()
        told["sources"].update(dict.fromkeys(parts, source))
        self._write({**told, "unfinished": source})

    def finish(self) -> None:
        """Note that the import has ended."""
        self._write({**self._read(), "unfinished": ""})

    def forget(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            told = json.loads(self._path.read_text(encoding="utf-8"))
            return {"sources": dict(told["sources"]), "unfinished": told["unfinished"]}
        except FileNotFoundError:
            return {"sources": {}, "unfinished": ""}
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{self._path} is damaged: {error}",
                hint="it says what was imported; if that import had ended, remove the file",
            ) from error

    def _write(self, told: dict[str, Any]) -> None:
        with durable.room(f"writing {self._path}"):
            durable.write_whole(self._path, json.dumps(told, indent=2) + "\n")
