"""The Refresh header and `<meta http-equiv="refresh">`.

Guarantee: reads what browsers read: seconds, then an address with or without `url=` and quotes.
Source: WHATWG HTML, "shared declarative refresh steps".
"""

from __future__ import annotations

import re

__all__ = ["parse_refresh"]

_REFRESH = re.compile(r"\s*(\d++|(?=\.))[\d.]*+(?:\s*[;,]\s*|\s+|\Z)(.*)", re.DOTALL)
_LONGEST_S = 2**31 - 1
"""What a table holds. Python refuses to read a number of thousands of digits."""

_URL = re.compile(r"url\s*=\s*(.*)", re.DOTALL | re.IGNORECASE)


def parse_refresh(content: str) -> tuple[int, str] | None:
    """Return (seconds, address); the address is empty for the page itself. None: no refresh."""
    found = _REFRESH.fullmatch(content)
    if found is None:
        return None
    rest = found[2].strip()
    if named := _URL.match(rest):
        rest = named[1]
    if rest[:1] in {"'", '"'}:
        rest = rest[1:].partition(rest[0])[0]
    digits = found[1].lstrip("0")
    return (int(digits or 0) if len(digits) < 10 else _LONGEST_S), rest.strip()
