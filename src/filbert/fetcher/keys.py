"""Which queue a URL belongs to: by host, registered domain or address, or host and address.

Guarantee: the same host has the same key for the whole part, even if its name resolves to
another address later; a host without an address is a queue of its own, so that its pages fail by
the protocol's words and are not lost.
Source: Nutch `FetchItemQueues` (`fetcher.queue.mode`), `FetchItem.create`.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Literal, Protocol

from filbert.rules.urls import place_of

if TYPE_CHECKING:
    from filbert.plugins.protocols.dns import Resolution

__all__ = ["QueueKeys", "QueueMode", "Resolves"]

QueueMode = Literal["host", "domain", "ip", "host+ip"]
"""What one queue is for; `host+ip`: a host, whose address has a gate besides."""

_MOST_HOSTS = 200_000


class Resolves(Protocol):
    """Something that knows the addresses of names."""

    async def resolve(self, host: str) -> Resolution:
        """Return the addresses of a host."""
        ...


class QueueKeys:
    """Makes keys.

    Args:
        mode: What one queue is for.
        resolver: For `ip` and `host+ip`.
    """

    def __init__(self, mode: QueueMode, resolver: Resolves | None = None) -> None:
        self._mode = mode
        self._resolver = resolver if "ip" in mode else None
        self._known: OrderedDict[str, str] = OrderedDict()

    async def key(self, host: str, domain: str) -> str:
        """Return the key of a host; `address` then knows its address, where that counts."""
        if self._mode == "domain":
            return domain
        address = await self._resolved(host)
        return address or host if self._mode == "ip" else host

    async def key_of(self, url: str) -> str:
        """Return the key of a URL."""
        return await self.key(*place_of(url))

    def address(self, host: str) -> str:
        """Return the address whose gate a host's requests must pass; empty: none."""
        return self._known.get(host, "") if self._mode == "host+ip" else ""

    async def _resolved(self, host: str) -> str:
        """Return the address of a host, the same for the whole part; empty: it has none."""
        if self._resolver is None:
            return ""
        address = self._known.get(host)
        if address is None:
            found = await self._resolver.resolve(host)
            address = self._known[host] = min(found.addresses, default="")
            if len(self._known) > _MOST_HOSTS:
                self._known.popitem(last=False)
        return address
