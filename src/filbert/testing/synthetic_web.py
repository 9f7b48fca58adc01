"""A web that is a pure function of (spec, URL): hosts, pages, links, errors, robots.txt, traps.

Guarantee: the same spec gives the same reply to the same request, in every process and on every
machine; nothing is stored, so a web of ten million pages costs nothing. Page 0 of a host is its
home page and always there; page n is linked from page (n - 1) // `fan_out`, so that what lies
behind no broken page is reachable. Every kind of page has a share that is a setting.
Source of the idea: BUbiNG's random test web.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, fields
from email.utils import formatdate, parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from filbert.testing.synthetic_pages import calendar_html, page_html, page_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SyntheticReply", "SyntheticWeb", "WebSpec", "draw"]

_PAGE = re.compile(r"/[pt]/(\d+)\.(?:html|txt)")
_HOP = re.compile(r"/hop/(\d+)/(\d+)")
_LOOP = re.compile(r"/loop/(\d+)")
_DAY = re.compile(r"/calendar/(\d+)/(\d+)")
_EPOCH_S = 1_700_000_000  # Last-Modified dates lie in the two years before this second


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSpec:
    """What the web is like. Fields called `share_…` are shares of all pages, from 0 to 1.

    Attributes:
        names: Hosts are `h0.test`, `h1.test` …; with `addresses`, 127.0.1.1, 127.0.1.2 …
        port: Port in every URL; 80 is left out.
        fan_out: Links from a page to its children in the tree of its host.
        links: Further links, each to a random page; `abroad` of them to another host.
        robots_…: Shares of hosts whose robots.txt is of that kind; the rest allow all.
    """

    seed: int = 7
    hosts: int = 50
    pages: int = 40
    addresses: bool = False
    port: int = 80
    fan_out: int = 6
    links: int = 6
    abroad: float = 0.3
    words: int = 200
    slow_ms: int = 2_000
    retry_after_s: int = 3
    crawl_delay_s: float = 2.0
    chain_length: int = 3

    share_redirect_temporary: float = 0.03
    share_redirect_permanent: float = 0.03
    share_redirect_chain: float = 0.01
    share_redirect_loop: float = 0.005
    share_redirect_abroad: float = 0.01
    share_not_found: float = 0.03
    share_gone: float = 0.01
    share_forbidden: float = 0.01
    share_server_error: float = 0.01
    share_overloaded: float = 0.005
    share_slow: float = 0.01
    share_duplicate: float = 0.05
    share_calendar: float = 0.01
    share_text: float = 0.03
    share_refresh: float = 0.01
    share_noindex: float = 0.02
    share_nofollow: float = 0.02
    share_canonical: float = 0.02

    robots_missing: float = 0.3
    robots_deny_part: float = 0.2
    robots_deny_all: float = 0.02
    robots_crawl_delay: float = 0.05
    robots_error: float = 0.02

    @classmethod
    def plain(cls, **changes: object) -> WebSpec:
        """Return a web of ordinary pages only; `changes` set further fields."""
        zero = {one.name: 0.0 for one in fields(cls) if one.name.startswith(("share_", "robots_"))}
        return cls(**{**zero, "robots_missing": 1.0, **changes})  # type: ignore[arg-type]


class SyntheticReply(NamedTuple):
    """What the web answers: status, headers in order, body, and how long it takes."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    delay_ms: int = 0


