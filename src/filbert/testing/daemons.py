"""Real servers of Debian's packages on loopback ports of their own, for tests and trials.

Guarantee: a server listens when its context is entered and is gone when it is left; one that does
not come up says what it said. They are installed by scripts/install_test_servers.sh.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["daemon", "find_program", "free_port"]

_UP_WITHIN_S = 10.0
_PAUSE_S = 0.02
_WHERE = "/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin"


def find_program(name: str) -> str | None:
    """Return where a program is; None if it is not installed."""
    return shutil.which(name, path=_WHERE)


def free_port() -> int:
    """Return a loopback port that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextlib.contextmanager
def daemon(name: str, arguments: Sequence[str], port: int) -> Iterator[None]:
    """Run a program that listens on a loopback port, in the foreground.

    Raises:
        RuntimeError: It is not installed, or does not come up.
    """
    program = find_program(name)
    if program is None:
        raise RuntimeError(f"{name} is not installed: scripts/install_test_servers.sh")
    process = subprocess.Popen(  # noqa: S603 - the program found above
        [program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        _wait(name, process, port)
        yield
    finally:
        process.terminate()
        process.communicate(timeout=_UP_WITHIN_S)


def _wait(name: str, process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until it listens."""
    until = time.monotonic() + _UP_WITHIN_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(_PAUSE_S)
    process.kill()
    said = process.communicate()[0].decode(errors="replace")
    raise RuntimeError(f"{name} does not come up: {said.strip() or 'it says nothing'}")
