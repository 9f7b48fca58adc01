"""One log line for each request of a part: which part, which queue, what came.

Guarantee: each line is one write to stderr, so that lines of several parts do not mix; JSON where
the log is JSON.
Source: Nutch's `-showThreadID` and its line "fetching …". A slot here is no thread: what a reader
of such lines looks for, which requests wait for each other, is the queue.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from filbert.model.clock import iso

if TYPE_CHECKING:
    from filbert.model.records import ProtocolOutput

__all__ = ["RequestLog"]


class RequestLog:
    """Writes the lines of one part.

    Args:
        part: Its number.
        as_json: Write JSON lines; else plain ones.
    """

    def __init__(self, part: int, *, as_json: bool) -> None:
        self._part = part
        self._as_json = as_json

    def say(self, key: str, url: str, output: ProtocolOutput, now: int) -> None:
        """Write that a URL of queue `key` was asked for, or refused unasked, and what came."""
        came = output.message if output.http_status is None else f"HTTP {output.http_status}"
        values = {"part": self._part, "queue": key, "url": url, "came": came}
        if self._as_json:
            head = {"event": "fetch.request", "level": "info", "timestamp": iso(now)}
            line = json.dumps(head | values)
        else:
            told = " ".join(f"{name}={_plain(value)}" for name, value in values.items())
            line = f"{iso(now)[11:19]} [info     ] fetch.request {told}"
        sys.stderr.write(line + "\n")


def _plain(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)
