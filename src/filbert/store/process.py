"""Which process made something, and whether it still lives.

Guarantee: a process is told apart from a later one with the same number by the moment it began;
of a process on another host nothing can be told. The text form holds no blank and no slash.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["Process"]

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process on one host.

    Attributes:
        host: Name of the host.
        pid: Process number.
        start: Boot and clock tick at which it began; "0" where the system does not tell.
    """

    host: str
    pid: int
    start: str

    @classmethod
    def this(cls) -> Process:
        """Return the process that asks."""
        return cls(host=_host(), pid=os.getpid(), start=_start(os.getpid()) or "0")

    @classmethod
    def parse(cls, text: str) -> Process | None:
        """Return the process that `str()` gave `text` for; None if it is no such text."""
        parts = text.split("@")
        if len(parts) != 3 or not parts[0].isdigit():
            return None
        return cls(pid=int(parts[0]), start=parts[1], host=parts[2])

    def __str__(self) -> str:
        """Return the text form: pid@start@host."""
        return f"{self.pid}@{self.start}@{self.host}"

    def is_here(self) -> bool:
        """Tell whether it runs, or ran, on this host."""
        return self.host == _host()

    def is_dead(self) -> bool:
        """Tell whether it certainly runs no more; False for a process on another host."""
        if not self.is_here():
            return False
        started = _start(self.pid)
        if started is not None:
            return started != self.start
        return not _exists(self.pid)


def _host() -> str:
    return socket.gethostname().replace("@", "_").replace("/", "_")


def _start(pid: int) -> str | None:
    """Return boot and start tick of a live process from /proc (field 22 of stat)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    if fields[0] == "Z":  # a zombie holds its number but does nothing any more
        return None
    return f"{_boot()}-{fields[19]}"


@lru_cache(maxsize=1)
def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()[:8]
    except OSError:
        return "0"


def _exists(pid: int) -> bool:
    if Path("/proc/self/stat").exists():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