class SyntheticWeb:
    """The web of a spec.

    Args:
        spec: What it is like.
    """

    def __init__(self, spec: WebSpec) -> None:
        self.spec = spec
        self._page_kinds = _shares(spec, "share_")
        self._robots_kinds = _shares(spec, "robots_")

    def host(self, number: int) -> str:
        """Return the name (or address) of a host."""
        if self.spec.addresses:
            return f"127.0.{1 + number // 250}.{1 + number % 250}"
        return f"h{number}.test"

    def origin(self, number: int) -> str:
        """Return scheme, host and port of a host, as its URLs begin."""
        port = "" if self.spec.port == 80 else f":{self.spec.port}"
        return f"http://{self.host(number)}{port}"

    def url(self, host: int, page: int) -> str:
        """Return the URL of a page."""
        return self.origin(host) + self.path(host, page)

    def path(self, host: int, page: int) -> str:
        """Return the path of a page."""
        if page == 0:
            return "/"
        return f"/t/{page}.txt" if self.kind(host, page) == "text" else f"/p/{page}.html"

    def seeds(self, count: int | None = None) -> list[str]:
        """Return the home pages of the first `count` hosts; None: of all."""
        return [self.url(host, 0) for host in range(self.spec.hosts if count is None else count)]

    def urls(self) -> list[str]:
        """Return the URL of every page of every host."""
        spec = self.spec
        return [self.url(host, page) for host in range(spec.hosts) for page in range(spec.pages)]

    def kind(self, host: int, page: int) -> str:
        """Return what kind a page is: a share's name without `share_`, or `ordinary`."""
        if page == 0:
            return "ordinary"
        return _pick(self._page_kinds, draw(self.spec.seed, "kind", host, page))

    def robots_kind(self, host: int) -> str:
        """Return what kind its robots.txt is: a share's name without `robots_`, or `ordinary`."""
        return _pick(self._robots_kinds, draw(self.spec.seed, "robots", host))

    def host_number(self, name: str) -> int | None:
        """Return the number of the host called `name`; None: no such host."""
        if self.spec.addresses:
            numbers = [int(part) for part in name.split(".") if part.isdigit()]
            number = (numbers[2] - 1) * 250 + numbers[3] - 1 if len(numbers) == 4 else -1
        else:
            found = re.fullmatch(r"h(\d+)\.test", name)
            number = int(found[1]) if found else -1
        return number if 0 <= number < self.spec.hosts else None

    def reply(self, url: str, request: Mapping[str, str] | None = None) -> SyntheticReply | None:
        """Return what the web answers to a GET of `url`; None: there is no such host.

        Args:
            url: The absolute URL.
            request: Request headers, names in lower case.
        """
        parts = urlsplit(url)
        host = self.host_number((parts.hostname or "").lower())
        if host is None:
            return None
        path = parts.path or "/"
        if path == "/robots.txt":
            return self._robots(host)
        if path == "/":
            return self._page(host, 0, request or {})
        if found := _PAGE.fullmatch(path):
            return self._page(host, int(found[1]), request or {})
        return self._crossing(host, path) or _error(404)

    def _crossing(self, host: int, path: str) -> SyntheticReply | None:
        """Answer the paths between pages: hops of a chain, loops, calendar days."""
        if found := _HOP.fullmatch(path):
            page, step = int(found[1]), int(found[2])
            last = step >= self.spec.chain_length
            return _redirect(302, self._home_of(page) if last else f"/hop/{page}/{step + 1}")
        if found := _LOOP.fullmatch(path):
            return _redirect(302, self.path(host, int(found[1])))
        if found := _DAY.fullmatch(path):
            return _html(calendar_html(int(found[1]), int(found[2])))
        return None

    def _home_of(self, page: int) -> str:
        return "/" if page % 2 else "/?from=chain"

    def _page(self, host: int, page: int, request: Mapping[str, str]) -> SyntheticReply:
        if page >= self.spec.pages:
            return _error(404)
        kind = self.kind(host, page)
        odd = self._odd_page(host, page, kind)
        if odd is not None:
            return odd
        return self._document(host, page, kind, request)

    def _odd_page(self, host: int, page: int, kind: str) -> SyntheticReply | None:
        """Answer for the kinds of page that are no document."""
        errors = {"not_found": 404, "gone": 410, "forbidden": 403, "server_error": 500}
        if kind in errors:
            return _error(errors[kind])
        if kind == "overloaded":
            return _error(503, ("Retry-After", str(self.spec.retry_after_s)))
        targets = {
            "redirect_temporary": (302, self.path(host, self._other(host, page))),
            "redirect_permanent": (301, self.url(host, self._other(host, page))),
            "redirect_chain": (302, f"/hop/{page}/1"),
            "redirect_loop": (302, f"/loop/{page}"),
            "redirect_abroad": (301, self.url(self._abroad(host, page), 0)),
        }
        return _redirect(*targets[kind]) if kind in targets else None

    def _document(
        self, host: int, page: int, kind: str, request: Mapping[str, str]
    ) -> SyntheticReply:
        tag, modified = self._validators(host, page)
        validators = (("ETag", tag), ("Last-Modified", formatdate(modified, usegmt=True)))
        if _unchanged(request, tag, modified):
            return SyntheticReply(304, validators, b"")
        if kind == "text":
            text = page_text(self._words(host, page), page)
            headers = (("Content-Type", "text/plain; charset=utf-8"), *validators)
            return SyntheticReply(200, headers, text.encode())
        text_of = 0 if kind == "duplicate" else page  # a duplicate has its home page's words
        html, charset = page_html(
            page=text_of,
            kind=kind,
            words=self._words(host, text_of),
            links=() if kind == "duplicate" else self.links(host, page),
            refresh=self.path(host, self._other(host, page)),
            canonical=self.url(host, self._other(host, page)),
        )
        delay = self.spec.slow_ms if kind == "slow" else 0
        headers = (("Content-Type", f"text/html; charset={charset}"), *validators)
        return SyntheticReply(200, headers, html.encode(charset, "xmlcharrefreplace"), delay)

    def links(self, host: int, page: int) -> tuple[str, ...]:
        """Return the links of a page, in order, as they stand in its HTML."""
        spec = self.spec
        first = page * spec.fan_out + 1
        found = [self.path(host, n) for n in range(first, first + spec.fan_out) if n < spec.pages]
        for number in range(spec.links):
            target = int(draw(spec.seed, "link", host, page, number) * spec.pages)
            if draw(spec.seed, "abroad", host, page, number) < spec.abroad:
                other = self._abroad(host, page, number)
                found.append(self.url(other, target))
            else:
                found.append(self.path(host, target))
        if self.kind(host, page) == "calendar":
            found.append("/calendar/2026/1")
        return tuple(found)

    def _robots(self, host: int) -> SyntheticReply:
        kind = self.robots_kind(host)
        if kind == "missing":
            return _error(404)
        if kind == "error":
            return _error(503)
        rules = {
            "deny_part": "User-agent: *\nDisallow: /p/1\nAllow: /p/10\nDisallow: /calendar/\n",
            "deny_all": "User-agent: *\nDisallow: /\n",
            "crawl_delay": f"User-agent: *\nCrawl-delay: {self.spec.crawl_delay_s:g}\n",
        }
        text = rules.get(kind, "User-agent: *\nDisallow:\n")
        return SyntheticReply(200, (("Content-Type", "text/plain"),), text.encode())

    def _other(self, host: int, page: int) -> int:
        """Return the number of another page of the same host; the home page has none."""
        step = 1 + int(draw(self.spec.seed, "other", host, page) * (self.spec.pages - 1))
        return (page + step) % self.spec.pages

    def _abroad(self, host: int, page: int, number: int = 0) -> int:
        if self.spec.hosts == 1:
            return host
        step = 1 + int(draw(self.spec.seed, "host", host, page, number) * (self.spec.hosts - 1))
        return (host + step) % self.spec.hosts

    def _words(self, host: int, page: int) -> tuple[float, ...]:
        seed = self.spec.seed
        count = 1 + int(self.spec.words * (0.5 + draw(seed, "words", host, page)))
        digest = hashlib.shake_128(f"{seed} text {host} {page}".encode()).digest(2 * count)
        return tuple((digest[i] * 256 + digest[i + 1]) / 65536 for i in range(0, len(digest), 2))

    def _validators(self, host: int, page: int) -> tuple[str, int]:
        moment = draw(self.spec.seed, "modified", host, page)
        return f'"{int(moment * 2**40):x}"', _EPOCH_S - int(moment * 2 * 365 * 86_400)


