"""Walks over a page's tree: its text, its title, its links.

Guarantee: text, anchors and the order of links are what Nutch's `DOMContentUtils` makes of the
same tree; the tree itself is a browser's (HTML5, by lexbor), where Nutch has NekoHTML's.
Cost: each node is visited once for the text, once for links, and once more per link around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

__all__ = ["RawLink", "links_of", "text_of", "title_of"]

# Nutch: parser.html.line.separators.
_BLOCKS = frozenset({
    "article", "aside", "blockquote", "canvas", "dd", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main",
    "nav", "noscript", "ol", "output", "p", "pre", "section", "table", "tfoot", "ul", "video",
})  # fmt: skip
_SILENT = frozenset({"script", "style", "-comment", "template", "iframe", "noembed", "noframes"})
_ODD_BLANKS = re.compile(r"[\t\n\x0b\f\r]|  ")
_BLANKS = re.compile(r"[ \t\n\x0b\f\r]+")
_JAVA_TRIM = "".join(map(chr, range(0x21)))

# Element to (attribute with the address, whether it has content that is the link's text).
_LINKS = {
    "a": ("href", True),
    "area": ("href", False),
    "form": ("action", True),
    "frame": ("src", False),
    "iframe": ("src", False),
    "script": ("src", False),
    "link": ("href", False),
    "img": ("src", False),
    "source": ("src", False),
}
_LINK_SELECTOR = ",".join(f"{tag}[{attribute}]" for tag, (attribute, _) in _LINKS.items())
_NO_WORDS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RawLink:
    """A link as the page has it: element, address as written, text, words of `rel`."""

    tag: str
    href: str
    anchor: str
    rel: frozenset[str]


def text_of(root: LexborNode, *, stop_at_nested_anchor: bool = False) -> str:
    """Return the text below a node: runs of text joined by a blank, blocks on their own lines.

    A text node of blanks only ends the line, as in Nutch.
    """
    pieces: list[str] = []
    anchors = 0
    for node, tag, previous in _walk(root, _SILENT):
        text = _squeezed(node.text_content or "") if tag == "-text" else ""
        if (not text and tag == "-text") or previous in _BLOCKS or tag in _BLOCKS:
            if pieces and pieces[-1] != "\n":
                pieces.append("\n")
        elif tag == "a" and stop_at_nested_anchor:
            anchors += 1
            if anchors > 1:
                break
        if text:
            if pieces and pieces[-1] != "\n":
                pieces.append(" ")
            pieces.append(text)
    return "".join(pieces)


def _squeezed(raw: str) -> str:
    """Return a text with its runs of blanks as one, and none at the ends."""
    if _ODD_BLANKS.search(raw):
        raw = _BLANKS.sub(" ", raw)
    return raw.strip(_JAVA_TRIM)


def title_of(root: LexborNode) -> str:
    """Return the text of the first `title` before the body."""
    for node, tag, _ in _walk(root, frozenset({"svg"})):
        if tag == "body":
            break
        if tag == "title":
            return text_of(node).strip(_JAVA_TRIM)
    return ""


def links_of(root: LexborNode, ignored: frozenset[str], *, forms: bool) -> Iterator[RawLink]:
    """Yield every link that a robot may take, in document order.

    Args:
        root: Where to begin.
        ignored: Names of elements whose links are not taken.
        forms: Take the action of forms that are not POST.
    """
    for node in root.css(_LINK_SELECTOR):
        tag = node.tag or ""
        if tag not in _LINKS or tag in ignored or (tag == "form" and not forms):
            continue
        attribute, has_content = _LINKS[tag]
        attributes = node.attributes
        href = attributes.get(attribute)
        if href is None or (has_content and _is_hollow(node, tag)):
            continue
        if tag == "form" and (attributes.get("method") or "").strip().lower() == "post":
            continue
        rel = attributes.get("rel")
        words = frozenset(rel.lower().split()) if rel else _NO_WORDS
        yield RawLink(tag, href, "" if tag in _SILENT else _anchor(node), words)


def _anchor(node: LexborNode) -> str:
    child = node.child
    if child is not None and child.next is None and child.tag == "-text":
        return _squeezed(child.text_content or "")
    text = text_of(node, stop_at_nested_anchor=True).strip(_JAVA_TRIM)
    if text:
        return text
    alternatives = [
        alt
        for inner, tag, _ in _walk(node, frozenset())
        if tag == "img" and (alt := (inner.attributes.get("alt") or "").strip(_JAVA_TRIM))
    ]
    return " ".join(alternatives)


def _is_hollow(node: LexborNode, tag: str) -> bool:
    """Say whether a link has nothing in it, or only one link of its own kind and blanks."""
    child = node.child
    if child is None:
        return True
    nested = 0
    while child is not None:
        if child.tag == "-text":
            if (child.text_content or "").strip(_JAVA_TRIM):
                return False
        elif child.tag == tag:
            nested += 1
        else:
            return False
        child = child.next
    return nested == 1


def _walk(
    root: LexborNode, skipped: frozenset[str]
) -> Iterator[tuple[LexborNode, str, str | None]]:
    """Yield nodes in document order, each with its tag and its previous sibling's tag.

    The insides of `skipped` elements are left out. No recursion: nesting costs no stack.
    """
    node: LexborNode | None = root
    previous: str | None = None
    parents: list[tuple[LexborNode, str]] = []
    while node is not None:
        tag = node.tag or ""
        yield node, tag, previous
        child = None if tag in skipped else node.child
        if child is not None:
            parents.append((node, tag))
            node, previous = child, None
            continue
        while node is not None:
            if not parents:
                return
            following = node.next
            if following is not None:
                node, previous = following, tag
                break
            node, tag = parents.pop()
