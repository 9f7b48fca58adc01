"""Debian's tinyproxy (HTTP) and microsocks (SOCKS5) on loopback ports, for tests and trials.

Guarantee: each lets only this machine in, and asks for a login if one is given.
Source: tinyproxy.conf(5); microsocks' README.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.testing.daemons import daemon, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["RunningProxy", "microsocks", "tinyproxy"]

_CONFIG = """\
Port {port}
Listen 127.0.0.1
Timeout 30
MaxClients 50
LogFile "{log}"
LogLevel Connect
Allow 127.0.0.1
ViaProxyName "testproxy"
{login}
"""


@dataclass(frozen=True, slots=True)
class RunningProxy:
    """A running proxy: its port, and its log of connections (tinyproxy)."""

    port: int
    log: Path | None = None

    def requests(self) -> list[str]:
        """Return the request lines that it logged."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log else []
        return [line.partition("): ")[2] for line in lines if "Request (file" in line]


@contextlib.contextmanager
def tinyproxy(work: Path, login: tuple[str, str] | None = None) -> Iterator[RunningProxy]:
    """Run an HTTP proxy; configuration and log go into `work`.

    Raises:
        RuntimeError: It is not installed, or does not come up.
    """
    port, log, config = free_port(), work / "tinyproxy.log", work / "tinyproxy.conf"
    words = f"BasicAuth {login[0]} {login[1]}" if login else ""
    config.write_text(_CONFIG.format(port=port, log=log, login=words))
    with daemon("tinyproxy", ["-d", "-c", str(config)], port):
        yield RunningProxy(port, log)


@contextlib.contextmanager
def microsocks(login: tuple[str, str] | None = None) -> Iterator[RunningProxy]:
    """Run a SOCKS5 proxy.

    Raises:
        RuntimeError: It is not installed, or does not come up.
    """
    port = free_port()
    words = ["-u", login[0], "-P", login[1]] if login else []
    with daemon("microsocks", ["-i", "127.0.0.1", "-p", str(port), *words], port):
        yield RunningProxy(port)
