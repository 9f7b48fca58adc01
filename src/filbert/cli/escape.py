"""Text of the web made safe to print on a terminal.

Guarantee: no character of a page moves the cursor, changes colours or titles, or turns the
direction of writing: such characters are shown as escapes. Line breaks and tabs stay, and a line
may end as in HTTP. Every form for people goes through here; the forms for programs keep each
character, but for those printed straight to a terminal.
"""

from __future__ import annotations

import re

__all__ = ["printable"]

# C0 but tab and line feed, DEL, C1; the marks that embed or override a direction of writing.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return the text with unsafe characters as JSON escapes them, such as `\u001b`."""
    lines = text.replace("\r\n", "\n")
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", lines)
