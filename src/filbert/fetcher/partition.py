"""Which hosts a part owns: those of its own list, and other hosts of domains that are all its own.

Guarantee: no two parts own the same host: each part sees the whole list, and a domain with rows in
two parts is owned by neither. A segment of one part owns every host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.store.parquet import read_rows

if TYPE_CHECKING:
    from filbert.engine.base import Files

__all__ = ["PartShare"]


class PartShare:
    """The share of one part.

    Args:
        listed: The whole fetch list.
        part: The part.
        parts: How many there are.
        by_host: Only the hosts of its own list are the part's: parts were made by address, and
            where another host of a domain stands nobody knows.
    """

    def __init__(self, listed: Files, part: int, parts: int, *, by_host: bool = False) -> None:
        self.urls = 0
        self._all = parts == 1
        self._hosts: set[str] = set()
        self._domains: set[str] = set()
        others: set[str] = set()
        for row in read_rows(listed, ("part", "host", "domain")):
            if row["part"] != part:
                others.add(row["domain"])
                continue
            self.urls += 1
            if not self._all:
                self._hosts.add(row["host"])
                self._domains.add(row["domain"])
        self._domains = set() if by_host else self._domains - others

    def owns(self, host: str, domain: str) -> bool:
        """Say whether this part is the one that asks a host."""
        return self._all or host in self._hosts or domain in self._domains
