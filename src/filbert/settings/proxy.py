"""Settings of the proxy that http and https URLs are asked through.

Source: Nutch's `http.proxy.*` properties.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from filbert.settings.base import Names, OneLine, Section

__all__ = ["ProxySettings"]


class ProxySettings(Section):
    """The proxy, if any. What the address guard does then: docs/decisions/0014."""

    host: OneLine = Field(
        "",
        description="Its name or address; blank: hosts are asked directly. The environment's "
        "proxy is never used.",
    )
    port: int = Field(8080, ge=1, le=65_535, description="Its port.")
    type: Literal["http", "socks4", "socks5"] = Field("http", description="What it speaks.")
    username: OneLine = Field("", description="User to log in as; blank: it asks for none.")
    password: OneLine = Field("", description="Password of the user.")
    exceptions: Names = Field(
        (), description="Hosts asked directly: names, exact or with `*` at one end."
    )
    dns: Literal["local", "proxy"] = Field(
        "local",
        description="Who looks up names: `local` looks here too, and asks for no host whose "
        "address the guard refuses; `proxy` leaves names, and the judging of them, to the proxy: "
        "for networks where only the proxy sees the names of the web.",
    )
