"""Strings as the old Nutch kept them: its class `UTF8`.

Guarantee: each UTF-16 code unit is coded for itself: U+0001 to U+007F in one byte, U+0000 and
U+0080 to U+07FF in two, all others in three, so that a supplementary character takes six bytes.
Reading judges the lead byte alone and validates nothing, as the class did; a lone surrogate comes
out as one. At most 65,535 bytes: a longer string is cut, with a warning.
Source: Nutch 0.7 `io.UTF8`; Java's modified UTF-8 (`DataOutput.writeUTF`) is the same code.
"""

from __future__ import annotations

import logging

__all__ = ["MAX_BYTES", "MAX_UNITS", "decode", "encode", "utf8_bytes"]

MAX_BYTES = 0xFFFF
MAX_UNITS = MAX_BYTES // 3
"""UTF-16 code units of the longest string that surely fits, as `UTF8` reckons."""

_SHOWN = 20
_log = logging.getLogger(__name__)


def encode(text: str) -> bytes:
    """Return the bytes of a string, however long."""
    if text.isascii() and "\0" not in text:
        return text.encode("ascii")
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    coded = bytearray()
    for unit in units:
        if 0 < unit < 0x80:
            coded.append(unit)
        elif unit < 0x800:
            coded += bytes((0xC0 | unit >> 6, 0x80 | unit & 0x3F))
        else:
            coded += bytes((0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F))
    return bytes(coded)


def decode(coded: bytes) -> str:
    """Return the string of bytes; a character that the end cuts off is left out."""
    if coded.isascii():
        return coded.decode("ascii")
    units = bytearray()
    position, end = 0, len(coded)
    while position < end:
        lead = coded[position]
        width = 1 if lead < 0x80 else 3 if lead >= 0xE0 else 2
        if position + width > end:
            break
        if width == 1:
            unit = lead
        elif width == 2:
            unit = (lead & 0x1F) << 6 | coded[position + 1] & 0x3F
        else:
            unit = (lead & 0x0F) << 12 | (coded[position + 1] & 0x3F) << 6
            unit |= coded[position + 2] & 0x3F
        units += unit.to_bytes(2, "little")
        position += width
    return units.decode("utf-16-le", "surrogatepass")


def utf8_bytes(text: str) -> bytes:
    """Return the bytes of a string as `UTF8.write` would: cut to `MAX_UNITS`, with a warning."""
    if len(text) * 2 > MAX_UNITS:  # else it cannot have more units
        units = text.encode("utf-16-le", "surrogatepass")
        if len(units) // 2 > MAX_UNITS:
            shown = text[:_SHOWN]
            _log.warning(
                "truncating long string: %d chars, starting with %s", len(units) // 2, shown
            )
            text = units[: MAX_UNITS * 2].decode("utf-16-le", "surrogatepass")
    return encode(text)
