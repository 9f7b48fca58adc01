"""What the head of a page says about it: base, meta elements, canonical address, language.

Guarantee: meta elements count in the head alone, as in Nutch, but what they say to robots counts
wherever it stands: to obey too much is never rude.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from filbert.rules.refresh import parse_refresh
from filbert.rules.robots_tags import NOTHING_SAID, RobotsTags, from_meta
from filbert.rules.urls import resolve

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["HtmlHead", "read_head"]


@dataclass(slots=True)
class HtmlHead:
    """What was found; addresses are absolute."""

    base_url: str
    robots: RobotsTags = NOTHING_SAID
    refresh: tuple[str, int] | None = None
    canonical_url: str | None = None
    language: str | None = None
    metadata: dict[str, list[str]] = field(default_factory=dict)


def read_head(tree: LexborHTMLParser, page_url: str, agents: tuple[str, ...]) -> HtmlHead:
    """Read the head of a page.

    Args:
        tree: The parsed page.
        page_url: What relative addresses are resolved against when the page names no base.
        agents: Names under which robots directives are for us.
    """
    head = HtmlHead(base_url=page_url)
    for node in tree.css("base[href]"):
        base = resolve(page_url, node.attributes.get("href") or "")
        if base is not None:
            head.base_url = base
            break
    top = tree.head
    within = {node.mem_id for node in top.css("meta")} if top is not None else set()
    for node in tree.css("meta[content]"):
        _read_meta(head, node, page_url, agents, in_head=node.mem_id in within)
    _read_links(head, top)
    root = tree.root
    if root is not None and (language := (root.attributes.get("lang") or "").strip()):
        head.language = language
    return head


def _read_meta(
    head: HtmlHead, node: LexborNode, page_url: str, agents: tuple[str, ...], *, in_head: bool
) -> None:
    attributes = node.attributes
    content = attributes.get("content") or ""
    if name := attributes.get("name"):
        head.robots |= from_meta(name, content, agents)
        if in_head:
            head.metadata.setdefault(name.lower(), []).append(content)
    if in_head and (equivalent := attributes.get("http-equiv")):
        _read_equivalent(head, equivalent.strip().lower(), content, page_url)


def _read_equivalent(head: HtmlHead, name: str, content: str, page_url: str) -> None:
    if name == "pragma" and "no-cache" in content.lower():
        head.robots |= RobotsTags(noarchive=True)
    elif name == "content-language" and head.language is None:
        head.language = content.strip() or None
    elif name == "refresh" and head.refresh is None and (found := parse_refresh(content)):
        seconds, address = found
        target = resolve(page_url, address) if address else page_url
        head.refresh = (target, seconds) if target else None


def _read_links(head: HtmlHead, top: LexborNode | None) -> None:
    for node in top.css("link[rel][href]") if top is not None else ():
        words = (node.attributes.get("rel") or "").lower().split()
        if "canonical" in words:
            head.canonical_url = resolve(head.base_url, node.attributes.get("href") or "")
            return
