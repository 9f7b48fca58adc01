"""Which hosts are this machine: they may be asked by a robot that has no name.

Guarantee: pure; judged by the name or address in the URL and by `http.resolve`, never by DNS.
Source: Nutch's `checkConfiguration` (`http.agent.name` must be set); that loopback needs none is
ours, so that a first crawl of one's own site needs no settings.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from filbert.rules.urls import scheme_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ThisMachine"]


class ThisMachine:
    """Knows this machine's hosts.

    Args:
        resolve: The setting `http.resolve`: `host:port:address:port`, `*.test` for all below.
    """

    def __init__(self, resolve: Sequence[str] = ()) -> None:
        self._led_here = {
            entry.partition(":")[0].lower()
            for entry in resolve
            if _is_loopback(entry.rpartition(":")[0].partition(":")[2].partition(":")[2])
        }

    def is_host(self, host: str) -> bool:
        """Say whether a lower-case host is this machine."""
        if _is_loopback(host):
            return True
        parents = host.split(".")
        wild = {f"*.{'.'.join(parents[n:])}" for n in range(1, len(parents))}
        return host in self._led_here or bool(wild & self._led_here)

    def has(self, url: str, host: str) -> bool:
        """Say whether a URL is of this machine; a file is."""
        return scheme_of(url) == "file" or self.is_host(host)


def _is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False
