"""Debian's vsftpd on a loopback port of its own, for tests and trials.

Guarantee: serves one folder to the anonymous, read-only, with passive ports; ends with its context.
Its own log says who asked for what. Source: vsftpd.conf(5).
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Vsftpd", "find_vsftpd", "vsftpd"]

_CONFIG = """\
listen=YES
listen_address=127.0.0.1
listen_port={port}
background=NO
run_as_launching_user=YES
anonymous_enable=YES
no_anon_password=NO
anon_root={root}
write_enable=NO
seccomp_sandbox=NO
xferlog_enable=YES
log_ftp_protocol=YES
vsftpd_log_file={log}
dual_log_enable=YES
xferlog_file={log}.transfers
use_localtime=NO
mdtm_write=NO
idle_session_timeout=60
"""
_UP_WITHIN_S = 10.0
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Vsftpd:
    """A running server: its port, and its log of commands."""

    port: int
    log: Path

    @property
    def url(self) -> str:
        """URL of its root."""
        return f"ftp://127.0.0.1:{self.port}/"


def find_vsftpd() -> str | None:
    """Return where vsftpd is; None if it is not installed (scripts/install_ftp_server.sh)."""
    return shutil.which("vsftpd", path="/usr/sbin:/usr/local/sbin:/usr/bin")


@contextlib.contextmanager
def vsftpd(root: Path, work: Path) -> Iterator[Vsftpd]:
    """Serve the folder `root`; configuration and log go into `work`.

    Raises:
        RuntimeError: It is not installed, or does not come up.
    """
    program = find_vsftpd()
    if program is None:
        raise RuntimeError("vsftpd is not installed: scripts/install_ftp_server.sh")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log, config = work / "vsftpd.log", work / "vsftpd.conf"
    config.write_text(_CONFIG.format(port=port, root=root, log=log))
    process = subprocess.Popen(  # noqa: S603 - the program found above
        [program, str(config)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        _wait(process, port)
        yield Vsftpd(port, log)
    finally:
        process.terminate()
        process.communicate(timeout=_UP_WITHIN_S)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until it listens."""
    until = time.monotonic() + _UP_WITHIN_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(_PAUSE_S)
    process.kill()
    said = process.communicate()[0].decode(errors="replace")
    raise RuntimeError(f"vsftpd does not come up: {said.strip() or 'it says nothing'}")
