"""Addresses in plain text.

Guarantee: linear in the length of the text; trailing marks of a sentence are no part of an
address. Source: Nutch `OutlinkExtractor`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["plain_links"]

_LONGEST = 2048

_URL = re.compile(
    r"(?<![A-Za-z0-9+.-])(?:https?|ftp)://[^\s<>\"'`{}|\\^\x00-\x20\x7f]{1,%d}" % _LONGEST,  # noqa: UP031
    re.IGNORECASE,
)
_AT_END = ".,;:!?*_~"
_PAIRS = {")": "(", "]": "["}


def plain_links(text: str) -> Iterator[str]:
    """Yield the addresses in a text, in order, as written."""
    for found in _URL.finditer(text):
        yield _without_marks(found[0])


def _without_marks(url: str) -> str:
    while url:
        last = url[-1]
        opening = _PAIRS.get(last)
        unpaired = opening is not None and url.count(opening) < url.count(last)
        if last not in _AT_END and not unpaired:
            return url
        url = url[:-1]
    return url
