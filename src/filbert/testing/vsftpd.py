"""Debian's vsftpd on a loopback port of its own, for tests and trials.

Guarantee: serves one folder to the anonymous, read-only, with passive ports; ends with its context.
Its own log says who asked for what. Source: vsftpd.conf(5).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.testing.daemons import daemon, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Vsftpd", "vsftpd"]

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


@dataclass(frozen=True, slots=True)
class Vsftpd:
    """A running server: its port, and its log of commands."""

    port: int
    log: Path

    @property
    def url(self) -> str:
        """URL of its root."""
        return f"ftp://127.0.0.1:{self.port}/"


@contextlib.contextmanager
def vsftpd(root: Path, work: Path) -> Iterator[Vsftpd]:
    """Serve the folder `root`; configuration and log go into `work`.

    Raises:
        RuntimeError: It is not installed, or does not come up.
    """
    port = free_port()
    log, config = work / "vsftpd.log", work / "vsftpd.conf"
    config.write_text(_CONFIG.format(port=port, root=root, log=log))
    with daemon("vsftpd", [str(config)], port):
        yield Vsftpd(port, log)
