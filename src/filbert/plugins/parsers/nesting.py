"""A cap on how deep the elements of a page nest.

Guarantee: text without more than `limit` open elements of the kinds that pile up, and not more
than twice as many of unknown ones, which are counted on their own, so that the `<name@host>` of
mails takes no link away; the text inside is kept, only tags go. 50,000 nested `<div>` cost the
tree builder 6 seconds, and more than squares with depth; browsers stop at 512.
"""

from __future__ import annotations

import re
from enum import IntEnum

from filbert.plugins.parsers.names import REST_OF_TAG

__all__ = ["MAX_DEPTH", "cap_nesting"]

MAX_DEPTH = 512

_MANY = 4 * MAX_DEPTH
"""Fewer tags than this are not worth a look."""

_PILING = frozenset({
    "a", "abbr", "acronym", "address", "applet", "article", "aside", "audio", "b", "bdi", "bdo",
    "big", "blink", "blockquote", "canvas", "center", "cite", "code", "data", "datalist", "del",
    "details", "dfn", "dialog", "dir", "div", "dl", "em", "fieldset", "figcaption", "figure",
    "font", "footer", "form", "g", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "i",
    "ins", "kbd", "label", "legend", "listing", "main", "map", "mark", "marquee", "math", "menu",
    "meter", "nav", "nobr", "object", "ol", "output", "picture", "pre", "progress", "q", "s",
    "samp", "search", "section", "slot", "small", "span", "strike", "strong", "sub", "summary",
    "sup", "svg", "table", "template", "time", "tt", "u", "ul", "var", "video",
})  # fmt: skip
# They have no end, or may leave it out; or hold nothing but text.
_FLAT = frozenset({
    "area", "base", "basefont", "bgsound", "body", "br", "caption", "col", "colgroup", "dd", "dt",
    "embed", "frame", "head", "hr", "html", "iframe", "image", "img", "input", "keygen", "li",
    "link", "meta", "noembed", "noframes", "option", "p", "param", "plaintext", "script", "source",
    "style", "tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr", "track", "wbr",
    "xmp",
})  # fmt: skip
_TAG_NAME = re.compile(r"</?[a-z][^\s/>]*+", re.IGNORECASE)
_TAG = re.compile(rf"({_TAG_NAME.pattern}){REST_OF_TAG}", re.IGNORECASE)


class _Kind(IntEnum):
    FLAT = 0
    PILING = 1
    UNKNOWN = 2


class _Depths:
    """How many elements of each kind are open, as tags come."""

    def __init__(self) -> None:
        self.open = [0, 0, 0]
        self.deepest = [0, 0, 0]
        self._steps: dict[str, tuple[_Kind, int]] = {}

    def take(self, tag: str) -> _Kind:
        """Count a tag, such as `<div` or `</div`; return its kind."""
        step = self._steps.get(tag)
        if step is None:
            name = tag.lstrip("</").lower()
            step = self._steps[tag] = _kind(name), -1 if tag.startswith("</") else 1
        kind, change = step
        depth = self.open[kind] = max(self.open[kind] + change, 0)
        self.deepest[kind] = max(self.deepest[kind], depth)
        return kind


def cap_nesting(text: str, limit: int = MAX_DEPTH) -> str:
    """Return the text with the tags beyond `limit` open elements taken out."""
    if text.count("<") <= _MANY:
        return text
    limits = (len(text), limit, 2 * limit)
    depths = _Depths()
    for tag in _TAG_NAME.findall(text):
        depths.take(tag)
    if all(deepest <= most for deepest, most in zip(depths.deepest, limits, strict=True)):
        return text
    return _cut(text, limits)


def _kind(name: str) -> _Kind:
    if name in _FLAT:
        return _Kind.FLAT
    is_custom = "-" in name and name.replace("-", "").isalpha()
    return _Kind.PILING if is_custom or name in _PILING else _Kind.UNKNOWN


def _cut(text: str, limits: tuple[int, ...]) -> str:
    depths = _Depths()

    def keep(tag: re.Match[str]) -> str:
        kind = depths.take(tag[1])
        ends = tag[1].startswith("</")
        return tag[0] if depths.open[kind] + ends <= limits[kind] else ""

    return _TAG.sub(keep, text)
