"""What must be right before the first request of a fetch.

Guarantee: refused with what would be right, before anything was asked of anybody.
Source: Nutch's `checkConfiguration` (`http.agent.name` must be set).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.rules.this_machine import ThisMachine
from filbert.store.parquet import read_rows

if TYPE_CHECKING:
    from filbert.engine.base import Files
    from filbert.settings import Settings
    from filbert.store.segments import Segment

__all__ = ["NamelessError", "check_agent", "check_partition"]


class NamelessError(UserError):
    """The robot has no name, and there are only hosts of other people to ask."""


def check_agent(settings: Settings, listed: Files) -> None:
    """Refuse to ask hosts of other people without a name, if there is nobody else to ask.

    (In a list that has URLs of this machine, too, the others are left due; the part sees to it.)

    Args:
        settings: The settings of the crawl.
        listed: Rows with url and host: a fetch list, or what is to become one.

    Raises:
        NamelessError: `http.agent_name` is not set and no URL is of this machine.
    """
    if settings.http.agent_name.strip():
        return
    home = ThisMachine(settings.http.resolve)
    foreign = ""
    for row in read_rows(listed, ("url", "host")):
        if home.has(row["url"], row["host"]):
            return
        foreign = foreign or row["host"] or row["url"]
    if foreign:
        raise NamelessError(
            f"http.agent_name is not set, and {foreign} is not this machine: hosts must be able to "
            "tell who asks",
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
    if "ip" in mode and settings.generate.partition_mode == "ip":
        return
    owner: dict[str, int] = {}
    listed = segment.table("crawl_generate").files()
    for row in read_rows(listed, ("domain", "part")) if mode == "domain" else ():
        if owner.setdefault(row["domain"], row["part"]) != row["part"]:
            break
    else:
        if mode == "domain":
            return
    wanted = mode.removeprefix("host+")
    raise UserError(
        f"fetcher.queue_mode is {mode}, but the {len(parts)} parts of segment {segment.name} were "
        "made by host: two parts would ask one server at once",
        hint=f"Generate with -D generate.partition_mode={wanted}, or fetch with "
        "-D fetcher.queue_mode=host.",
    )
