"""Which queue a URL belongs to: by host, registered domain or address.

Guarantee: the same host has the same key for the whole part, even if its name resolves to
another address later; a host without an address is a queue of its own, so that its pages fail by
the protocol's words and are not lost.
Source: Nutch `FetchItemQueues` (`fetcher.queue.mode`), `FetchItem.create`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from filbert.rules.urls import place_of

if TYPE_CHECKING:
    from filbert.plugins.protocols.dns import Resolution

__all__ = ["QueueKeys", "Resolves"]

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
        resolver: For `ip`.
    """

    def __init__(
        self, mode: Literal["host", "domain", "ip"], resolver: Resolves | None = None
    ) -> None:
        self._mode = mode
        self._resolver = resolver
        self._known: dict[str, str] = {}

    async def key(self, host: str, domain: str) -> str:
        """Return the key of a host."""
        if self._mode == "domain":
            return domain
        if self._mode == "host" or self._resolver is None:
            return host
        key = self._known.get(host)
        if key is None:
            found = await self._resolver.resolve(host)
            key = min(found.addresses, default=host)
            if len(self._known) < _MOST_HOSTS:
                self._known[host] = key
        return key

    async def key_of(self, url: str) -> str:
        """Return the key of a URL."""
        return await self.key(*place_of(url))
