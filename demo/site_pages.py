"""The demo's web: three small hosts, made from the texts in `site/`.

Guarantee: a pure function of those files and the port: the same pages each time. There is a
redirect, a page that is not there, a page that robots.txt keeps for itself, and a page that is a
copy of another.
"""

from __future__ import annotations

import html
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ADDRESSES", "Reply", "Site", "load_sites"]

ADDRESSES = {"hedge": "127.0.0.1", "squirrels": "127.0.0.2", "kitchen": "127.0.0.3"}
_LINK = re.compile(r"\[([^\]]+)\]\((\w+)/([^)]*)\)")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a host answers to one path."""

    status: int
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    location: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """One host: where it is, and its pages by path."""

    address: str
    replies: Mapping[str, Reply]

    @property
    def pages(self) -> int:
        """How many pages it has that can be read."""
        return sum(reply.status == 200 for path, reply in self.replies.items() if path != _ROBOTS)


_ROBOTS = "/robots.txt"


def load_sites(port: int) -> list[Site]:
    """Make the three hosts, for a port."""
    folder = Path(__file__).resolve().parent / "site"
    return [
        _site(tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8")), name, port)
        for name in ADDRESSES
    ]


def _site(content: Mapping[str, object], name: str, port: int) -> Site:
    pages = content["page"]
    assert isinstance(pages, list)
    by_path = {page["path"]: page for page in pages}
    replies = {}
    for page in pages:
        shown = by_path[page["copy_of"]] if "copy_of" in page else page
        replies[f"/{page['path']}"] = _reply(shown, content, port)
    closed = _texts(content.get("disallow")) or [""]
    robots = "\n".join(["User-agent: *", *(f"Disallow: {path}" for path in closed), ""])
    replies[_ROBOTS] = Reply(200, robots.encode(), "text/plain; charset=utf-8")
    return Site(ADDRESSES[name], replies)


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _reply(page: Mapping[str, object], content: Mapping[str, object], port: int) -> Reply:
    if "redirect" in page:
        host, _, path = str(page["redirect"]).partition("/")
        return Reply(301, b"", location=_url(host, path, port))
    if "status" in page:
        return Reply(int(str(page["status"])), b"<!doctype html><title>Not here</title>Not here.")
    return Reply(200, _document(page, content, port).encode())


def _document(page: Mapping[str, object], content: Mapping[str, object], port: int) -> str:
    title, name = html.escape(str(page["title"])), html.escape(str(content["name"]))
    language = page.get("lang", content["lang"])
    direction = ' dir="rtl"' if language == "ar" else ""
    paragraphs = "\n".join(
        f"<p>{_linked(paragraph, port)}</p>"
        for paragraph in str(page["text"]).strip().split("\n\n")
    )
    return (
        f'<!doctype html>\n<html lang="{language}"{direction}>\n<head><meta charset="utf-8">'
        f"<title>{title}</title></head>\n<body>\n"
        f'<nav><a href="/">{name}</a></nav>\n<h1>{title}</h1>\n{paragraphs}\n'
        f"{_contents(page, content)}</body>\n</html>\n"
    )


def _linked(paragraph: str, port: int) -> str:
    return _LINK.sub(
        lambda match: f'<a href="{_url(match[2], match[3], port)}">{match[1]}</a>',
        html.escape(paragraph, quote=False),
    )


def _contents(page: Mapping[str, object], content: Mapping[str, object]) -> str:
    """Return the list of all pages that a host's first page ends with."""
    pages = content["page"]
    assert isinstance(pages, list)
    if page is not pages[0]:
        return ""
    items = "".join(
        f'<li><a href="/{one["path"]}">{html.escape(str(one["title"]))}</a></li>'
        for one in pages[1:]
        if "text" in one and _is_open(one, content)
    )
    return f"<h2>All pages</h2>\n<ul>{items}</ul>\n"


def _is_open(page: Mapping[str, object], content: Mapping[str, object]) -> bool:
    return not any(f"/{page['path']}".startswith(p) for p in _texts(content.get("disallow")))


def _url(host: str, path: str, port: int) -> str:
    return f"http://{ADDRESSES[host]}:{port}/{path}"
