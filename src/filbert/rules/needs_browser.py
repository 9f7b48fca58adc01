"""Whether a page must be rendered by a browser before it says anything.

Guarantee: a pure function over the bytes of a page, linear in their length, that looks at the first
megabyte alone. It errs on the side of no: a browser costs a hundred times what a request does.

A page needs one if scripts are all it has to show: little text, and beside it one of
- the root that an application writes into (`<div id="root"></div>`, `app`, `__next` …), empty;
- a `noscript` that asks for JavaScript;
- a body that holds nothing but scripts.
What a server rendered itself has text, and is left alone, whatever framework made it.
Source: what Vue, React, Angular, Svelte, Ember and Next.js serve; spec/wants 39.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

__all__ = ["Need", "needs_browser"]

_LOOKED_AT = 1 << 20
_FLAGS = re.IGNORECASE | re.DOTALL
_IDS = (
    "root|app|main|application|__next|__nuxt|___gatsby|react-root|app-root|svelte|ember-app|q-app"
)
_ROOT = re.compile(
    rb"<(?:div|main|section)\b[^>]{0,150}\bid\s*=\s*[\"']?(?:" + _IDS.encode() + rb")[\"']?"
    rb"(?:\s[^>]{0,150})?>\s*(?:<!--.{0,150}?-->\s*)?</",
    _FLAGS,
)
_ELEMENT = re.compile(rb"<(app|app-root|[a-z]+-app|[a-z]+-root)\b[^>]{0,150}>\s*</\1\s*>", _FLAGS)
_NOSCRIPT = re.compile(rb"<noscript\b", re.IGNORECASE)
_NOSCRIPT_END = re.compile(rb"</noscript", re.IGNORECASE)
_MOST_NOSCRIPTS = 20
_NOSCRIPT_LENGTH = 5_000
_ASKS = re.compile(rb"javascript|java script|scripting|enable js", re.IGNORECASE)
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_HIDDEN = re.compile(
    rb"<(script|style|noscript|template|svg|head)\b[^>]*>.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)",
    _FLAGS,
)
_TAG = re.compile(rb"<[^>]*>")
_SPACE = re.compile(rb"(?:\s|&nbsp;)+", re.IGNORECASE)
_LINK = re.compile(rb"<a\b[^>]*\bhref\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Need:
    """Whether, and by which sign: `app_root`, `noscript` or `only_scripts`; empty: it does not."""

    sign: str = ""

    def __bool__(self) -> bool:
        """Tell whether a browser is needed."""
        return bool(self.sign)


def needs_browser(body: bytes, *, least_text: int) -> Need:
    """Return whether an HTML page needs a browser.

    Args:
        body: The page, decoded from its content coding.
        least_text: Bytes of visible text from which on it is left alone.
    """
    page = body[:_LOOKED_AT]
    if _SCRIPT.search(page) is None:
        return Need()
    shown = _HIDDEN.sub(b" ", page)
    text = _SPACE.sub(b" ", _TAG.sub(b" ", shown)).strip()
    if len(text) >= least_text:
        return Need()
    if _ROOT.search(page) or _ELEMENT.search(page):
        return Need("app_root")
    if _asks_for_scripts(page):
        return Need("noscript")
    if not text and _LINK.search(shown) is None:
        return Need("only_scripts")
    return Need()


def _asks_for_scripts(page: bytes) -> bool:
    """Say whether a noscript speaks of JavaScript; what its tag says does not count."""
    for found in islice(_NOSCRIPT.finditer(page), _MOST_NOSCRIPTS):
        words = page[found.end() : found.end() + _NOSCRIPT_LENGTH]
        end = _NOSCRIPT_END.search(words)
        if end is not None and _ASKS.search(words[: end.start()].partition(b">")[2]):
            return True
    return False
