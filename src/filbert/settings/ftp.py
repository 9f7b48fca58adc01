"""Settings of the `ftp:` protocol.

Source: Nutch's `ftp.*` properties; where a default is better than Nutch's the description says why.
"""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import OneLine, Section

__all__ = ["FtpSettings"]


class FtpSettings(Section):
    """How FTP servers are asked. Addresses, `resolve` and `time_limit_s` are those of `http`."""

    username: OneLine = Field(
        "anonymous", description="Login name; a URL that has one of its own says it itself."
    )
    password: OneLine = Field(
        "anonymous@example.com",
        description="Password. Servers expect an e-mail address of the anonymous.",
    )
    content_limit: int = Field(
        5_242_880,
        ge=-1,
        description="Most bytes kept of a file or listing; -1 unlimited. As `http.content_limit`.",
    )
    timeout_ms: int = Field(
        60_000, ge=1, le=2**31 - 1, description="Limit of connecting, and of silence, in ms."
    )
    server_timeout_ms: int = Field(
        100_000,
        ge=1,
        le=2**31 - 1,
        description="A connection idle for longer, in ms, is taken to be closed by the server and "
        "is not used again.",
    )
    keep_connection: bool = Field(
        default=True,
        description="Keep the control connection for the next request to the host. Nutch logs in "
        "anew for each file, which is more work for the server.",
    )
    follow_talk: bool = Field(
        default=False, description="Log what is said on control connections, without passwords."
    )
