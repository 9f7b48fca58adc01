"""A cap on how deep the elements of a page nest.

Guarantee: text without more than `limit` open elements of the kinds that pile up; the text inside
is kept, only tags go. 50,000 nested `<div>` cost the tree builder 6 seconds, and more than
squares with depth; browsers stop at 512.
"""

from __future__ import annotations

import re

__all__ = ["MAX_DEPTH", "cap_nesting"]

MAX_DEPTH = 512

_MANY = 4 * MAX_DEPTH
"""Fewer tags than this are not worth a look."""

_TAG = re.compile(
    r"<(/?)(a|abbr|article|aside|b|big|blockquote|center|cite|code|del|details|dir|div|dl|em|"
    r"fieldset|figure|font|footer|form|h[1-6]|header|i|ins|label|main|menu|nav|nobr|object|ol|pre|"
    r"q|s|section|small|span|strike|strong|sub|summary|sup|svg|table|template|tt|u|ul|var|g|math|"
    r"[a-z]+-[a-z-]+)(?=[\s/>])[^<>]*>",
    re.IGNORECASE,
)


def cap_nesting(text: str, limit: int = MAX_DEPTH) -> str:
    """Return the text with the tags beyond `limit` open elements taken out."""
    if text.count("<") <= _MANY:
        return text
    depth = deepest = 0
    for tag in _TAG.finditer(text):
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        deepest = max(deepest, depth)
    return _cut(text, limit) if deepest > limit else text


def _cut(text: str, limit: int) -> str:
    depth = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal depth
        if tag[1]:
            depth = max(depth - 1, 0)
            return tag[0] if depth < limit else ""
        depth += 1
        return tag[0] if depth <= limit else ""

    return _TAG.sub(keep, text)
