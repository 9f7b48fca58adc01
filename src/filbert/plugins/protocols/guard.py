"""The address guard: decides at the moment a socket is opened, on the address itself.

It is libcurl's open-socket callback, so it holds for every hop, for robots.txt and for whatever a
host name hides (`2130706433`, `127.1`, a DNS answer that changes). Guarantees: nothing is raised
into libcurl; a refusal, or a lack of descriptors, is left in `last` for whoever asked.
"""

from __future__ import annotations

import errno
import resource
import socket
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pycurl

from filbert.rules.addresses import AddressRules, authority_of, judge_address, parse_rules

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from filbert.settings.http import HttpSettings

__all__ = ["AddressGuard", "Refusal", "raise_descriptor_limit"]

_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_MOST_DESCRIPTORS = 65_536
# Files, pipes and the loop's own; the rest may be connections.
_SPARE_DESCRIPTORS = 64


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no socket was opened: `address_refused`, `out_of_descriptors` or `guard_failed`."""

    reason: str
    words: str


class AddressGuard:
    """Judges addresses for one part.

    Args:
        rules: What the settings say.
    """

    def __init__(self, rules: AddressRules) -> None:
        self._rules = rules
        self._passed: dict[tuple[str, str], Refusal | None] = {}

    @classmethod
    def from_settings(cls, settings: HttpSettings) -> AddressGuard:
        """Return the guard that the settings describe; UserError if they are wrong."""
        return cls(
            parse_rules(settings.allow_addresses, settings.deny_addresses, settings.only_addresses)
        )

    def allow_hosts(self, entries: Iterable[str]) -> None:
        """Let through these `host:port` too: those that seeds named."""
        found = {pair for pair in map(authority_of, entries) if pair}
        self._rules = replace(self._rules, hosts=self._rules.hosts | found)
        self._passed.clear()

    def allow_hosts_of(self, path: Path) -> None:
        """Let through the `host:port` lines of a file, if it is there."""
        if path.is_file():
            self.allow_hosts(path.read_text(encoding="utf-8").split())

    def judge(self, address: str, authority: str) -> Refusal | None:
        """Return why an address is refused to the URLs of `authority`; None lets it through."""
        key = (address, authority)
        if key not in self._passed:
            if len(self._passed) > _MOST_DESCRIPTORS:
                self._passed.clear()
            host, _, port = authority.rpartition(":")  # a dot at the end names the same host
            verdict = judge_address(address, self._rules, f"{host.removesuffix('.')}:{port}")
            words = f"{address} is {verdict.rule or verdict.reason}"
            self._passed[key] = None if verdict.accepted else Refusal("address_refused", words)
        return self._passed[key]

    def open_socket(
        self, family: int, kind: int, protocol: int, address: object, authority: str
    ) -> int | Refusal:
        """Return a descriptor for libcurl, or why there is none. Never raises an Exception."""
        try:
            host = str(address[0]) if isinstance(address, tuple) else str(address)
            refusal = self.judge(host, authority)
            if refusal is not None:
                return refusal
            return socket.socket(family, kind, protocol).detach()
        except OSError as error:
            if error.errno in _EXHAUSTED:
                return Refusal("out_of_descriptors", str(error.strerror))
            return Refusal("connect_failed", str(error.strerror))
        except Exception as error:  # noqa: BLE001 - raised into libcurl it would read as the host's fault
            return Refusal("guard_failed", f"{type(error).__name__}: {error}")


SOCKET_BAD: int = pycurl.SOCKET_BAD


def raise_descriptor_limit() -> int:
    """Raise the soft limit of open files to the hard one; return how many connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    limit = _MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    return max(1, limit - _SPARE_DESCRIPTORS)
