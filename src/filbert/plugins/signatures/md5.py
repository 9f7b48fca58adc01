"""The signatures `md5` and `text-md5`.

Guarantee: the same bytes as Nutch's `MD5Signature` and `TextMD5Signature` (golden table
`signatures`): MD5 of the content (of the URL if it is empty), and of the text (of the content if
there is none).
"""

from __future__ import annotations

import re
import struct
from hashlib import md5
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.model.records import Page, Parse
    from filbert.settings import Settings

__all__ = ["Md5Signature", "TextMd5Signature", "content_md5", "text_md5"]


_BEYOND = re.compile("[\U00010000-\U0010ffff]")


def text_md5(text: str) -> bytes:
    """Return the MD5 of a text as Hadoop writes it: each UTF-16 unit in UTF-8."""
    if _BEYOND.search(text):
        units = text.encode("utf-16-be", "surrogatepass")
        text = "".join(map(chr, struct.unpack(f">{len(units) // 2}H", units)))
    return md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def content_md5(page: Page) -> bytes:
    """Return the MD5 of the body, or of the URL if the body is empty."""
    content = page.body or page.url.encode("utf-8", "replace")
    return md5(content, usedforsecurity=False).digest()


class Md5Signature:
    """Equal for equal bytes."""

    name = "md5"

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the signature; it has no settings."""
        del settings, folder
        return cls()

    def calculate(self, page: Page, parse: Parse | None) -> bytes:
        """Return 16 bytes."""
        del parse
        return content_md5(page)


class TextMd5Signature:
    """Equal for equal text."""

    name = "text-md5"

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        """Make the signature; it has no settings."""
        del settings, folder
        return cls()

    def calculate(self, page: Page, parse: Parse | None) -> bytes:
        """Return 16 bytes."""
        if parse is None or not parse.text:
            return content_md5(page)
        return text_md5(parse.text)
