"""A cap on how many attributes a tag has, and how many names of tags and attributes a page.

Guarantee: a page within the limits is left as it is, and all pages of less than 128 Ki characters
are. Of others only what is beyond them goes: attributes behind the first 1,024 of a tag, and tags
that bring names when the page has 16,384. Text stays. The time is linear in the page.
Why: lexbor compares each attribute with all before it in the tag, and each new name with a share
of all that it has seen: a tag of 200,000 attributes took it minutes. Real pages have below 100
attributes in a tag, and some hundred names.
Source: the tokenizer of HTML (WHATWG, 13.2.5); a script inside `<svg>` is read as one outside.
"""

from __future__ import annotations

import re

__all__ = ["MAX_ATTRIBUTES", "MAX_NAMES", "REST_OF_TAG", "cap_names"]

MAX_ATTRIBUTES = 1024
MAX_NAMES = 16_384
_LONG_TAGS_FROM = 128 << 10
_MANY_NAMES_FROM = 1 << 20
"""Shorter pages cannot hold enough to cost more than a few seconds."""

_MERGED = re.compile(r"<(?:html|body)[\t\n\f\r /]", re.IGNORECASE)
_MANY_MERGED = 10
"""Each of these adds its attributes to one element; a page has one of them."""

# Every quantifier is possessive or atomic: nothing is read twice.
_BLANK = r"[\t\n\f\r ]"
_VALUE = r"""(?:"[^"]*+"?+|'[^']*+'?+|[^\t\n\f\r >"'][^\t\n\f\r >]*+)"""
_NAME = r"(?:=?+[^\t\n\f\r />=]++|=)"
_ASSIGNED = rf"(?:{_BLANK}*+={_BLANK}*+{_VALUE}?+)?+"
_ATTRIBUTE = rf"(?:[\t\n\f\r /]*+{_NAME}{_ASSIGNED})"
_FEW = rf"{_ATTRIBUTE}{{0,{MAX_ATTRIBUTES}}}+"
_END = r"[\t\n\f\r /]*+(?:>|\Z)"
_COMMENT = r"!(?:--(?>-?>|.*?--!?>|.*))?+"
_SCRIPT = r"(?=script[\t\n\f\r />])"
_SOURCE = r"(?>.*?(?=</script)|.*)"
_TAG_NAME = r"/?[a-z][^\t\n\f\r />]*+"

REST_OF_TAG = rf"{_ATTRIBUTE}*+{_END}"
"""What follows the name of a tag, up to its end or that of the page."""

_ORDINARY = re.compile(
    rf"(?:[^<]++|<(?:{_COMMENT}|{_SCRIPT}{_TAG_NAME}{_FEW}{_END}{_SOURCE}"
    rf"|(?!{_SCRIPT}){_TAG_NAME}{_FEW}{_END}|(?!!|/?[a-z])))*+",
    re.IGNORECASE | re.DOTALL,
)
_PIECE = re.compile(
    rf"<(?:{_COMMENT}|(?P<script>{_SCRIPT})?(?P<kept>{_TAG_NAME}{_FEW})"
    rf"(?P<beyond>{_ATTRIBUTE}*+){_END}(?(script){_SOURCE}))",
    re.IGNORECASE | re.DOTALL,
)
_NAMES = re.compile(rf"[\t\n\f\r /]*+({_NAME}){_ASSIGNED}")


def cap_names(text: str) -> str:
    """Return the text without the attributes and tags that are beyond the limits."""
    if len(text) < _LONG_TAGS_FROM:
        return text
    ordinary = _ORDINARY.match(text)
    if ordinary is None or ordinary.end() < len(text):
        text = _PIECE.sub(_cut_attributes, text)
    if len(text) < _MANY_NAMES_FROM and len(_MERGED.findall(text)) <= _MANY_MERGED:
        return text
    return text if len(_names(text)) <= MAX_NAMES else _without_new_names(text)


def _cut_attributes(piece: re.Match[str]) -> str:
    if not piece["beyond"]:
        return piece[0]
    begin, end = piece.span("beyond")
    return piece[0][: begin - piece.start()] + piece[0][end - piece.start() :]


def _names(text: str) -> set[str]:
    tags = {piece["kept"] for piece in _PIECE.finditer(text)}
    return {name for tag in tags if tag for name in _NAMES.findall(tag)}


def _without_new_names(text: str) -> str:
    known: set[str] = set()

    def keep(piece: re.Match[str]) -> str:
        new = set(_NAMES.findall(piece["kept"] or "")) - known
        if len(known) + len(new) > MAX_NAMES:
            return ""
        known.update(new)
        return piece[0]

    return _PIECE.sub(keep, text)
