"""The variables of an expression: Nutch's names → columns of a crawldb row.

Guarantee: any other name is a key of the page's metadata (`-` and `_` alike, as Nutch maps them);
a name that differs from a variable in case only is refused, since it can only be a slip.
Source: `CrawlDatum.execute`.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from filbert.model.statuses import PageStatus
from filbert.rules.expression.tokens import fault
from filbert.rules.expression.typed import DECIMAL, TEXT, WHOLE, Typed
from filbert.rules.sql import literal

if TYPE_CHECKING:
    from filbert.rules.expression.tree import Name

__all__ = ["VARIABLES", "column_of"]

_STATUS = " ".join(f"when {status.value} then {literal(status.label)}" for status in PageStatus)

_MOST_MS = (2**63 - 1) // 1000  # a column of times holds 64 bits of microseconds

VARIABLES: dict[str, Typed] = {
    "url": Typed("url", TEXT),
    "status": Typed(f"(case status {_STATUS} end)", TEXT),
    "fetchTime": Typed("fetch_time", WHOLE, _MOST_MS),
    "modifiedTime": Typed("coalesce(modified_time, 0)", WHOLE, _MOST_MS),
    "retries": Typed("cast(retries as bigint)", WHOLE),
    "interval": Typed("cast(fetch_interval as bigint)", WHOLE),
    "score": Typed("cast(score as double)", DECIMAL),
    "signature": Typed("lower(hex(signature))", TEXT),
    "fixedInterval": Typed("cast(fixed_interval as double)", DECIMAL),
    "Content_Type": Typed("content_type", TEXT),
    "_repr_": Typed("repr_url", TEXT),
    "_depth_": Typed("cast(depth as bigint)", WHOLE),
    "_maxdepth_": Typed("cast(max_depth as bigint)", WHOLE),
    "_orphan_": Typed("int_div(orphan_time, 1000)", WHOLE, _MOST_MS),
    # ours
    "host": Typed("host", TEXT),
    "domain": Typed("domain", TEXT),
}
"""Name → SQL over the columns of a crawldb row; times in epoch ms, intervals in seconds."""

_MOST_SPELLINGS = 16


def column_of(text: str, node: Name) -> Typed:
    """Return the SQL of a variable.

    Raises:
        UserError: The name is a variable's but for its case.
    """
    if node.name in VARIABLES:
        return VARIABLES[node.name]
    for known in VARIABLES:
        if known.lower() == node.name.lower():
            raise fault(text, node.column, f"there is no {node.name}", hint=f"Write {known}.")
    found = [f"metadata[{literal(key)}]" for key in _spellings(node.name)]
    return Typed(found[0] if len(found) == 1 else f"coalesce({', '.join(found)})", TEXT)


def _spellings(name: str) -> list[str]:
    """Return the keys that a name stands for: each underscore may be a hyphen."""
    pieces = name.split("_")
    if 2 ** (len(pieces) - 1) > _MOST_SPELLINGS:
        return [name, name.replace("_", "-")]
    joints = product("_-", repeat=len(pieces) - 1)
    return [
        pieces[0] + "".join(joint + piece for joint, piece in zip(way, pieces[1:], strict=True))
        for way in joints
    ]