def draw(seed: int, *parts: object) -> float:
    """Return a number from 0 to 1 (1 excluded) that depends on nothing but the arguments."""
    text = f"{seed} {' '.join(map(str, parts))}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big") / 2**48


def _shares(spec: WebSpec, prefix: str) -> tuple[tuple[str, float], ...]:
    return tuple(
        (one.name.removeprefix(prefix), getattr(spec, one.name))
        for one in fields(spec)
        if one.name.startswith(prefix)
    )


def _pick(shares: tuple[tuple[str, float], ...], value: float) -> str:
    for name, share in shares:
        if value < share:
            return name
        value -= share
    return "ordinary"


def _unchanged(request: Mapping[str, str], tag: str, modified: int) -> bool:
    """Judge a conditional request by RFC 9110 section 13.2.2: If-None-Match goes first."""
    if (known := request.get("if-none-match")) is not None:
        return tag in known
    if (since := request.get("if-modified-since")) is None:
        return False
    try:
        return modified <= parsedate_to_datetime(since).timestamp()
    except ValueError:
        return False


def _html(text: str) -> SyntheticReply:
    return SyntheticReply(200, (("Content-Type", "text/html; charset=utf-8"),), text.encode())


def _redirect(status: int, target: str) -> SyntheticReply:
    return SyntheticReply(status, (("Location", target), ("Content-Type", "text/html")), b"moved")


def _error(status: int, *headers: tuple[str, str]) -> SyntheticReply:
    return SyntheticReply(status, (("Content-Type", "text/html"), *headers), b"<h1>error</h1>")
