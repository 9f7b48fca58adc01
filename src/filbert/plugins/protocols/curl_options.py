"""How the settings stand in libcurl's options.

Guarantee: nothing is decided by libcurl for us: no redirect is followed, no body decoded, no proxy
taken from the environment, no name remembered.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import pycurl

if TYPE_CHECKING:
    from filbert.settings.http import HttpSettings

__all__ = ["curl_options"]

_SUPPRESS_CONNECT_HEADERS = 265  # has no name in pycurl
_VERSIONS = {
    "1.0": pycurl.CURL_HTTP_VERSION_1_0,
    "1.1": pycurl.CURL_HTTP_VERSION_1_1,
    "2": pycurl.CURL_HTTP_VERSION_2TLS,
}


def curl_options(settings: HttpSettings, *, silence_ms: int, total_ms: int) -> dict[int, object]:
    """Return the options of every handle, by libcurl's number.

    Args:
        settings: How we ask.
        silence_ms: Limit of connecting, and of silence.
        total_ms: Limit of a whole request; 0: none.
    """
    options: dict[int, object] = {
        pycurl.NOSIGNAL: 1,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.PROXY: "",  # the environment's proxy would be a surprise
        pycurl.NOPROXY: "",
        pycurl.PROXYAUTH: pycurl.HTTPAUTH_BASIC,  # any other asks twice
        _SUPPRESS_CONNECT_HEADERS: 1,
        pycurl.HTTP_VERSION: _VERSIONS[settings.http_version],
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.HTTP09_ALLOWED: 1,
        pycurl.DNS_CACHE_TIMEOUT: 0,
        pycurl.CONNECTTIMEOUT_MS: silence_ms,
        pycurl.TIMEOUT_MS: total_ms,
        pycurl.LOW_SPEED_LIMIT: 1,
        pycurl.LOW_SPEED_TIME: max(1, -(-silence_ms // 1000)),
        pycurl.SSL_VERIFYPEER: int(settings.tls_certificates_check),
        pycurl.SSL_VERIFYHOST: 2 if settings.tls_certificates_check else 0,
    }
    if settings.tls_certificates_check:
        options.update(_authorities(settings.tls_ca_file))
    else:
        # Who does not ask for the certificate takes old servers as they are, as Nutch does.
        options[pycurl.SSLVERSION] = pycurl.SSLVERSION_TLSv1_0
        options[pycurl.SSL_CIPHER_LIST] = "DEFAULT@SECLEVEL=0"
    return options


def _authorities(own: str) -> dict[int, object]:
    """Return where the trusted certificates are: the wheel's libcurl does not know the system's."""
    if own:
        return {pycurl.CAINFO: own}
    paths = ssl.get_default_verify_paths()
    found: dict[int, object] = {}
    if paths.cafile and Path(paths.cafile).is_file():
        found[pycurl.CAINFO] = paths.cafile
    if paths.capath and Path(paths.capath).is_dir():
        found[pycurl.CAPATH] = paths.capath
    return found
