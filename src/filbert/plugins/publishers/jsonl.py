"""The publisher `jsonl`: one JSON object a line, for whoever reads along.

Guarantee: each line is written in one go, so that the parts of a fetch share a file without mixing
their lines. Source: Nutch's publishers send the same events to a queue.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from filbert.model.records import FetchEvent
    from filbert.settings import Settings

__all__ = ["JsonlPublisher"]


class JsonlPublisher:
    """Appends events to a file. A context manager.

    Args:
        path: The file, pipe or device.
    """

    name = "jsonl"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the publisher by `publish.jsonl_file`."""
        return cls(Path(settings.publish.jsonl_file or folder / "events.jsonl"))

    def __enter__(self) -> Self:
        """Open the file, made if it is not there."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._descriptor = os.open(self._path, flags, 0o644)
        return self

    def __exit__(self, *exc: object) -> None:
        """Close it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def publish(self, event: FetchEvent) -> None:
        """Write one line."""
        said = {"event": event.kind, "url": event.url, "time": event.time, **event.facts}
        os.write(self._descriptor, json.dumps(said, default=str).encode() + b"\n")
