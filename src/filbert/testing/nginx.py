"""Debian's nginx on loopback ports, plain and over TLS with HTTP/2, for tests and trials.

Guarantee: serves one folder as any host; a certificate authority of its own signs for the names
given; the access log says protocol, host and path of each request. Source: nginx's documentation.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.testing.daemons import daemon, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["Nginx", "make_certificates", "nginx"]

_CONFIG = """\
daemon off;
{user}
worker_processes 1;
pid {work}/nginx.pid;
error_log {work}/error.log warn;
events {{ worker_connections 4096; }}
http {{
  types {{ text/html html; text/plain txt; }}
  default_type application/octet-stream;
  log_format seen '$server_protocol $ssl_protocol $http_host $request_uri';
  access_log {work}/access.log seen;
  client_body_temp_path {work}/t1; proxy_temp_path {work}/t2; fastcgi_temp_path {work}/t3;
  uwsgi_temp_path {work}/t4; scgi_temp_path {work}/t5;
  keepalive_requests 100000;
  gzip on; gzip_types text/html text/plain; gzip_min_length 1; gzip_static {static};
  root {root};
  server {{
    listen 127.0.0.1:{port};
{tls}
  }}
}}
"""
_TLS = """\
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {work}/server.pem; ssl_certificate_key {work}/server.key;
    ssl_protocols TLSv1.2 TLSv1.3;
"""


@dataclass(frozen=True, slots=True)
class Nginx:
    """A running nginx.

    Attributes:
        port: Where it answers HTTP.
        tls_port: Where it answers HTTPS, with HTTP/2; 0: nowhere.
        authority: File with the certificate of the authority that signed.
        log: Its access log.
    """

    port: int
    tls_port: int
    authority: Path
    log: Path

    def seen(self) -> list[list[str]]:
        """Return the requests: protocol, TLS version or `-`, host, path."""
        return [line.split(" ") for line in self.log.read_text(encoding="utf-8").splitlines()]


@contextlib.contextmanager
def nginx(
    root: Path, work: Path, *, names: Sequence[str] = (), static_gzip: bool = False
) -> Iterator[Nginx]:
    """Serve a folder.

    Args:
        root: The folder.
        work: Where configuration, certificates and logs go.
        names: What the certificate is for; none: nothing is served over TLS.
        static_gzip: Files `name.gz` are there, and sent to who takes gzip.

    Raises:
        RuntimeError: nginx is not installed, or does not come up.
    """
    port, tls_port, tls = free_port(), 0, ""
    if names:
        make_certificates(work, names)
        tls_port = free_port()
        tls = _TLS.format(port=tls_port, work=work)
    config = work / "nginx.conf"
    static = "on" if static_gzip else "off"
    # A worker of root's nginx is else another user, who may not read the folders of tests.
    user = "user root;" if os.geteuid() == 0 else ""
    text = _CONFIG.format(user=user, work=work, root=root, port=port, tls=tls, static=static)
    config.write_text(text, encoding="utf-8")
    with daemon("nginx", ["-c", str(config), "-p", str(work), "-e", str(work / "error.log")], port):
        yield Nginx(port, tls_port, work / "authority.pem", work / "access.log")


def make_certificates(work: Path, names: Sequence[str]) -> None:
    """Make an authority, and a certificate of it for some names: authority.pem, server.pem, .key.

    Raises:
        RuntimeError: OpenSSL's command is missing, or fails.
    """
    wanted = ",".join(f"{'IP' if n.replace('.', '').isdigit() else 'DNS'}:{n}" for n in names)
    key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    usage = "-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign"
    names_of = "-keyout authority.key -out authority.pem -subj /CN=authority"
    _openssl(work, f"req -x509 {key} -days 2 {names_of} {usage}")
    _openssl(work, f"req {key} -keyout server.key -out server.csr -subj /CN=server")
    (work / "server.ext").write_text(f"subjectAltName={wanted}\n", encoding="ascii")
    signer = "-CA authority.pem -CAkey authority.key -CAcreateserial"
    _openssl(work, f"x509 -req -in server.csr {signer} -days 2 -extfile server.ext -out server.pem")


def _openssl(work: Path, arguments: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own words
        ["openssl", *arguments.split()],  # noqa: S607 - wherever it is installed
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"openssl {arguments.partition(' ')[0]} failed: {done.stderr.strip()}")
