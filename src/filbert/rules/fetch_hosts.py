"""What the hostdb gives to a fetch, and takes from it.

Guarantee: after a merge each key stands once, with what was noted of it last.
Source: Nutch keeps no politeness state between rounds; `HostDb` is the name's origin.
"""

from __future__ import annotations

from filbert.model.schemas import HOSTDB
from filbert.rules.sql import render

__all__ = ["known_hosts", "merged_hosts"]


def known_hosts() -> str:
    """Return the SQL of the rows of view `hostdb` that concern the fetch list, view `listed`."""
    return render("fetch_hosts.sql", columns=_columns())


def merged_hosts() -> str:
    """Return the SQL of view `hostdb` with the rows of view `noted` taken in."""
    return render("fetch_hosts_merge.sql", columns=_columns())


def _columns() -> str:
    return ", ".join(HOSTDB.names)
