"""What libcurl's callbacks do for every protocol: keep a body within its limit, judge addresses.

Guarantee: nothing is raised into libcurl; what stopped a transfer is left in `stop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pycurl

from filbert.plugins.protocols.guard import Refusal

if TYPE_CHECKING:
    from filbert.plugins.protocols.guard import AddressGuard

__all__ = ["CurlSink"]


class CurlSink:
    """One handle's body, and the guard of its sockets.

    Attributes:
        body: What came, up to the limit.
        stop: What stopped the transfer; None: nothing of ours.

    Args:
        guard: Judges each address.
    """

    __slots__ = ("_authority", "_guard", "_room", "body", "stop")

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._authority = ""
        self._room = 0
        self.body = bytearray()
        self.stop: Refusal | None = None

    def on_body(self, data: bytes) -> int | None:
        """Take bytes of the body (WRITEFUNCTION)."""
        room = self._room - len(data)
        if room >= 0:
            self.body += data
            self._room = room
            return None
        self.body += data[: self._room]
        self._room = 0
        self.stop = Refusal("length", "it is longer than the limit")
        return 0

    def on_socket(self, _purpose: int, address: Any) -> int:
        """Open a socket to an address, or refuse it (OPENSOCKETFUNCTION)."""
        opened = self._guard.open_socket(
            address.family, address.socktype, address.protocol, address.addr, self._authority
        )
        if isinstance(opened, Refusal):
            self.stop = opened
            return int(pycurl.SOCKET_BAD)
        self.stop = None
        return opened
