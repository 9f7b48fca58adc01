"""TLS: taken as it is unless certificates are to be checked, by both ways of asking."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from filbert.model.records import FetchRequest, ProtocolOutput
from filbert.plugins.protocols.http import HttpProtocol
from filbert.settings import Settings
from filbert.settings.fetcher import FetcherSettings
from filbert.settings.http import HttpSettings

HERE = Path(__file__).parent
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ODD = b"HTTP/1.1 200 OK\r\nNoColon\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture(scope="module")
def server_context(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A server's side with a certificate that nobody signed."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl: no certificate for the TLS tests")
    folder = tmp_path_factory.mktemp("tls")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
            ),
            *("-nodes", "-days", "1", "-keyout", str(key), "-out", str(certificate), *names),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def fetch(
    context: ssl.SSLContext, reply: bytes, times: int, *, check: bool = False
) -> list[ProtocolOutput]:
    """Fetch from a TLS server that says `reply`, several times."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(reply)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    async def run() -> list[ProtocolOutput]:
        made = HttpSettings(allow_addresses=("loopback",), tls_certificates_check=check)
        settings = Settings(http=made, fetcher=FetcherSettings(server_delay_s=0.0))
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        url = f"https://localhost:{server.sockets[0].getsockname()[1]}/"
        async with server, HttpProtocol.from_settings(settings, HERE) as protocol:
            return [await protocol.fetch(FetchRequest(url=url)) for _ in range(times)]

    return asyncio.run(run())


def test_a_certificate_is_not_asked_for_by_default(server_context: ssl.SSLContext) -> None:
    """As Nutch does, a crawler reads pages whose certificate has run out."""
    assert [output.body for output in fetch(server_context, OK, 2)] == [b"ok", b"ok"]


def test_a_certificate_that_does_not_verify_is_refused(server_context: ssl.SSLContext) -> None:
    """With `tls_certificates_check` there is no reply, and the failure says why."""
    (output,) = fetch(server_context, OK, 1, check=True)
    assert output.http_status is None
    assert output.message.startswith("tls_failed:")


def test_the_second_way_speaks_tls(server_context: ssl.SSLContext) -> None:
    """Replies that libcurl refuses are read over TLS too."""
    assert [output.body for output in fetch(server_context, ODD, 2)] == [b"ok", b"ok"]
