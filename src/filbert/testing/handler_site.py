"""A site made of one handler class of the standard library, served from a thread on loopback.

Guarantee: it answers while its context is open; nothing is logged.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SilentHandler", "serving"]


class SilentHandler(BaseHTTPRequestHandler):
    """A handler of GET that logs nothing; give it an `answer`."""

    def do_GET(self) -> None:
        """Answer a request."""
        self.answer()

    def answer(self) -> None:
        """Send a reply."""
        raise NotImplementedError

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Serve; give the port on 127.0.0.1."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
