"""Names led elsewhere without DNS: the setting `http.resolve`.

An entry is `host:port:address:port`, as curl's --connect-to. A host `*.test` stands for all names
under `test`; an empty host or port stands for any, an empty address or second port for the same.
Guarantee: the first entry that fits decides. The guard still judges what is connected to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ConnectTo"]

_ENTRY = re.compile(
    r"(?P<host>\[[^\]]*\]|[^:\[\]]*):(?P<port>\d*):(?P<to>\[[^\]]*\]|[^:\[\]]*):(?P<to_port>\d*)"
)


@dataclass(frozen=True, slots=True)
class _Entry:
    host: str
    port: int | None
    to_host: str
    to_port: int | None

    def fits(self, host: str, port: int) -> bool:
        if self.port is not None and self.port != port:
            return False
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host in {"", host}


class ConnectTo:
    """Where to connect to instead.

    Args:
        entries: Entries of the setting.

    Raises:
        UserError: An entry has another form.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._entries = tuple(_parse(entry) for entry in entries)

    def target(self, host: str, port: int) -> tuple[str, int]:
        """Return the host or address, and the port, to connect to for `host:port`."""
        for entry in self._entries:
            if entry.fits(host, port):
                return entry.to_host or host, entry.to_port or port
        return host, port


def _parse(text: str) -> _Entry:
    found = _ENTRY.fullmatch(text.strip())
    if found is None:
        raise UserError(
            f"http.resolve: {text!r} has the wrong form",
            hint="Write host:port:address:port, such as www.example.com:80:127.0.0.1:8080 "
            "or *.test:80:[::1]:8080.",
        )
    return _Entry(
        found["host"].lower(),
        int(found["port"]) if found["port"] else None,
        found["to"],
        int(found["to_port"]) if found["to_port"] else None,
    )
