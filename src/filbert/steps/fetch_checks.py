"""What must be right before the first request of a fetch.

Guarantee: refused with what would be right, before anything was asked of anybody.
Source: Nutch's `checkConfiguration` (`http.agent.name` must be set).
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.rules.urls import scheme_of
from filbert.store.parquet import read_rows

if TYPE_CHECKING:
    from filbert.settings import Settings
    from filbert.store.segments import Segment

__all__ = ["check_agent", "check_partition"]


def check_agent(settings: Settings, segment: Segment) -> None:
    """Refuse to ask hosts of other people without a name.

    Raises:
        UserError: `http.agent_name` is not set and a URL is not of this machine.
    """
    if settings.http.agent_name.strip():
        return
    led_home = {
        entry.partition(":")[0].lower()
        for entry in settings.http.resolve
        if _is_loopback(entry.rpartition(":")[0].partition(":")[2].partition(":")[2].strip("[]"))
    }
    listed = segment.table("crawl_generate").files()
    for row in read_rows(listed, ("url", "host")):
        host = row["host"]
        if scheme_of(row["url"]) == "file" or _is_loopback(host) or _is_led(host, led_home):
            continue
        raise UserError(
            f"http.agent_name is not set, and {host or row['url']} is not this machine: hosts must "
            "be able to tell who asks",
            hint="Name your robot: -D http.agent_name=my-robot, or in filbert.toml:\n"
            '  [http]\n  agent_name = "my-robot"\n  agent_url = "https://example.org/my-robot"',
        )


def check_partition(settings: Settings, segment: Segment) -> None:
    """Refuse a segment whose parts would ask one queue's hosts from two processes.

    Raises:
        UserError: The queues are by domain or address, and the parts are not.
    """
    mode, parts = settings.fetcher.queue_mode, segment.parts()
    if len(parts) < 2 or mode == "host":
        return
    if mode == "ip" and settings.generate.partition_mode == "ip":
        return
    owner: dict[str, int] = {}
    listed = segment.table("crawl_generate").files()
    for row in read_rows(listed, ("domain", "part")) if mode == "domain" else ():
        if owner.setdefault(row["domain"], row["part"]) != row["part"]:
            break
    else:
        if mode == "domain":
            return
    raise UserError(
        f"fetcher.queue_mode is {mode}, but the {len(parts)} parts of segment {segment.name} were "
        "made by host: two parts would ask one server at once",
        hint=f"Generate with -D generate.partition_mode={mode}, or fetch with "
        "-D fetcher.queue_mode=host.",
    )


def _is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_led(host: str, names: set[str]) -> bool:
    """Say whether `http.resolve` leads a host to this machine; `*.test` stands for all below."""
    parents = host.split(".")
    wild = {f"*.{'.'.join(parents[n:])}" for n in range(1, len(parents))}
    return host in names or bool(wild & names)
