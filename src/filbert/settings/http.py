"""Settings of HTTP requests: who we say we are, limits, headers, redirects, addresses.

Source of names and defaults: Nutch's `http.*` properties; where a default is better than Nutch's
the description says why.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from filbert import __version__
from filbert.settings.base import Names, OneLine, OneLineNames, PathOf, Section

__all__ = ["HttpSettings"]


class HttpSettings(Section):
    """How we ask a web server."""

    agent_name: OneLine = Field(
        "",
        description="Name of the robot: sent in User-Agent and matched in robots.txt. Must be set "
        "before a fetch of anything but loopback.",
    )
    agent_version: OneLine = Field(
        f"filbert-{__version__}", description="Version after the name in User-Agent."
    )
    agent_description: OneLine = Field("", description="Free text inside User-Agent's parentheses.")
    agent_url: OneLine = Field(
        "", description="Page about the robot, inside User-Agent's parentheses."
    )
    agent_email: OneLine = Field("", description="Contact, inside User-Agent's parentheses.")
    robots_agents: OneLineNames = Field(
        (), description="Further agent names whose groups in robots.txt we obey."
    )
    accept: OneLine = Field(
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        description="Accept header; blank leaves it out.",
    )
    accept_language: OneLine = Field(
        "en-us,en-gb,en;q=0.7,*;q=0.3", description="Accept-Language header; blank leaves it out."
    )
    accept_charset: OneLine = Field(
        "",
        description="Accept-Charset header; blank leaves it out. Nutch sends one; no browser "
        "has since 2012, and some servers answer 406 to it.",
    )
    timeout_ms: int = Field(
        10_000, ge=1, le=2**31 - 1, description="Limit of connecting, and of silence, in ms."
    )
    time_limit_s: int = Field(
        180,
        ge=-1,
        description="Limit of one whole request in seconds; -1 off. Nutch has none, so one slow "
        "server can hold a thread for ever (NUTCH-3174).",
    )
    content_limit: int = Field(
        5_242_880,
        ge=-1,
        description="Most bytes kept of a body, after decompression; -1 unlimited. Nutch keeps "
        "1 MiB, which cuts many documents and feeds.",
    )
    headers_limit: int = Field(
        262_144, ge=1024, description="Most bytes of response headers before the reply is refused."
    )
    partial_truncated: bool = Field(
        default=False,
        description="Keep what came of a body that broke off or ran out of time, marked as "
        "truncated, instead of a failure.",
    )
    redirect_max: int = Field(
        0,
        ge=0,
        description="Redirects followed at once, when the target is in the same part; 0 leaves "
        "each to the next round, as Nutch does: the target then goes through the crawldb, so that "
        "a page that is known already is not fetched once more.",
    )
    redirect_max_exceeded_skip: bool = Field(
        default=False, description="Drop the target beyond `redirect_max` instead of linking it."
    )
    agent_rotate: bool = Field(
        default=False,
        description="Send one of the User-Agents of `agent_rotate_file`, by the URL. robots.txt is "
        "obeyed for `agent_name` all the same; hosts like to know who asks.",
    )
    agent_rotate_file: Annotated[str, PathOf("agents.txt")] = Field(
        "", description="File with a whole User-Agent a line."
    )
    auth_file: Annotated[str, PathOf()] = Field(
        "",
        description="File of logins (TOML, [[login]] tables): docs/how-to/logins-and-cookies.md.",
    )
    cookie_file: Annotated[str, PathOf("cookies.txt")] = Field(
        "", description="File of cookies that hosts always get: lines of host, TAB, cookie."
    )
    cookie_jar: bool = Field(
        default=False,
        description="Keep the cookies that hosts set, while a fetch runs, and send them back.",
    )
    tls_certificates_check: bool = Field(
        default=False, description="Refuse servers whose TLS certificate does not verify."
    )
    tls_ca_file: Annotated[str, PathOf()] = Field(
        "",
        description="File of the certificates (PEM) that are trusted, instead of the system's, "
        "with `tls_certificates_check`.",
    )
    http_version: Literal["1.0", "1.1", "2"] = Field(
        "1.1", description="Highest version of HTTP that is offered."
    )
    if_modified_since: bool = Field(
        default=True, description="Ask conditionally for pages that we have."
    )
    cookie_header: bool = Field(
        default=True, description="Send the `Cookie` of a page's metadata, when a seed gave one."
    )
    allow_addresses: Names = Field(
        (),
        description="Addresses that the guard lets through though they are not public: IPs, CIDRs, "
        "`loopback`, `private`, `link-local`, or `host:port` as it stands in URLs. A host named "
        "by a seed needs no entry.",
    )
    deny_addresses: Names = Field(
        (), description="Addresses never connected to: IPs, CIDRs, or the words above."
    )
    only_addresses: Names = Field(
        (), description="If not empty: the only addresses connected to: IPs, CIDRs, or the words."
    )
    resolve: Names = Field(
        (),
        description="Names led elsewhere without DNS, as curl's connect-to: "
        "`host:port:address:port`; a host `*.test` stands for all names under `test`. The guard "
        "judges the address that is connected to.",
    )

    def robot_names(self) -> tuple[str, ...]:
        """Return the names that robots.txt and robots tags may mean us by; none without one."""
        return tuple(name for name in (self.agent_name.strip(), *self.robots_agents) if name)
